/** The order in which turns write open proposals: one that had its turn longest ago comes first. A process that forgets it loses the order only. */
import { LRUCache } from 'lru-cache'
import type { PlannedUpdate } from '../../plan/observation/action.ts'
import type { TurnAction } from '../../plan/turn/turn-action.ts'

const MOST_PROPOSALS = 5_000

export class ProposalTurns {
  /** By full ref name of the branch. */
  private readonly turns = new LRUCache<string, number>({
    maxSize: MOST_PROPOSALS,
    sizeCalculation: () => 1,
  })
  private clock = 0

  /**
   * The same actions: those that open a proposal come before those that change one, as they were planned.
   * @param mayWait whether some are left to a next turn; where none is, the order is as it was planned
   */
  inTurn(actions: readonly TurnAction[], mayWait: boolean): readonly TurnAction[] {
    if (!mayWait) return actions
    const sorted = actions
      .filter((action) => action.kind === 'propose')
      .toSorted((left, right) => this.turnOf(left) - this.turnOf(right))
      .values()
    return actions.map((action) =>
      action.kind === 'propose' ? (sorted.next().value ?? action) : action,
    )
  }

  /** Groups that move refs, in the same order. */
  sorted<Group extends { readonly moves: readonly PlannedUpdate[] }>(
    groups: readonly Group[],
  ): readonly Group[] {
    const turnOf = ({ moves }: Group): number =>
      Math.min(...moves.map(({ ref, from }) => this.of(ref, from === null)))
    return groups.toSorted((left, right) => turnOf(left) - turnOf(right))
  }

  done(ref: string): void {
    this.clock += 1
    this.turns.set(ref, this.clock)
  }

  private turnOf({ action: { wanted, known } }: TurnAction & { readonly kind: 'propose' }): number {
    return this.of(wanted.ref, known?.state !== 'open')
  }

  private of(ref: string, isNew: boolean): number {
    return isNew ? -1 : (this.turns.get(ref) ?? 0)
  }
}
