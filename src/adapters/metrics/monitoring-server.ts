/**
 * A separate listener, so that a forge never reaches it. The network in front provides TLS and
 * authentication.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Listening, listen } from '@backporch/system/listen'
import { PlainExchange } from '@backporch/system/plain-exchange'
import type { Readiness } from '../../ports/readiness.ts'

interface MonitoringServerOptions {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly metrics: { readonly contentType: string; renderExposition(): Promise<string> }
  readonly readiness: () => Readiness
  readonly onRefused: (why: string) => void
  readonly limits?: Partial<MonitoringLimits>
}

/** Milliseconds, except for `connections`. */
export interface MonitoringLimits {
  readonly headers: number
  readonly answer: number
  /** Further bytes of a rejected sender are discarded, so that it reads the answer. */
  readonly linger: number
  readonly connections: number
}

const LIMITS: MonitoringLimits = { headers: 5_000, answer: 30_000, linger: 2_000, connections: 64 }
const PATHS = ['/metrics', '/healthz', '/readyz']
const compress = promisify(gzip)

/** @throws Failure BP1001 */
export async function startMonitoringServer(options: MonitoringServerOptions): Promise<Listening> {
  const limits = { ...LIMITS, ...options.limits }
  const server = createServer({
    headersTimeout: limits.headers,
    requestTimeout: limits.headers,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: Math.min(1_000, limits.headers),
    maxHeaderSize: 16_384,
  })
  server.maxConnections = limits.connections
  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    void exchange(options, limits, request, response)
  server.on('request', handle)
  // Before the body is sent.
  server.on('checkContinue', handle)
  const what = 'cannot listen for requests for metrics'
  const remedy =
    'give another address with --http-address HOST:PORT, or leave it out: then there are no metrics'
  return listen(server, { ...options, path: '/metrics', what, remedy })
}

async function exchange(
  { metrics, readiness }: MonitoringServerOptions,
  limits: MonitoringLimits,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchanged = new PlainExchange(request, response, limits.linger)
  const { method, path } = exchanged
  // A client that does not read would hold its connection.
  const late = setTimeout(() => request.socket.destroy(), limits.answer)
  response.once('close', () => clearTimeout(late))
  if (!PATHS.includes(path)) exchanged.turnAway(404, `known paths: ${PATHS.join(', ')}`)
  else if (method !== 'GET' && method !== 'HEAD')
    exchanged.turnAway(405, 'use GET', { allow: 'GET, HEAD' })
  else if (hasBody(request)) exchanged.turnAway(413, 'a request body is not accepted')
  else if (path === '/healthz') exchanged.answer(200, 'ok')
  else if (path === '/readyz') {
    const { ready, checks } = readiness()
    const lines = checks.map(({ ok, text }) => `[${ok ? '+' : '-'}]${text}`)
    exchanged.answer(
      ready ? 200 : 503,
      [...lines, `readyz check ${ready ? 'passed' : 'failed'}`].join('\n'),
    )
  } else {
    try {
      await writeMetrics(metrics, request, response)
    } catch {
      // Must not end the daemon; the scrape fails visibly in Prometheus.
      if (response.headersSent) request.socket.destroy()
      else exchanged.answer(500, 'the metrics could not be written')
    }
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

async function writeMetrics(
  metrics: MonitoringServerOptions['metrics'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = await metrics.renderExposition()
  const compressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  const body = compressed ? await compress(text, { level: 1 }) : Buffer.from(text)
  response.writeHead(200, {
    'content-type': metrics.contentType,
    'content-length': body.length,
    ...(compressed ? { 'content-encoding': 'gzip' } : {}),
    vary: 'accept-encoding',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
