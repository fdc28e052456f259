import { createServer } from 'node:http'
import { waitUntil } from '../waiting/wait-until.ts'

/** One call of a webhook, as it came. */
export interface Delivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bytes that the signatures are of. */
  readonly body: Buffer
}

/** A server on 127.0.0.1 that answers 202 to every webhook and keeps what came. */
export interface WebhookReceiver {
  readonly url: string
  /** All so far, oldest first. */
  readonly deliveries: readonly Delivery[]
  /** The first delivery, of those so far or to come, that `wanted` accepts. Waits for it. */
  first(wanted: (delivery: Delivery) => boolean): Promise<Delivery>
  stop(): Promise<void>
}

/** It does not keep this process alive. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const delivery = { headers: request.headers, body: Buffer.concat(chunks) }
      deliveries.push(delivery)
      response.writeHead(202).end()
    })
  })
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(0, '127.0.0.1', resolve),
  )
  server.unref()
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('a TCP server has no port')

  return {
    url: `http://127.0.0.1:${address.port}/webhook`,
    deliveries,
    first: (wanted) => {
      return waitUntil('the delivery of a webhook', () => deliveries.find(wanted), {
        describe: () => `${deliveries.length} others came`,
      })
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
