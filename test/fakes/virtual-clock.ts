/** Time that passes when a test says so, and as it passes everything happens in order. */
import { setImmediate as settle } from 'node:timers/promises'
import type { Clock } from '@backporch/system/clock'

interface Timer {
  readonly at: number
  readonly ring: () => void
}

export class VirtualClock implements Clock {
  /** Milliseconds since the test began. */
  elapsed = 0
  /** Milliseconds by which somebody set the clock back. */
  setBack = 0
  private timers: Timer[] = []
  private readonly start = Date.parse('2026-11-21T10:00:00Z')

  now(): Date {
    return new Date(this.start + this.elapsed - this.setBack)
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const timer = { at: this.elapsed + milliseconds, ring: resolve }
      this.timers.push(timer)
      signal.addEventListener('abort', () => {
        this.timers = this.timers.filter((other) => other !== timer)
        reject(signal.reason)
      })
    })
  }

  /** Does something in a while, as something outside would. */
  at(milliseconds: number, work: () => void): void {
    this.timers.push({ at: milliseconds, ring: work })
  }

  /** Lets time pass; what rings at one moment rings in the order in which it was set. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.elapsed + milliseconds
    for (;;) {
      await settle()
      const next = this.timers.reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
        undefined,
      )
      if (next === undefined || next.at > end) break
      this.elapsed = Math.max(this.elapsed, next.at)
      this.timers = this.timers.filter((timer) => timer !== next)
      next.ring()
    }
    this.elapsed = end
  }
}
