/**
 * How often is pushed to one repository on GitHub: six times in a minute, which is what GitHub recommends at most (docs.github.com,
 * "Repository limits", Git operations). One for everything that this process pushes there, whatever address it uses.
 */
import type { Clock } from '../../../ports/clock.ts'
import { isGitHubHost } from '../forge-token.ts'
import { parseGitHubAddress } from './github-address.ts'

/** Waits for a place. @returns what to call when the push has ended, however it ended */
export type AdmitPush = (signal: AbortSignal) => Promise<() => void>

export const PUSHES_PER_MINUTE = 6
/** Milliseconds. */
const MINUTE = 60_000
/** Milliseconds between looks while pushes that have not ended take all places. */
const LOOK = 1_000

export class PushPaces {
  readonly #clock: Clock
  readonly #paces = new Map<string, AdmitPush>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is waited for before each push to the repository; undefined where it is not on GitHub. */
  of(remote: string, environment: Readonly<Record<string, string | undefined>>): AdmitPush | undefined {
    const address = parseGitHubAddress(remote)
    if (address === undefined || !isGitHubHost(address.host, environment)) return undefined
    const key = `${address.host}/${address.owner}/${address.repository}`.toLowerCase()
    const known = this.#paces.get(key) ?? paceBy(this.#clock)
    this.#paces.set(key, known)
    return known
  }
}

/** A push counts from its end: nobody here knows when it reached GitHub, only that it was before. */
function paceBy(clock: Clock): AdmitPush {
  let running = 0
  let ended: number[] = []
  return async (signal) => {
    for (;;) {
      signal.throwIfAborted()
      const now = clock.now().getTime()
      ended = ended.filter((at) => at > now - MINUTE)
      if (running + ended.length < PUSHES_PER_MINUTE) break
      const [oldest] = ended
      await clock.sleep(oldest === undefined ? LOOK : oldest + MINUTE - now, signal)
    }
    running += 1
    return () => {
      running -= 1
      ended.push(clock.now().getTime())
    }
  }
}
