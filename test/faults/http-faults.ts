import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2ServerRequest,
  type ServerHttp2Stream,
} from 'node:http2'
import { Agent, createServer, request, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { kubeconfig } from '../controlplane/kubeconfig.ts'
import {
  ADMIN,
  createTestAuthority,
  type Identity,
  servingCredential,
} from '../controlplane/test-authority.ts'

export interface ForwardedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly isWatch: boolean
  /** Of all requests with this path, without the query, and of its kind (watch or not), from 1. */
  readonly nth: number
}

/** Breaks the stream after what was written before it. */
export const CUT = Symbol('cut')

/** What happens to a request; undefined for nothing. */
export type HttpFault =
  | {
      readonly status: number
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Lines of the answer, each with its newline, as they are to be sent instead. */
  | { readonly lines: (line: string) => readonly (string | typeof CUT)[] }
  /** The whole answer, as it is to be sent instead. */
  | { readonly body: (text: string) => string }
  /** One byte of the answer in so many milliseconds. */
  | { readonly drip: number }
  /** The answer is never begun. */
  | { readonly silent: true }

/** A proxy that ends TLS in front of a real API server and asks it under an identity of its own. */
export interface HttpFaults {
  /** Path of a kubeconfig for it. */
  readonly kubeconfig: string
  readonly requests: readonly ForwardedRequest[]
  plan: (request: ForwardedRequest) => HttpFault | undefined
  /** From now on another API server answers. */
  retarget(plane: ControlPlane): void
  /** Breaks every connection. */
  disconnect(): void
  close(): Promise<void>
}

interface HttpFaultsOptions {
  readonly protocol?: 'h2' | 'http/1.1'
  readonly as?: Identity
}

type Incoming = IncomingMessage | Http2ServerRequest
/** Over HTTP/2 the same methods, and the stream. */
type Outgoing = ServerResponse & { readonly stream?: ServerHttp2Stream }

export async function httpFaults(
  plane: ControlPlane,
  { protocol = 'h2', as = ADMIN }: HttpFaultsOptions = {},
): Promise<HttpFaults> {
  const directory = await mkdtemp(join(tmpdir(), 'http-faults-'))
  const authority = await createTestAuthority(directory)
  const { certificate: cert, key } = servingCredential(authority)
  // Both have the events that are used here.
  const server = (
    protocol === 'h2' ? createSecureServer({ cert, key }) : createServer({ cert, key })
  ) as Server
  const sockets = new Set<Socket>()
  const requests: ForwardedRequest[] = []
  const counts = new Map<string, number>()
  let upstream = upstreamOf(plane, as)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.on('request', async (incoming: Incoming, outgoing: Outgoing) => {
    const { method = '', url: path = '' } = incoming
    const isWatch = /[?&]watch=true/.test(path)
    const counted = `${isWatch} ${path.replace(/\?.*/, '')}`
    const nth = (counts.get(counted) ?? 0) + 1
    counts.set(counted, nth)
    const forwarded = { method, path, isWatch, nth }
    requests.push(forwarded)
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    outgoing.on('error', () => {})
    const fault = faults.plan(forwarded)
    if (fault !== undefined && 'silent' in fault) return
    if (fault !== undefined && 'status' in fault) {
      outgoing.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      outgoing.end(fault.body ?? JSON.stringify(statusBody(fault.status)))
      return
    }
    const headers = {
      accept: incoming.headers.accept ?? '*/*',
      'content-type': incoming.headers['content-type'] ?? 'application/json',
    }
    const asked = request(
      new URL(path, upstream.url),
      { method, headers, agent: upstream.agent },
      (answer) => forward(answer, outgoing, fault),
    )
    asked.on('error', () => cut(outgoing))
    outgoing.on('close', () => asked.destroy())
    asked.end(Buffer.concat(chunks))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = join(directory, 'kubeconfig')
  await writeFile(
    file,
    kubeconfig(url, authority.certificate, as.user, plane.credentialFor(as.user, as.groups)),
    { mode: 0o600 },
  )
  const faults: HttpFaults = {
    kubeconfig: file,
    requests,
    plan: () => undefined,
    retarget(other) {
      upstream = upstreamOf(other, as)
    },
    disconnect() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      faults.disconnect()
      await closed
      await rm(directory, { recursive: true })
    },
  }
  return faults
}

function upstreamOf(plane: ControlPlane, { user, groups }: Identity) {
  const { certificate, key } = plane.credentialFor(user, groups)
  return {
    url: plane.url,
    agent: new Agent({ ca: Buffer.from(plane.caData, 'base64'), cert: certificate, key }),
  }
}

function statusBody(code: number) {
  const reason =
    {
      401: 'Unauthorized',
      410: 'Expired',
      429: 'TooManyRequests',
      503: 'ServiceUnavailable',
      504: 'Timeout',
    }[code] ?? 'InternalError'
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `made by the test: ${reason}`,
  }
}

function forward(answer: IncomingMessage, outgoing: Outgoing, fault: HttpFault | undefined): void {
  answer.on('error', () => cut(outgoing))
  const type = answer.headers['content-type'] ?? 'text/plain'
  outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': type })
  outgoing.flushHeaders()
  const write = (text: string | Buffer): void => void outgoing.write(text)
  if (fault !== undefined && 'lines' in fault) {
    let rest = ''
    answer.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        for (const part of fault.lines(`${line}\n`)) part === CUT ? cut(outgoing) : write(part)
    })
    answer.on('end', () => outgoing.end(rest))
    return
  }
  if (fault !== undefined && 'body' in fault && typeof fault.body === 'function') {
    const change = fault.body
    let text = ''
    answer.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    answer.on('end', () => outgoing.end(change(text)))
    return
  }
  if (fault !== undefined && 'drip' in fault) {
    const bytes: number[] = []
    const timer = setInterval(
      () => bytes.length > 0 && write(Buffer.from([bytes.shift() ?? 0])),
      fault.drip,
    )
    outgoing.on('close', () => clearInterval(timer))
    answer.on('data', (chunk: Buffer) => bytes.push(...chunk))
    return
  }
  answer.on('data', write)
  answer.on('end', () => outgoing.end())
}

/** After the next turn of the loop, so that what was written goes before. */
function cut(outgoing: Outgoing): void {
  setTimeout(() => {
    if (outgoing.stream !== undefined) outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else outgoing.socket?.destroy()
  }, 5)
}
