/** Writing many proposals takes longer than the next observation may wait. */
import type { Meanwhile } from '../reconcile/observe/turn-request.ts'
import type { UnitQueue } from './unit-queue.ts'

/** Milliseconds before changes take precedence. */
const LEAST_PROPOSING = 1_500

export class ChangesMeanwhile implements Meanwhile {
  private readonly queue: Pick<UnitQueue, 'hasChanged'>
  /** Monotonic milliseconds. */
  private readonly now: () => number
  private began = 0
  private proposing: { readonly since: number; readonly most: number } | undefined

  constructor(queue: Pick<UnitQueue, 'hasChanged'>, now: () => number) {
    this.queue = queue
    this.now = now
  }

  begin(): void {
    this.began = this.now()
    this.proposing = undefined
  }

  hasChanged(): boolean {
    return this.queue.hasChanged()
  }

  /** As long as the turn took until the first proposal. */
  shouldGiveWay(): boolean {
    const now = this.now()
    this.proposing ??= { since: now, most: Math.max(LEAST_PROPOSING, now - this.began) }
    return now - this.proposing.since >= this.proposing.most && this.queue.hasChanged()
  }
}
