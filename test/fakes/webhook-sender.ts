/** A server for webhooks, and what a forge or a stranger sends to it. */
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { DeliveryWindow, startWebhookServer, WebhookIntake } from '@backporch/forge/webhook'
import { systemClock } from '../../src/adapters/system/system-clock.ts'

type Limits = NonNullable<Parameters<typeof startWebhookServer>[0]['limits']>

export const SECRET = 'a secret that is in no answer'
export const PUSH = JSON.stringify({
  ref: 'refs/heads/main',
  repository: { full_name: 'acme/deploy' },
})

interface OpenedWebhook {
  readonly url: string
  readonly port: number
  readonly intake: WebhookIntake
  /** How many turns were wanted. */
  readonly updates: () => number
  readonly refused: string[]
}

export async function openWebhook(t: TestContext, limits: Limits = {}): Promise<OpenedWebhook> {
  const intake = new WebhookIntake({
    secrets: [SECRET],
    repository: 'acme/deploy',
    window: new DeliveryWindow(),
  })
  let updates = 0
  const refused: string[] = []
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    intake,
    clock: systemClock,
    onUpdate: () => {
      updates += 1
    },
    onRefused: (why) => refused.push(why),
    limits,
  })
  t.after(() => server.close())
  return {
    url: server.url,
    port: Number(new URL(server.url).port),
    intake,
    updates: () => updates,
    refused,
  }
}

let deliveries = 0

export function headersFor(body: string | Buffer, secret = SECRET): Record<string, string> {
  deliveries += 1
  return {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': `delivery-${deliveries}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
}

export async function post(
  url: string,
  body: string | Buffer,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { method: 'POST', body: Buffer.from(body), headers })
  return { status: answer.status, text: await answer.text() }
}

/** A connection by hand: everything that comes back until it is closed. */
export function dial(port: number): { readonly socket: Socket; readonly closed: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // Closed or reset by the other side: what came before is the answer.
  socket.on('error', () => undefined)
  return {
    socket,
    closed: new Promise((resolve) =>
      socket.on('close', () => resolve(Buffer.concat(chunks).toString())),
    ),
  }
}

export function rawHead(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /webhook HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`
}
