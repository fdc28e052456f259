import type { Failure } from '@backporch/kyaml/failure'
import type { Drift } from '../../drift/compare/drift.ts'
import { Refusal } from './resolution-edits.ts'

export const MOST_ATTEMPTS = 40

interface PossibleChanges<Change> {
  readonly possible: readonly Change[]
  readonly refused: ReadonlyMap<Change, Failure>
  readonly untried: readonly Change[]
}

/**
 * Removes the change that a failure names; if it names none, halves the refused set: k impossible
 * changes of n cost about 2k log2 n attempts. Some changes are possible only together, such as one
 * value in two objects: finally all refused changes are tried without one of them.
 * @param why reason for all together; undefined if they are possible
 * @param attempt returns why the changes are impossible together
 */
export function findPossible<Change extends { readonly drift: Drift }>(
  changes: readonly Change[],
  why: Failure | undefined,
  attempt: (changes: readonly Change[]) => Failure | undefined,
): PossibleChanges<Change> {
  const possible = new Set<Change>()
  const refused = new Map<Change, Failure>()
  const untried: Change[] = []
  let left = MOST_ATTEMPTS
  const tryWith = (group: readonly Change[]): Failure | undefined => {
    left -= 1
    return attempt(changes.filter((change) => possible.has(change) || group.includes(change)))
  }
  const take = (group: readonly Change[], failure: Failure | undefined): void => {
    const named =
      failure instanceof Refusal ? group.find(({ drift }) => drift === failure.drift) : undefined
    const [only, second] = group
    const alone = named ?? (second === undefined ? only : undefined)
    if (failure === undefined) for (const change of group) possible.add(change)
    else if (alone === undefined) {
      const middle = Math.ceil(group.length / 2)
      for (const half of [group.slice(0, middle), group.slice(middle)]) takeNext(half)
    } else {
      refused.set(alone, failure)
      takeNext(group.filter((change) => change !== alone))
    }
  }
  const takeNext = (group: readonly Change[]): void => {
    if (left === 0) untried.push(...group)
    else if (group.length > 0) take(group, tryWith(group))
  }
  take(changes, why)
  for (const change of refused.size > 1 ? refused.keys() : []) {
    const others = [...refused.keys()].filter((each) => each !== change)
    if (left === 0 || tryWith(others) !== undefined) continue
    for (const other of others) {
      possible.add(other)
      refused.delete(other)
    }
    break
  }
  const inOrder = [...refused].sort(
    ([one], [other]) => changes.indexOf(one) - changes.indexOf(other),
  )
  return {
    possible: changes.filter((change) => possible.has(change)),
    refused: new Map(inOrder),
    untried,
  }
}
