import type { Failure } from '@backporch/kyaml/failure'
import type { FieldSchema } from '@backporch/kyaml/field'
import type { Note } from '@backporch/kyaml/note'
import { getResourceKey, type LiveView } from '@backporch/kyaml/resource'
import type { ObjectVerdict, SyncerManager } from '../../drift/compare/drift.ts'
import { type Boundary, createOutsideFailure, explainOutside } from '../../policy/boundary.ts'
import { Coverage } from '../../policy/coverage.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { KnownInventory } from './read-claimed-inventories.ts'
import { createListedOutside, type UnexpectedObjects } from './read-unexpected.ts'
import type { CachedUnit } from './unit-cache.ts'

interface CoveredQuestion {
  readonly detected: readonly ObjectVerdict[]
  readonly decided: readonly ObjectVerdict[]
  readonly live: LiveView
  readonly schemas: ReadonlyMap<string, FieldSchema>
  readonly syncer: SyncerManager | undefined
  readonly unexpected: UnexpectedObjects
}

interface Covered {
  readonly verdicts: readonly ObjectVerdict[]
  readonly live: LiveView
  readonly incomplete: readonly Incomplete[]
  readonly notes: readonly Note[]
}

/**
 * @param boundary nothing that placements refuse was read: the rest is covered
 * @param known of the previous turn. What an inventory lists beyond git is judged in every turn.
 */
export function keepCovered(
  question: CoveredQuestion,
  boundary: Boundary | undefined,
  known: Pick<CachedUnit, 'coverage' | 'covered'>,
): Covered {
  const { detected, decided, live, syncer, unexpected } = question
  if (boundary !== undefined) {
    const verdicts = known.covered.getAnswer(decided, [boundary], () =>
      decided.map((verdict) => {
        const why = explainOutside(boundary, verdict.id)
        return why === undefined ? verdict : createNotReportedVerdict(verdict, why)
      }),
    )
    return { verdicts, live, incomplete: unexpected.incomplete, notes: unexpected.notes }
  }
  const coverage = known.coverage.getAnswer(
    decided,
    [detected, syncer],
    () => new Coverage(question),
  )
  // The unread part of an inventory is reported without a name; listed objects are named only if
  // the inventory belongs to the package.
  const reported = (one: Incomplete | Note): boolean => {
    const inventory = unexpected.reportedBy.get(one)
    const ref = 'ref' in one ? one.ref : undefined
    if (inventory === undefined || ('code' in one && ref === undefined)) return true
    return (
      coverage.isOwnInventory(inventory.claimed) ||
      (ref !== undefined && coverage.hasListed(ref, inventory.claimed, false))
    )
  }
  const strangers = unexpected.verdicts.filter(
    (verdict) => !isListed(verdict, unexpected, coverage),
  )
  const verdicts = known.covered.getAnswer(decided, [coverage, ...strangers], () =>
    decided.flatMap((verdict) => judgeCoverage(verdict, strangers, coverage, live)),
  )
  const gone = new Set(
    verdicts.flatMap(({ id, state }) => (state === 'outside' ? [getResourceKey(id)] : [])),
  )
  return {
    verdicts,
    live: gone.size === 0 ? live : new Map([...live].filter(([key]) => !gone.has(key))),
    incomplete: [
      ...unexpected.incomplete.filter(reported),
      ...listIncompleteLists(strangers, unexpected),
    ],
    notes: unexpected.notes.filter(reported),
  }
}

function judgeCoverage(
  verdict: ObjectVerdict,
  strangers: readonly ObjectVerdict[],
  coverage: Coverage,
  live: LiveView,
): readonly ObjectVerdict[] {
  const { id, desired } = verdict
  // An object that another inventory lists and git does not declare is not named.
  if (desired === undefined)
    return strangers.some((other) => getResourceKey(other.id) === getResourceKey(id))
      ? []
      : [verdict]
  const state = live.get(getResourceKey(id))?.state
  if (state === 'present') {
    const why = coverage.explainOutside(id)
    if (why !== undefined) return [createNotReportedVerdict(verdict, why)]
  }
  if (coverage.isProven(id)) return [verdict]
  const notSettled = createOutsideFailure(
    id,
    'TEN-NOT-APPLIED',
    'no live object shows that the syncer of the package applied it, or anything else there',
  )
  return [{ ...verdict, notSettled }]
}

function createNotReportedVerdict(
  { id, apiVersion, desired }: ObjectVerdict,
  failure: Failure,
): ObjectVerdict {
  return {
    id,
    apiVersion,
    desired,
    state: 'outside',
    proof: 'none',
    items: [],
    setAside: [],
    failure,
    reapplyFails: undefined,
  }
}

function isListed(
  verdict: ObjectVerdict,
  { reportedBy, bearsMark }: UnexpectedObjects,
  coverage: Coverage,
): boolean {
  const inventory = reportedBy.get(verdict)
  return (
    inventory === undefined ||
    coverage.hasListed(verdict.id, inventory.claimed, bearsMark.has(verdict))
  )
}

function listIncompleteLists(
  strangers: readonly ObjectVerdict[],
  { reportedBy }: UnexpectedObjects,
): readonly Incomplete[] {
  const counts = new Map<KnownInventory, number>()
  for (const stranger of strangers) {
    const inventory = reportedBy.get(stranger)
    if (inventory !== undefined) counts.set(inventory, (counts.get(inventory) ?? 0) + 1)
  }
  return [...counts].map(([{ source }, count]) =>
    createListedOutside(source, count, 'TEN-INVENTORY'),
  )
}
