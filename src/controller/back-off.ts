import type { Failure } from '@backporch/kyaml/failure'

/**
 * `rights`: only a person can change that; retried slowly, so that no account is locked. `later`:
 * the same turn may succeed. `change`: a person must change something; a webhook may report it.
 */
type TurnTrouble = 'rights' | 'later' | 'change'

/** Milliseconds. */
const FIRST_WAIT = 5_000
const RIGHTS_WAIT = 300_000

const RIGHTS: ReadonlySet<string> = new Set(['BP3002', 'BP4005', 'BP5002'])

export function classifyTrouble(failures: readonly Failure[]): TurnTrouble {
  if (failures.some(({ code }) => RIGHTS.has(code))) return 'rights'
  // A bug may depend on the input, which is read again.
  return failures.some(({ code, retry }) => retry === 'backoff' || code === 'BP9001')
    ? 'later'
    : 'change'
}

export interface BackOff {
  /** Milliseconds. */
  readonly wait: number
  /** A request does not shorten it. */
  readonly held: boolean
}

/**
 * @param failed consecutive, from 1
 * @param interval milliseconds
 * @param random from 0 up to 1: many controllers must not return at once
 */
export function backOff(
  trouble: TurnTrouble,
  failed: number,
  interval: number,
  random: number,
): BackOff {
  if (trouble === 'change') return { wait: interval, held: false }
  // A healthy server also gets one read per interval.
  const longest = Math.max(interval, FIRST_WAIT)
  const full =
    trouble === 'rights'
      ? Math.max(interval, RIGHTS_WAIT)
      : Math.min(longest, FIRST_WAIT * 2 ** Math.min(failed - 1, 20))
  return { wait: Math.round(full * (0.5 + random / 2)), held: true }
}
