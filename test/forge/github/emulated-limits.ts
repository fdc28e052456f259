/** GitHub's limits on what is made (docs.github.com, "Rate limits for the REST API", "Repository limits"), enforced: too much is refused. */
import type { Clock } from '@backporch/system/clock'

export interface LimitNumbers {
  readonly perMinute: number
  readonly perHour: number
}

export const CONTENT_LIMITS: LimitNumbers = { perMinute: 80, perHour: 500 }
export const PUSH_LIMITS: LimitNumbers = { perMinute: 6, perHour: 360 }

export class EmulatedLimit {
  /** Milliseconds since 1970 of everything that was taken. */
  readonly taken: number[] = []
  /** How often too much was asked. */
  refused = 0
  readonly #numbers: LimitNumbers
  readonly #clock: Clock

  constructor(numbers: LimitNumbers, clock: Clock) {
    this.#numbers = numbers
    this.#clock = clock
  }

  /** Counts one. @returns seconds until there is a place, undefined where there is one now */
  take(): number | undefined {
    const now = this.#clock.now().getTime()
    const waits = [
      this.#until(this.#numbers.perMinute, 60_000),
      this.#until(this.#numbers.perHour, 3_600_000),
    ]
    const until = Math.max(...waits)
    if (until <= now) {
      this.taken.push(now)
      return undefined
    }
    this.refused += 1
    return Math.ceil((until - now) / 1000)
  }

  /** Most that were taken in any minute. */
  get busiestMinute(): number {
    return Math.max(
      0,
      ...this.taken.map(
        (from) => this.taken.filter((at) => at >= from && at < from + 60_000).length,
      ),
    )
  }

  #until(most: number, window: number): number {
    return (this.taken.at(-most) ?? Number.NEGATIVE_INFINITY) + window
  }
}
