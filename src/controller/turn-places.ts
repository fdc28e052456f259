/**
 * The places of turns that run at the same time. A turn that takes long gives its place back and goes on in one of as many for slow turns, and
 * the next turn of its repository begins there: servers that hang or drip hold up each other, and nobody else.
 */
import { setTimeout } from 'node:timers/promises'
import { Gate } from '@backporch/system/gate'

/** Milliseconds after which a turn is a slow one. */
export const SLICE = 30_000

/** Resolves after real milliseconds; rejects when the signal is aborted. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<unknown>

const sleepHere: Sleep = (milliseconds, signal) =>
  setTimeout(milliseconds, undefined, { signal, ref: false })

export class TurnPlaces {
  /** Turns that are due and have no place. */
  waiting = 0
  private readonly sleep: Sleep
  private readonly quick: Gate
  private readonly slow: Gate

  /** @param width of the places, and of those for slow turns */
  constructor(width: number, sleep: Sleep = sleepHere) {
    this.sleep = sleep
    this.quick = new Gate(width)
    this.slow = new Gate(width)
  }

  /**
   * Resolves when the turn may begin, in the order of the calls. Rejects with the reason of the signal when that is aborted before.
   * @param isSlow the turn before was slow @param onSlow called once this one is
   * @returns to be called when the turn has ended
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
        // The turn may have ended since the place was given.
        for (const leaveIt of ended.aborted ? places : [first]) leaveIt?.()
      },
      () => undefined,
    )
  }
}
