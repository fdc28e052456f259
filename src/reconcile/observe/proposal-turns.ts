import { LRUCache } from 'lru-cache'
import type { PlannedUpdate } from '../../plan/observation/action.ts'
import type { TurnAction } from '../../plan/turn/turn-action.ts'

const MOST_PROPOSALS = 5_000

export class ProposalTurns {
  /** By full ref name. */
  private readonly turns = new LRUCache<string, number>({
    maxSize: MOST_PROPOSALS,
    sizeCalculation: () => 1,
  })
  private clock = 0

  /**
   * Openings precede changes, as planned.
   * @param mayWait some may be left to a next turn; otherwise the planned order is kept
   */
  orderInTurn(actions: readonly TurnAction[], mayWait: boolean): readonly TurnAction[] {
    if (!mayWait) return actions
    const sorted = actions
      .filter((action) => action.kind === 'propose')
      .toSorted((left, right) => this.chooseTurn(left) - this.chooseTurn(right))
      .values()
    return actions.map((action) =>
      action.kind === 'propose' ? (sorted.next().value ?? action) : action,
    )
  }

  sortGroups<Group extends { readonly moves: readonly PlannedUpdate[] }>(
    groups: readonly Group[],
  ): readonly Group[] {
    const turnOf = ({ moves }: Group): number =>
      Math.min(...moves.map(({ ref, from }) => this.getTurn(ref, from === null)))
    return groups.toSorted((left, right) => turnOf(left) - turnOf(right))
  }

  markDone(ref: string): void {
    this.clock += 1
    this.turns.set(ref, this.clock)
  }

  private chooseTurn({
    action: { wanted, known },
  }: TurnAction & { readonly kind: 'propose' }): number {
    return this.getTurn(wanted.ref, known?.state !== 'open')
  }

  private getTurn(ref: string, isNew: boolean): number {
    return isNew ? -1 : (this.turns.get(ref) ?? 0)
  }
}
