/** What changes while a turn writes is recorded first: the writes of many proposals take longer than the next observation may wait. */
import type { Meanwhile } from '../reconcile/observe/turn-request.ts'
import type { UnitQueue } from './unit-queue.ts'

/** Milliseconds that a turn writes proposals, at least, before what changed comes first. */
const LEAST_PROPOSING = 1_500

export class ChangesMeanwhile implements Meanwhile {
  private readonly queue: Pick<UnitQueue, 'hasChanged'>
  /** Milliseconds of a clock that nobody sets. */
  private readonly now: () => number
  private began = 0
  private proposing: { readonly since: number; readonly most: number } | undefined

  constructor(queue: Pick<UnitQueue, 'hasChanged'>, now: () => number) {
    this.queue = queue
    this.now = now
  }

  /** Of the next turn. */
  begin(): void {
    this.began = this.now()
    this.proposing = undefined
  }

  hasChanged(): boolean {
    return this.queue.hasChanged()
  }

  /** Proposals are written for as long as the turn took until the first of them. */
  givesWay(): boolean {
    const now = this.now()
    this.proposing ??= { since: now, most: Math.max(LEAST_PROPOSING, now - this.began) }
    return now - this.proposing.since >= this.proposing.most && this.queue.hasChanged()
  }
}
