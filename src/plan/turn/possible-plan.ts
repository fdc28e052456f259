/** The possible part of a plan without a request, where not all of it is possible. */
import { Failure, orFailure } from '../../failure.ts'
import { shownPathOnly } from '../../krm/redaction/shown-path.ts'
import { describeResourceId } from '../../krm/resource-id.ts'
import type { Note } from '../../note.ts'
import type { PlannedChange } from '../commands/pick-changes.ts'

/** Changes that are tried one by one, each by a rendering or more. */
const MOST_TRIED = 20

export interface PossiblePlan {
  readonly changes: readonly PlannedChange[]
  readonly notes: readonly Note[]
}

/**
 * Tries each edit by itself. An impossible one becomes a Restore, which edits nothing; as few of them as will do, because some
 * edits are possible only together, as of one value that is in two objects. Where none of that helps, all become Restore.
 * @param attempt creates the files of a plan. @throws Failure where that is impossible
 * @param why of the whole plan
 */
export function possiblePlan(
  changes: readonly PlannedChange[],
  why: Failure,
  attempt: (changes: readonly PlannedChange[]) => unknown,
): PossiblePlan {
  const edited = changes.filter(({ resolution }) => resolution !== 'Restore')
  const refused = edited.length > MOST_TRIED ? new Map<PlannedChange, Failure>() : refusedAlone(edited, changes, why, attempt)
  const all = [...refused.keys()]
  for (const given of all.length > 1 ? [...all.map((change) => [change]), all] : [all]) {
    const restored = changes.map((change) => (given.includes(change) ? asRestore(change) : change))
    const isPossible = given.length === edited.length || (given.length > 0 && !(orFailure(() => attempt(restored)) instanceof Failure))
    if (isPossible) return { changes: restored, notes: given.map((change) => noteOf(change, refused.get(change) ?? why)) }
  }
  return {
    changes: changes.map(asRestore),
    notes: [{ cause: 'planned-as-restore', subject: '', text: `everything is planned as Restore (${why.what}: ${why.why})` }],
  }
}

function refusedAlone(
  edited: readonly PlannedChange[],
  changes: readonly PlannedChange[],
  why: Failure,
  attempt: (changes: readonly PlannedChange[]) => unknown,
): ReadonlyMap<PlannedChange, Failure> {
  const refused = new Map<PlannedChange, Failure>()
  for (const change of edited) {
    const alone = changes.map((each) => (each === change ? each : asRestore(each)))
    const failure = edited.length === 1 ? why : orFailure(() => attempt(alone))
    if (failure instanceof Failure) refused.set(change, failure)
  }
  return refused
}

function asRestore(change: PlannedChange): PlannedChange {
  const { via: _, ...rest } = change
  return { ...rest, resolution: 'Restore' }
}

function noteOf({ drift, resolution }: PlannedChange, { why }: Failure): Note {
  const field = shownPathOnly(drift.path)
  const name = describeResourceId(drift.id)
  const what = field === '' ? name : `${field} of ${name}`
  return { cause: 'planned-as-restore', subject: '', text: `${what} is planned as Restore and not as ${resolution}: ${why}` }
}
