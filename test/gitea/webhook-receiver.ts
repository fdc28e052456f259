import { createServer } from 'node:http'

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
  /** The first delivery, of those so far or to come, that `wanted` accepts. Rejects after 10 seconds without one. */
  first(wanted: (delivery: Delivery) => boolean): Promise<Delivery>
  stop(): Promise<void>
}

const PATIENCE_MS = 10_000

/** It does not keep this process alive. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = []
  const waiting = new Set<(delivery: Delivery) => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const delivery = { headers: request.headers, body: Buffer.concat(chunks) }
      deliveries.push(delivery)
      for (const one of waiting) one(delivery)
      response.writeHead(202).end()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  server.unref()
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('a TCP server has no port')

  return {
    url: `http://127.0.0.1:${address.port}/webhook`,
    deliveries,
    first: (wanted) => {
      const there = deliveries.find(wanted)
      if (there !== undefined) return Promise.resolve(there)
      return new Promise((resolve, reject) => {
        const done = (): void => {
          clearTimeout(late)
          waiting.delete(observe)
        }
        const observe = (delivery: Delivery): void => {
          if (!wanted(delivery)) return
          done()
          resolve(delivery)
        }
        const late = setTimeout(() => {
          done()
          reject(new Error(`none of ${deliveries.length} deliveries in ${PATIENCE_MS} ms was the one that was waited for`))
        }, PATIENCE_MS)
        waiting.add(observe)
      })
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
