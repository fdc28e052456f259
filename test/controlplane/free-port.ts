import { createServer } from 'node:net'

/**
 * A TCP port that was free on 127.0.0.1 a moment ago. Another process may take it before its user does, so the user
 * must be ready to ask again.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const holder = createServer()
    holder.once('error', reject)
    holder.listen(0, '127.0.0.1', () => {
      const address = holder.address()
      const port = typeof address === 'object' && address !== null ? address.port : undefined
      holder.close(() => (port === undefined ? reject(new Error('a TCP server has no port')) : resolve(port)))
    })
  })
}
