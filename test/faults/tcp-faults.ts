import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../controlplane/free-port.ts'

/** A TCP relay in front of a server (`https://…`, or `unix:` and the path of a socket), which knows nothing of what goes through it. */
export interface TcpFaults {
  /** `https://127.0.0.1:<port>`; `http:` in front of a socket. */
  readonly url: string
  /** Connections that were accepted so far. */
  readonly connections: number
  /** Bytes that came from the server so far. */
  readonly bytes: number
  /** Breaks every connection, with a reset. */
  reset(): void
  /** Breaks every connection, and takes no further ones, until `accept`. */
  refuse(): Promise<void>
  accept(): Promise<void>
  /** From now on nothing goes through open connections, and nobody is told: half-open. Later connections work. */
  freeze(): void
  /** Later connections go to this server. */
  retarget(server: string): void
  /** Each part from the server comes so much later. */
  delay(milliseconds: number): void
  /** Breaks a connection when so many more bytes came from the server. Once. */
  cutAfter(bytes: number): void
  close(): Promise<void>
}

export async function tcpFaults(server: string): Promise<TcpFaults> {
  let target = new URL(server)
  const open = new Set<readonly [Socket, Socket]>()
  let [connections, bytes, late, cut] = [0, 0, 0, Number.POSITIVE_INFINITY]
  const listener = createServer((client) => {
    connections += 1
    const upstream =
      target.protocol === 'unix:'
        ? connect(target.pathname)
        : connect(Number(target.port), target.hostname)
    const pair = [client, upstream] as const
    open.add(pair)
    const end = (): void => {
      open.delete(pair)
      for (const socket of pair) socket.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => {
      bytes += chunk.length
      const part = chunk.subarray(0, Math.max(0, cut))
      cut -= chunk.length
      if (late > 0) setTimeout(() => client.writable && client.write(part), late)
      else client.write(part)
      if (cut > 0) return
      cut = Number.POSITIVE_INFINITY
      // Not a reset: it would overtake the bytes before it.
      client.end()
      upstream.destroy()
    })
  })
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => listener.listen(port, '127.0.0.1', resolve))
  const stop = (): Promise<void> =>
    new Promise((resolve) => (listener.listening ? listener.close(() => resolve()) : resolve()))
  const reset = (): void => {
    for (const [client, upstream] of open) {
      client.resetAndDestroy()
      upstream.destroy()
    }
  }
  // Nobody else takes it while it refuses connections.
  const port = await freePort()
  await listen(port)
  return {
    url: `${target.protocol === 'unix:' ? 'http:' : target.protocol}//127.0.0.1:${port}`,
    get connections() {
      return connections
    },
    get bytes() {
      return bytes
    },
    reset,
    async refuse() {
      const stopped = stop()
      reset()
      await stopped
    },
    accept: () => listen(port),
    freeze() {
      for (const pair of open)
        for (const socket of pair)
          socket.removeAllListeners('data').removeAllListeners('close').pause()
    },
    retarget(other) {
      target = new URL(other)
    },
    delay(milliseconds) {
      late = milliseconds
    },
    cutAfter(count) {
      cut = count
    },
    async close() {
      const stopped = stop()
      reset()
      for (const pair of open) for (const socket of pair) socket.destroy()
      await stopped
    },
  }
}
