/**
 * Turns of one repository, one at a time, again and again: each `interval`, and sooner on request. Level-triggered: a request only
 * triggers a turn, however often and by whom; what a turn does comes from what it reads.
 */
import { failuresOf } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { type BackOff, backOff, troubleOf } from './back-off.ts'

export interface TurnLoopOptions {
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /** Milliseconds from the end of a turn to the next one. */
  readonly interval: number
  /** As `interval`, after a turn that did not fail: what is due may be due sooner. */
  readonly wake?: () => number
  /** Milliseconds from the first request to its turn: requests in between share the same turn. */
  readonly coalesce: number
  /**
   * Resolves when a due turn may begin; at once unless given. Rejects when the loop is stopped while it waits.
   * @returns to be called when the turn has ended
   */
  readonly admit?: (signal: AbortSignal) => Promise<() => void>
  /** Milliseconds that a running turn has when the loop is stopped, before it is aborted. */
  readonly grace: number
  /**
   * Rejects with the failure that stopped the whole turn, which the loop waits out. Safe to abort at any step.
   * @param signal of this turn: aborted when the grace is over
   */
  readonly turn: (signal: AbortSignal) => Promise<void>
}

/** `idle`: no turn was running when the loop was stopped; `finished`: it was, and came to its end; `aborted`: it had to be stopped. */
type LoopEnd = 'idle' | 'finished' | 'aborted'

/** Milliseconds that an aborted turn has to return. */
const LAST_MOMENT = 5_000

export class TurnLoop {
  private readonly options: TurnLoopOptions
  /** When the first request came that no turn has begun after; milliseconds. */
  private requestedAt: number | undefined
  private wake = new AbortController()
  private nextPoll: number
  /** Milliseconds from the end of the last turn to `nextPoll`. */
  private pause = 0
  /** A request does not make the next turn come sooner. */
  private held = false
  /** Turns that failed one after another. */
  private failed = 0

  constructor(options: TurnLoopOptions) {
    this.options = options
    this.nextPoll = this.now()
  }

  /** Requests a turn that begins after this call; a running turn may have read before. */
  request(): void {
    if (this.requestedAt !== undefined) return
    this.requestedAt = this.now()
    this.wake.abort()
  }

  /** As a request, and no wait after a failure puts it off: a person asks, who may have removed its cause. */
  demand(): void {
    this.held = false
    this.requestedAt ??= this.now()
    this.wake.abort()
  }

  /** The first turn is at once. Never rejects. */
  async run(signal: AbortSignal): Promise<LoopEnd> {
    while (await this.due(signal)) {
      const leave = await this.admitted(signal)
      if (leave === undefined) break
      try {
        // What was requested while it waited is in this turn.
        this.requestedAt = undefined
        const end = await this.oneTurn(signal)
        if (signal.aborted) return end
      } finally {
        leave()
      }
    }
    return 'idle'
  }

  /** @returns undefined when the loop is stopped meanwhile */
  private async admitted(stop: AbortSignal): Promise<(() => void) | undefined> {
    const { admit } = this.options
    if (admit === undefined) return () => undefined
    try {
      const leave = await admit(stop)
      if (!stop.aborted) return leave
      leave()
      return undefined
    } catch (thrown) {
      if (stop.aborted) return undefined
      throw thrown
    }
  }

  /** @returns false when the loop is stopped meanwhile */
  private async due(stop: AbortSignal): Promise<boolean> {
    for (;;) {
      if (stop.aborted) return false
      const wait = this.wait()
      if (wait <= 0) return true
      this.wake = new AbortController()
      // The sleep ended: the turn is due, even if the clock was set back meanwhile.
      if (await this.sleep(wait, AbortSignal.any([stop, this.wake.signal]))) return true
    }
  }

  /** Milliseconds until the next turn. A clock that was set back makes no wait longer than it was meant to be. */
  private wait(): number {
    const { coalesce } = this.options
    const now = this.now()
    const polled = Math.min(this.nextPoll - now, this.pause)
    const requested =
      this.requestedAt === undefined
        ? polled
        : Math.min(this.requestedAt + coalesce - now, coalesce)
    return this.held ? polled : Math.min(requested, polled)
  }

  private async oneTurn(stop: AbortSignal): Promise<LoopEnd> {
    const { interval, wake = () => interval, random, turn } = this.options
    const aborting = new AbortController()
    const ended = new AbortController()
    const overdue = this.overdue(stop, aborting, ended.signal)
    let next: BackOff
    try {
      await Promise.race([turn(aborting.signal), overdue])
      this.failed = 0
      next = { wait: wake(), held: false }
    } catch (thrown) {
      this.failed += 1
      const failures = stop.aborted ? [] : failuresOf(thrown)
      next = backOff(troubleOf(failures), this.failed, interval, random())
    } finally {
      ended.abort()
    }
    this.pause = next.wait
    this.held = next.held
    this.nextPoll = this.now() + next.wait
    return aborting.signal.aborted ? 'aborted' : 'finished'
  }

  /** Once the loop is stopped, aborts the turn after the grace. @returns when an aborted turn has not returned either; else never */
  private async overdue(
    stop: AbortSignal,
    aborting: AbortController,
    ended: AbortSignal,
  ): Promise<void> {
    if (!stop.aborted)
      await new Promise((resolve) =>
        stop.addEventListener('abort', resolve, { once: true, signal: ended }),
      )
    if (await this.sleep(this.options.grace, ended)) {
      aborting.abort(stop.reason)
      if (await this.sleep(LAST_MOMENT, ended)) return
    }
    await new Promise(() => undefined)
  }

  /** @returns whether it slept to the end */
  private async sleep(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    try {
      await this.options.clock.sleep(milliseconds, signal)
      return true
    } catch (thrown) {
      if (signal.aborted) return false
      throw thrown
    }
  }

  private now(): number {
    return this.options.clock.now().getTime()
  }
}
