/** How long the controller waits after a turn that failed. */
import type { Failure } from '@backporch/kyaml/failure'

/**
 * `rights`: credentials are wrong, and only a person can change that; retried slowly, so that no account is locked. `later`: the same
 * turn may succeed by itself. `change`: a person has to change something, and a webhook may report that it is done.
 */
type TurnTrouble = 'rights' | 'later' | 'change'

/** Milliseconds. */
const FIRST_WAIT = 5_000
const RIGHTS_WAIT = 300_000

const RIGHTS: ReadonlySet<string> = new Set(['BP3002', 'BP4005', 'BP5002'])

/** The kind of trouble of a whole turn: what needs the most patience wins. */
export function troubleOf(failures: readonly Failure[]): TurnTrouble {
  if (failures.some(({ code }) => RIGHTS.has(code))) return 'rights'
  // A bug may depend on the input: the next turn reads again.
  return failures.some(({ code, retry }) => retry === 'backoff' || code === 'BP9001')
    ? 'later'
    : 'change'
}

export interface BackOff {
  /** Milliseconds to the next turn. */
  readonly wait: number
  /** A request does not shorten it. */
  readonly held: boolean
}

/**
 * @param failed turns that failed one after another, from 1
 * @param interval milliseconds between two turns when all is well
 * @param random from 0 up to 1: many controllers that lost one server do not come back at once
 */
export function backOff(
  trouble: TurnTrouble,
  failed: number,
  interval: number,
  random: number,
): BackOff {
  if (trouble === 'change') return { wait: interval, held: false }
  // A look in each interval is what a server that is well gets too, and what happened meanwhile is proposed in the first one that succeeds.
  const longest = Math.max(interval, FIRST_WAIT)
  const full =
    trouble === 'rights'
      ? Math.max(interval, RIGHTS_WAIT)
      : Math.min(longest, FIRST_WAIT * 2 ** Math.min(failed - 1, 20))
  return { wait: Math.round(full * (0.5 + random / 2)), held: true }
}
