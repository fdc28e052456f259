import { getResourceKey } from '@backporch/kyaml/resource'
import type { StatusWord } from './kstatus-fields.ts'
import type { GroupMember } from './resource-group.ts'

/**
 * cli-utils' aggregator ranks Failed before Unknown before everything in progress
 * (docs/facts/kstatus-aggregate.md); of these, an absent object is the worst.
 */
const WORST_FIRST: readonly StatusWord[] = [
  'Failed',
  'Unknown',
  'NotFound',
  'Terminating',
  'InProgress',
  'Current',
]

interface HealthOfUnit {
  /** Current without any object. */
  readonly status: StatusWord
  /** Not Current, worst first, then by id. */
  readonly others: readonly GroupMember[]
}

export function computeUnitHealth(members: readonly GroupMember[]): HealthOfUnit {
  const rank = ({ status }: GroupMember): number => WORST_FIRST.indexOf(status)
  const others = members
    .filter(({ status }) => status !== 'Current')
    .sort(
      (left, right) =>
        rank(left) - rank(right) || (getResourceKey(left.id) < getResourceKey(right.id) ? -1 : 1),
    )
  return { status: others[0]?.status ?? 'Current', others }
}

export function findWorstHealth(words: readonly StatusWord[]): StatusWord | undefined {
  return WORST_FIRST.find((word) => words.includes(word))
}
