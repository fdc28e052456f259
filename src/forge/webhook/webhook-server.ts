/**
 * Middlewares read a body before they know its sender (reliability.md M10). A proxy in front
 * provides TLS.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Clock } from '@backporch/system/clock'
import { type Listening, listen } from '@backporch/system/listen'
import { PlainExchange } from '@backporch/system/plain-exchange'
import type { RequestedAction } from '../ports/check-run.ts'
import { type WebhookAnswer, type WebhookIntake, WebhookReading } from './webhook-intake.ts'

interface WebhookServerOptions {
  readonly host: string
  readonly port: number
  readonly intake: WebhookIntake
  readonly clock: Clock
  readonly onUpdate: (
    requestedAction: RequestedAction | undefined,
    repository: string | undefined,
  ) => void
  readonly onRefused: (why: string) => void
  readonly limits?: Partial<WebhookLimits>
}

/** Milliseconds, except `connections`. */
interface WebhookLimits {
  readonly headers: number
  readonly request: number
  /** Further bytes of a rejected sender are dropped, so that it reads the answer. */
  readonly linger: number
  readonly connections: number
}

const LIMITS: WebhookLimits = { headers: 5_000, request: 15_000, linger: 2_000, connections: 256 }
const WEBHOOK = '/webhook'
const HEALTH = '/healthz'

/** @throws Failure BP1001 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<Listening> {
  const limits = { ...LIMITS, ...options.limits }
  const server = createServer({
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: Math.min(1_000, limits.headers),
    maxHeaderSize: 16_384,
  })
  server.maxConnections = limits.connections
  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    exchange(options, limits, request, response)
  server.on('request', handle)
  // Rejected before any byte of the body.
  server.on('checkContinue', handle)
  const what = 'cannot listen for webhooks'
  const remedy =
    'give another address with --webhook-address HOST:PORT, or leave it out: then the repository is polled'
  return listen(server, { ...options, path: WEBHOOK, what, remedy })
}

function exchange(
  options: WebhookServerOptions,
  limits: WebhookLimits,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const exchanged = new PlainExchange(request, response, limits.linger)
  const { method, path } = exchanged
  if (path === WEBHOOK && method === 'POST') receive()
  else if (path === WEBHOOK)
    exchanged.turnAway(405, 'webhooks are sent with POST', { allow: 'POST' })
  else if (path !== HEALTH) exchanged.turnAway(404, `webhooks are sent to ${WEBHOOK}`)
  else if (method === 'GET' || method === 'HEAD') exchanged.answer(200, 'ok')
  else exchanged.turnAway(405, 'use GET', { allow: 'GET, HEAD' })

  function receive(): void {
    const reading = options.intake.begin(request.headers)
    if (!(reading instanceof WebhookReading)) {
      refuse(reading)
      return
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    read(reading)
  }

  function read(reading: WebhookReading): void {
    request.on('close', () => reading.close())
    const take = (chunk: Buffer): void => {
      const refusal = reading.add(chunk)
      if (refusal === undefined) return
      request.off('data', take).off('end', end)
      refuse(refusal)
    }
    const end = (): void => {
      const result = reading.end(options.clock.now().getTime())
      if (result.updates === 'look') options.onUpdate(result.requestedAction, result.repository)
      if (result.updates === 'refused') refuse(result)
      else exchanged.answer(result.status, result.why)
    }
    request.on('data', take).on('end', end)
  }

  function refuse({ status, why }: WebhookAnswer): void {
    options.onRefused(why)
    exchanged.turnAway(status, why)
  }
}
