import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
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
 * `work`'s result, unless one of `servers` ends or `deadline` (of `performance.now`) passes before. Then it rejects with
 * the end of the servers' logs: a `PortTaken` when they say so.
 *
 * @param what of which the error says that it did not start, for people
 */
export async function whileRunning<T>(
  what: string,
  servers: readonly GuardedProcess[],
  deadline: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const late = sleep(Math.max(0, deadline - performance.now()), 'no readiness in time', { signal: stop.signal })
  const ends = servers.map((server) => server.exit.then((how) => `${server.name} ended with ${how}`))
  const failure = Promise.race([late, ...ends]).then(async (why) => {
    const logs = await Promise.all(servers.map(endOfLog))
    const message = `${what} did not start: ${why}\n${logs.join('\n')}`
    throw message.includes('address already in use') ? new PortTaken(message) : new Error(message)
  })
  try {
    return await Promise.race([work(stop.signal), failure])
  } finally {
    failure.catch(() => {}) // the timer is aborted below, or a server ends long after
    stop.abort()
  }
}

async function endOfLog(server: GuardedProcess): Promise<string> {
  return `--- ${server.name}\n${(await readFile(server.log, 'utf8')).slice(-LOG_CHARACTERS)}`
}
