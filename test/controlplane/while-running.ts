import { readFile } from 'node:fs/promises'
import type { GuardedProcess } from './start-guard.ts'

const LOG_CHARACTERS = 3_000
const PORT_ATTEMPTS = 3

/** A server found its port taken: by somebody who was quicker after `freePort`. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken'
}

/** `start`'s result, with up to two more attempts when it rejects with `PortTaken`. */
export async function onFreePort<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === PORT_ATTEMPTS) throw error
    }
  }
}

/**
 * `work`'s result, unless it rejects or one of `servers` ends before. Then it rejects with the reason and the end of the servers' logs:
 * a `PortTaken` when they say so.
 *
 * @param what of which the error says that it did not start, for people
 * @param work its signal is aborted when nobody waits for it any more
 */
export async function whileRunning<T>(
  what: string,
  servers: readonly GuardedProcess[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const ends = servers.map(async (server): Promise<never> => {
    const how = await server.exit
    throw new Error(`${server.name} ended with ${how}`)
  })
  // A server ends long after.
  for (const end of ends) end.catch(() => {})
  try {
    return await Promise.race([work(stop.signal), ...ends])
  } catch (cause) {
    if (cause instanceof PortTaken) throw cause
    const logs = await Promise.all(servers.map(endOfLog))
    const message = `${what} did not start: ${cause instanceof Error ? cause.message : String(cause)}\n${logs.join('\n')}`
    throw message.includes('address already in use')
      ? new PortTaken(message)
      : new Error(message, { cause })
  } finally {
    stop.abort()
  }
}

async function endOfLog(server: GuardedProcess): Promise<string> {
  return `--- ${server.name}\n${(await readFile(server.log, 'utf8')).slice(-LOG_CHARACTERS)}`
}
