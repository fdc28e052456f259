/** So that people do not choose what will be refused. */
import { Failure, orFailure } from '@backporch/kyaml/failure'
import { editFor } from '../../sources/edits/resolution-edits.ts'
import { sourceOf } from '../../sources/registry.ts'
import type { Observation } from '../observation/observation.ts'
import { allChanges, type PlannedChange } from './commands/pick-changes.ts'

/** Renders per unit, only to report refusals in advance. */
const MOST_TRIED = 20

export type NotAdoptable = ReadonlyMap<string, string>

/**
 * In a rendered package the adoption is tried for a few changes; with more, the requesting command
 * reports the refusal.
 */
export function notAdoptable(observed: Observation): NotAdoptable {
  const { possible, ...refused } = refusedByThemselves(observed)
  const reasons = new Map(refused.reasons)
  if (possible.length > MOST_TRIED) return reasons
  const problems = problemsOf(observed, possible)
  for (const [index, change] of possible.entries()) {
    const why = problems[index]
    if (why !== undefined) reasons.set(change.fingerprint, why)
  }
  return reasons
}

export function notAdoptableAtAll(observed: Observation): NotAdoptable {
  return refusedByThemselves(observed).reasons
}

export function notReleasable({ verdicts, key }: Observation): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const change of allChanges(verdicts, key)) {
    const edit = orFailure(() => editFor({ ...change, resolution: 'Release' }))
    if (edit instanceof Failure) reasons.set(change.fingerprint, edit.why)
  }
  return reasons
}

interface Refused {
  readonly reasons: NotAdoptable
  readonly possible: readonly PlannedChange[]
}

function refusedByThemselves({ built, verdicts, key }: Observation): Refused {
  const changes = allChanges(verdicts, key)
  const refused = key.derived.get(changes, 'refused', [], () => refusedOf(changes))
  const locator = built?.source.tool.locator
  if (locator === undefined || !('refusal' in locator)) return refused
  const reasons = new Map(refused.reasons)
  for (const { fingerprint } of refused.possible) reasons.set(fingerprint, locator.why)
  return { reasons, possible: [] }
}

function refusedOf(changes: ReturnType<typeof allChanges>): Refused {
  const reasons = new Map<string, string>()
  const possible: PlannedChange[] = []
  for (const each of changes) {
    const change: PlannedChange = { ...each, resolution: 'Adopt' }
    const edit = orFailure(() => editFor(change))
    if (edit instanceof Failure) reasons.set(change.fingerprint, edit.why)
    else if (edit !== undefined) possible.push(change)
  }
  return { reasons, possible }
}

function problemsOf(
  { built, pipeline, unit, git, functions, policy }: Observation,
  changes: readonly PlannedChange[],
): readonly (string | undefined)[] {
  if (changes.length === 0) return []
  const input = {
    packagePath: unit.packagePath,
    files: git.files,
    pipeline,
    functions,
    built,
    changes,
  }
  return sourceOf(policy.render).edit.problems(input)
}
