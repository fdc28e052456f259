/**
 * The one way in which tests wait for something: they look again and again until it is so. No verdict depends on how long that takes.
 * The deadline ends a wait that hangs, and nothing else: the longest wait of the suite takes 30 seconds on an idle machine, so it
 * is ten times that.
 */
import { getTestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

/** Milliseconds. */
export const HANGS_AFTER = 300_000

export interface WaitOptions {
  /** What was last seen, for the failure: the output of a process, a status. */
  readonly describe?: (() => string | Promise<string>) | undefined
  /** Ends the wait with its reason: what was waited for cannot come any more. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds; only for tests of a wait that hangs. */
  readonly hangsAfter?: number | undefined
}

type Looked<T> = T | undefined | false

const FIRST_PAUSE = 2
const LONGEST_PAUSE = 100
const DESCRIBED_CHARACTERS = 20_000

/**
 * Looks until the answer is neither undefined nor false, and returns it. What `look` throws ends the wait.
 * @param what for people, as a sentence: `the controller watches`
 */
export async function waitUntil<T>(
  what: string,
  look: () => Looked<T> | Promise<Looked<T>>,
  options: WaitOptions = {},
): Promise<T> {
  const { describe, hangsAfter = HANGS_AFTER } = options
  const ends = [options.signal, endOfTest()].filter((signal) => signal !== undefined)
  const { promise: late, resolve: end } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => end('late'), hangsAfter)
  let looks = 0
  let isLate = false
  try {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
      for (const signal of ends) signal.throwIfAborted()
      looks += 1
      const seen = await Promise.race([look(), late])
      if (seen !== 'late' && seen !== undefined && seen !== false) return seen
      // A machine that stood still for minutes had no time to look: it looks once more after the deadline.
      if (seen === 'late' || isLate) break
      isLate = (await Promise.race([sleep(pause), late])) === 'late'
    }
  } finally {
    clearTimeout(timer)
  }
  const described =
    describe === undefined ? '' : `\n${(await describe()).slice(-DESCRIBED_CHARACTERS)}`
  throw new Error(
    `this never came: ${what} (looked ${looks} times in ${hangsAfter / 1_000} s)${described}`,
  )
}

/** A test that failed somewhere else needs nothing any more: the wait that it left must not hold up the others. */
function endOfTest(): AbortSignal | undefined {
  const signal = getTestContext()?.signal
  // Hooks wait after the end.
  return signal?.aborted === true ? undefined : signal
}

const STEADY_PAUSE = 250
const STEADY_LOOKS = 3

/**
 * Looks until several looks in a row, with a pause before each, see the same; undefined is never that. Where there is a sign that something is over,
 * wait for the sign: that nothing happened for a while proves less.
 */
export async function waitSteady<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  let before: T | undefined
  let same = 0
  return waitUntil(what, async () => {
    await sleep(STEADY_PAUSE)
    const now = await look()
    same = now !== undefined && isDeepStrictEqual(now, before) ? same + 1 : 0
    before = now
    return same >= STEADY_LOOKS ? now : undefined
  })
}

/** Does something again as long as it fails in a way that passes by itself; any other error ends the wait. */
export async function retryWhile<T>(
  what: string,
  work: () => Promise<T>,
  passes: (thrown: unknown) => boolean,
): Promise<T> {
  let last: unknown
  const look = async (): Promise<{ readonly value: T } | undefined> => {
    try {
      return { value: await work() }
    } catch (thrown) {
      if (!passes(thrown)) throw thrown
      last = thrown
      return undefined
    }
  }
  return (await waitUntil(what, look, { describe: () => String(last) })).value
}

/** As somebody who never answers: rejects with the reason of the signal. A deadline of `AbortSignal` does not keep a process alive; this does. */
export async function neverAnswer(signal: AbortSignal | undefined): Promise<never> {
  await sleep(HANGS_AFTER, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
  signal?.throwIfAborted()
  throw new Error('nobody gave up')
}

/** The deadline for what has to be ended from outside, a program or a request. The reason of the signal says what did not end. */
export function hangLimit(what: string): AbortSignal {
  const limit = new AbortController()
  const hangs = (): void =>
    limit.abort(new Error(`this did not end in ${HANGS_AFTER / 1_000} s: ${what}`))
  setTimeout(hangs, HANGS_AFTER).unref()
  return limit.signal
}
