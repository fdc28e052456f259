/** Level-triggered: a turn acts on what it reads. */
import { listFailures } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { type BackOff, backOff, classifyTrouble } from './back-off.ts'

export interface TurnLoopOptions {
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /** Milliseconds. */
  readonly interval: number
  /** After a turn that did not fail, for work due sooner. */
  readonly wake?: () => number
  /** Milliseconds; requests in between share the turn. */
  readonly coalesce: number
  /**
   * Default: at once. Rejects when the loop stops meanwhile.
   * @returns a function to call when the turn has ended
   */
  readonly admit?: (signal: AbortSignal) => Promise<() => void>
  /** Milliseconds before a running turn is aborted. */
  readonly grace: number
  /** Rejects with the failure of the whole turn. Safe to abort at any step. */
  readonly turn: (signal: AbortSignal) => Promise<void>
}

/** `idle`: no turn was running; `finished`: it ended by itself. */
type LoopEnd = 'idle' | 'finished' | 'aborted'

/** Milliseconds. */
const LAST_MOMENT = 5_000

export class TurnLoop {
  private readonly options: TurnLoopOptions
  /** Milliseconds: the first request since the last turn began. */
  private requestedAt: number | undefined
  private wake = new AbortController()
  private nextPoll: number
  /** Milliseconds. */
  private pause = 0
  private held = false
  private failed = 0

  constructor(options: TurnLoopOptions) {
    this.options = options
    this.nextPoll = this.getNow()
  }

  /** The turn begins after this call, because a running one may already have read. */
  request(): void {
    if (this.requestedAt !== undefined) return
    this.requestedAt = this.getNow()
    this.wake.abort()
  }

  /** No wait after a failure delays it: the person may have removed the cause. */
  demand(): void {
    this.held = false
    this.requestedAt ??= this.getNow()
    this.wake.abort()
  }

  /** Never rejects. */
  async run(signal: AbortSignal): Promise<LoopEnd> {
    while (await this.awaitDue(signal)) {
      const leave = await this.awaitAdmission(signal)
      if (leave === undefined) break
      try {
        this.requestedAt = undefined
        const end = await this.runOneTurn(signal)
        if (signal.aborted) return end
      } finally {
        leave()
      }
    }
    return 'idle'
  }

  private async awaitAdmission(stop: AbortSignal): Promise<(() => void) | undefined> {
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

  private async awaitDue(stop: AbortSignal): Promise<boolean> {
    for (;;) {
      if (stop.aborted) return false
      const wait = this.wait()
      if (wait <= 0) return true
      this.wake = new AbortController()
      // Even if the clock was set back.
      if (await this.sleep(wait, AbortSignal.any([stop, this.wake.signal]))) return true
    }
  }

  /** Milliseconds. A clock set back makes no wait longer. */
  private wait(): number {
    const { coalesce } = this.options
    const now = this.getNow()
    const polled = Math.min(this.nextPoll - now, this.pause)
    const requested =
      this.requestedAt === undefined
        ? polled
        : Math.min(this.requestedAt + coalesce - now, coalesce)
    return this.held ? polled : Math.min(requested, polled)
  }

  private async runOneTurn(stop: AbortSignal): Promise<LoopEnd> {
    const { interval, wake = () => interval, random, turn } = this.options
    const aborting = new AbortController()
    const ended = new AbortController()
    const overdue = this.awaitOverdue(stop, aborting, ended.signal)
    let next: BackOff
    try {
      await Promise.race([turn(aborting.signal), overdue])
      this.failed = 0
      next = { wait: wake(), held: false }
    } catch (thrown) {
      this.failed += 1
      const failures = stop.aborted ? [] : listFailures(thrown)
      next = backOff(classifyTrouble(failures), this.failed, interval, random())
    } finally {
      ended.abort()
    }
    this.pause = next.wait
    this.held = next.held
    this.nextPoll = this.getNow() + next.wait
    return aborting.signal.aborted ? 'aborted' : 'finished'
  }

  /** @returns when an aborted turn does not return; else never */
  private async awaitOverdue(
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

  private async sleep(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    try {
      await this.options.clock.sleep(milliseconds, signal)
      return true
    } catch (thrown) {
      if (signal.aborted) return false
      throw thrown
    }
  }

  private getNow(): number {
    return this.options.clock.now().getTime()
  }
}
