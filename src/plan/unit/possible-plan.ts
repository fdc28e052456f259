/** The possible part of a plan that names no change, where not all of it is possible. */
import { Failure, orFailure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { shownPathOnly } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { editFor } from '../../sources/edits/resolution-edits.ts'
import type { PlannedChange } from './commands/pick-changes.ts'

/** Changes that are tried one by one, each by a rendering or more. */
const MOST_TRIED = 20

export interface PossiblePlan {
  readonly changes: readonly PlannedChange[]
  readonly notes: readonly Note[]
}

/**
 * Tries each edit by itself; of too many only what refuses it at once. An impossible one becomes a Restore, which edits nothing; as few of them
 * as will do, because some edits are possible only together, as of one value that is in two objects. Where none of that helps, all become Restore.
 * @param why of the whole plan
 * @param attempt creates the files of a plan. @throws Failure where that is impossible
 * @param instead what an impossible one becomes; the change itself where that is no choice
 */
export function possiblePlan(
  changes: readonly PlannedChange[],
  why: Failure,
  attempt: (changes: readonly PlannedChange[]) => unknown,
  instead: (change: PlannedChange) => PlannedChange = asRestore,
): PossiblePlan {
  const edited = changes.filter((change) => instead(change).resolution !== change.resolution)
  const without = (given: readonly PlannedChange[]) =>
    changes.map((change) => (given.includes(change) ? instead(change) : change))
  const alone = (change: PlannedChange) =>
    attempt(without(edited.filter((each) => each !== change)))
  const refused = refusedAlone(
    edited,
    edited.length > MOST_TRIED ? editFor : edited.length === 1 ? () => raise(why) : alone,
  )
  const all = [...refused.keys()]
  const few = all.length > 1 && all.length <= MOST_TRIED
  for (const given of few ? [...all.map((change) => [change]), all] : [all]) {
    const planned = without(given)
    const isPossible =
      given.length === edited.length ||
      (given.length > 0 && !(orFailure(() => attempt(planned)) instanceof Failure))
    if (isPossible)
      return {
        changes: planned,
        notes: given.map((change) => noteOf(change, instead(change), refused.get(change) ?? why)),
      }
  }
  return {
    changes: without(edited),
    notes: [
      {
        cause: 'planned-as-restore',
        subject: '',
        text: `everything is planned as Restore (${why.what}: ${why.why})`,
      },
    ],
  }
}

function refusedAlone(
  edited: readonly PlannedChange[],
  attempt: (change: PlannedChange) => unknown,
): ReadonlyMap<PlannedChange, Failure> {
  const refused = new Map<PlannedChange, Failure>()
  for (const change of edited) {
    const failure = orFailure(() => attempt(change))
    if (failure instanceof Failure) refused.set(change, failure)
  }
  return refused
}

function raise(why: Failure): never {
  throw why
}

export function asRestore(change: PlannedChange): PlannedChange {
  const { via: _, ...rest } = change
  return { ...rest, resolution: 'Restore' }
}

function noteOf(
  { drift, resolution }: PlannedChange,
  planned: PlannedChange,
  { why }: Failure,
): Note {
  const field = shownPathOnly(drift.path, drift.id)
  const name = describeResourceId(drift.id)
  const what = field === '' ? name : `${field} of ${name}`
  return {
    cause: 'planned-as-restore',
    subject: '',
    text: `${what} is planned as ${planned.resolution} and not as ${resolution}: ${why}`,
  }
}
