/**
 * A slow turn returns its slot and continues in one of as many slow slots, where its repository's
 * next turn starts: slow servers delay only each other.
 */
import { setTimeout } from 'node:timers/promises'
import { Gate } from '@backporch/system/gate'

/** Milliseconds. */
export const SLICE = 30_000

/** Real time. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<unknown>

const sleepHere: Sleep = (milliseconds, signal) =>
  setTimeout(milliseconds, undefined, { signal, ref: false })

export class TurnPlaces {
  /** Without a slot. */
  waiting = 0
  private readonly sleep: Sleep
  private readonly quick: Gate
  private readonly slow: Gate

  /** @param width of slots, and of slow slots */
  constructor(width: number, sleep: Sleep = sleepHere) {
    this.sleep = sleep
    this.quick = new Gate(width)
    this.slow = new Gate(width)
  }

  /**
   * Resolves in call order. Rejects with the signal's reason. @param isSlow the previous turn was
   * slow
   * @param onSlow called once this turn is slow @returns a function to call when the turn has ended
   */
  async enter(signal: AbortSignal, isSlow: boolean, onSlow: () => void): Promise<() => void> {
    this.waiting += 1
    const leave = await (isSlow ? this.slow : this.quick).enter(signal).finally(() => {
      this.waiting -= 1
    })
    const ended = new AbortController()
    const places = [leave]
    this.sleep(SLICE, ended.signal).then(
      () => {
        onSlow()
        if (!isSlow) this.giveBack(places, ended.signal)
      },
      () => undefined,
    )
    return () => {
      ended.abort()
      for (const leaveIt of places) leaveIt()
    }
  }

  private giveBack(places: (() => void)[], ended: AbortSignal): void {
    this.slow.enter(ended).then(
      (leave) => {
        places.push(leave)
        const [first] = places
        // It may have ended meanwhile.
        for (const leaveIt of ended.aborted ? places : [first]) leaveIt?.()
      },
      () => undefined,
    )
  }
}
