import type { Server } from 'node:http'
import { Failure } from '@backporch/kyaml/failure'

export interface Listening {
  readonly url: string
  /** Accepts no new requests; open ones have a second. */
  close(): Promise<void>
}

interface ListenOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly path: string
  readonly onRefused: (why: string) => void
  readonly what: string
  readonly remedy: string
}

const CLOSING = 1_000
const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen on that port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'that name has no address',
}

/** @throws Failure BP1001 when the address cannot be listened on */
export async function listen(
  server: Server,
  { host, port, path, onRefused, what, remedy }: ListenOptions,
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const why = WHY[code] ?? `the system answered ${code || 'an unknown error'}`
      reject(new Failure({ code: 'BP1001', what, where: `${host}:${port}`, why, remedy }))
    })
    server.listen(port, host, resolve)
  })
  server.removeAllListeners('error')
  server.on('error', () => onRefused('a connection could not be accepted'))
  const address = server.address()
  const taken = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}${path}`,
    close: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), CLOSING)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
