import { catchFailure, Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { findPossible, MOST_ATTEMPTS } from '../../sources/edits/possible-changes.ts'
import { createEdit } from '../../sources/edits/resolution-edits.ts'
import type { PlannedChange } from './commands/pick-changes.ts'

export interface PossiblePlan {
  readonly changes: readonly PlannedChange[]
  readonly notes: readonly Note[]
}

/**
 * An impossible edit becomes a Restore, which edits nothing.
 * @param why of the whole plan
 * @param attempt creates the files of a plan; throws a Failure if impossible
 * @param instead for an impossible change; the change itself if it has no alternative
 */
export function findPossiblePlan(
  changes: readonly PlannedChange[],
  why: Failure,
  attempt: (changes: readonly PlannedChange[]) => unknown,
  instead: (change: PlannedChange) => PlannedChange = convertToRestore,
): PossiblePlan {
  const edited = changes.filter((change) => instead(change).resolution !== change.resolution)
  const only = (given: readonly PlannedChange[]) =>
    changes.map((change) =>
      edited.includes(change) && !given.includes(change) ? instead(change) : change,
    )
  const failureOf = (work: () => unknown): Failure | undefined => {
    const result = catchFailure(work)
    return result instanceof Failure ? result : undefined
  }
  const atOnce = edited.flatMap((change): (readonly [PlannedChange, Failure])[] => {
    const failure = failureOf(() => createEdit(change))
    return failure === undefined ? [] : [[change, failure]]
  })
  const rest = edited.filter((change) => !atOnce.some(([refused]) => refused === change))
  const tryWith = (given: readonly PlannedChange[]) => failureOf(() => attempt(only(given)))
  const found = findPossible(rest, atOnce.length === 0 ? why : tryWith(rest), tryWith)
  const refused = new Map([...atOnce, ...found.refused])
  return {
    changes: only(found.possible),
    notes: [
      ...edited.flatMap((change) => {
        const failure = refused.get(change)
        return failure === undefined ? [] : [createNote(change, instead(change), failure)]
      }),
      ...(found.untried.length === 0 ? [] : [createNotTriedNote(found.untried.length)]),
    ],
  }
}

function createNotTriedNote(count: number): Note {
  return {
    cause: 'planned-as-restore',
    subject: '',
    text: `${count} more ${count === 1 ? 'change is' : 'changes are'} not planned as requested: ${MOST_ATTEMPTS} attempts did not say which of them are possible; request them by their numbers, a few at a time`,
  }
}

export function convertToRestore(change: PlannedChange): PlannedChange {
  const { via: _, ...rest } = change
  return { ...rest, resolution: 'Restore' }
}

function createNote(
  { drift, resolution }: PlannedChange,
  planned: PlannedChange,
  { why }: Failure,
): Note {
  const name = describeResourceId(drift.id)
  const what =
    drift.path.length === 0 ? name : `${formatRedactedPath(drift.path, drift.id)} of ${name}`
  return {
    cause: 'planned-as-restore',
    subject: '',
    text: `${what} is planned as ${planned.resolution} and not as ${resolution}: ${why}`,
  }
}
