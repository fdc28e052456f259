/** One pace per repository, by any address. */
import type { Clock } from '@backporch/system/clock'
import type { Environment } from '../adapter/forge-adapter.ts'
import { ALL_FORGES } from './forges.ts'

type AdmitPush = (signal: AbortSignal) => Promise<() => void>

const MINUTE = 60_000
/** Milliseconds. */
const OBSERVE = 1_000

export class PushPaces {
  readonly #clock: Clock
  readonly #paces = new Map<string, AdmitPush>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  findAdmitPush(remote: string, environment: Environment): AdmitPush | undefined {
    const forge = ALL_FORGES.find((each) =>
      each.hasHost(each.address(remote)?.host ?? '', environment),
    )
    const address = forge?.address(remote)
    if (address === undefined || forge?.pushesPerMinute === undefined) return undefined
    const key = `${address.host}/${address.owner}/${address.repository}`.toLowerCase()
    const known = this.#paces.get(key) ?? createPace(this.#clock, forge.pushesPerMinute)
    this.#paces.set(key, known)
    return known
  }
}

/** A push counts from its end: it reached the forge some time before. */
function createPace(clock: Clock, pushesPerMinute: number): AdmitPush {
  let running = 0
  let ended: number[] = []
  return async (signal) => {
    for (;;) {
      signal.throwIfAborted()
      const now = clock.now().getTime()
      // The clock may be set back.
      ended = ended.map((at) => Math.min(at, now)).filter((at) => at > now - MINUTE)
      if (running + ended.length < pushesPerMinute) break
      const [oldest] = ended
      await clock.sleep(oldest === undefined ? OBSERVE : oldest + MINUTE - now, signal)
    }
    running += 1
    return () => {
      running -= 1
      ended.push(clock.now().getTime())
    }
  }
}
