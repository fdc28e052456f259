/** `/audit`, or `/audit/<cluster>` with several clusters. A proxy in front provides TLS. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Listening, listen } from '@backporch/system/listen'
import { type AuditIntake, BODY_LIMIT, type IntakeAnswer } from './audit-intake.ts'

interface AuditServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly intake: AuditIntake
  readonly onRefused: (why: string) => void
}

const PATH = /^\/audit(?:\/([a-zA-Z0-9._@:%-]{1,253}))?$/
/** Milliseconds. */
const LINGER = 2_000

/** @throws Failure BP1001 */
export async function startAuditServer(options: AuditServerOptions): Promise<Listening> {
  const server = createServer({
    headersTimeout: 5_000,
    requestTimeout: 15_000,
    keepAliveTimeout: 60_000,
    maxHeaderSize: 16_384,
  })
  server.maxConnections = 64
  server.on('request', (request, response) => receive(options, request, response))
  const what = 'cannot listen for audit events'
  const remedy =
    'give another address with --audit-webhook-address HOST:PORT, or leave it out: then field managers alone are named'
  return listen(server, { ...options, path: '/audit', what, remedy })
}

function receive(
  { intake, onRefused }: AuditServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  const answer = ({ status, why }: { status: number; why: string }): void => {
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    }
    response
      .writeHead(status, status === 200 ? headers : { ...headers, connection: 'close' })
      .end(`${why}\n`)
    if (request.complete) return
    request.resume()
    const late = setTimeout(() => request.socket.destroy(), LINGER)
    request.once('close', () => clearTimeout(late))
  }
  const refuse = (refused: IntakeAnswer | { status: 404 | 405; why: string }): void => {
    onRefused(refused.why)
    answer(refused)
  }
  const path = request.url?.split('?', 1)[0] ?? ''
  if (path === '/healthz') {
    answer({ status: 200, why: 'ok' })
    return
  }
  const cluster = findName(path)
  if (cluster === undefined) {
    refuse({ status: 404, why: 'audit events are sent to /audit or /audit/<cluster>' })
    return
  }
  if (request.method !== 'POST') {
    refuse({ status: 405, why: 'audit events are sent with POST' })
    return
  }
  const refusal = intake.refuseRequest(request.headers)
  if (refusal !== undefined) {
    refuse(refusal)
    return
  }
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= BODY_LIMIT) chunks.push(chunk)
    else chunks.length = 0
  })
  request.on('end', () => {
    const taken = intake.take(
      cluster || undefined,
      bytes > BODY_LIMIT ? undefined : Buffer.concat(chunks),
    )
    if (taken.status === 200) answer(taken)
    else refuse(taken)
  })
}

function findName(path: string): string | undefined {
  const match = PATH.exec(path)
  if (match === null) return undefined
  try {
    return decodeURIComponent(match[1] ?? '')
  } catch {
    return undefined
  }
}
