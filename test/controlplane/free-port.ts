import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'

/** How many ports there are to choose from. */
const SPAN = 12_000

/**
 * A free TCP port of 127.0.0.1 that no other test on this machine is given before this process ends: two runs may go on at once, and
 * a server that was killed finds its port free. It is none that the kernel gives to connections and to servers without a port of their
 * own. Somebody else may still take it, so the user must be ready to ask again.
 */
export async function freePort(): Promise<number> {
  const above = lowestOfKernel()
  for (;;) {
    const port = above === undefined ? await portOf(0) : above - 1 - randomInt(SPAN)
    // A name of the kernel, not a file: whoever holds it, it is free again when that process has ended.
    const holder = port === undefined ? undefined : await listening(`\0backporch-test-port-${port}`)
    if (port === undefined || holder === 'taken') continue
    if ((await portOf(port)) !== undefined) return port
    holder?.close()
  }
}

/** Undefined where this machine does not say it. */
function lowestOfKernel(): number | undefined {
  try {
    const lowest = Number.parseInt(
      readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'),
      10,
    )
    return lowest - SPAN > 1_024 ? lowest : undefined
  } catch {
    return undefined
  }
}

/** The port of a server that was listening on it a moment ago; 0 takes any. Undefined where it is taken. */
function portOf(wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}

/** Undefined where this machine has no such names. The process ends although it listens. */
function listening(name: string): Promise<Server | 'taken' | undefined> {
  return new Promise((resolve) => {
    const server = createServer().unref()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'taken' : undefined),
    )
    server.listen(name, () => resolve(server))
  })
}
