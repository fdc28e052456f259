/**
 * Explains in advance which changes cannot be adopted or released, so that people do not choose
 * what will be refused.
 */
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { createEdit } from '../../sources/edits/resolution-edits.ts'
import { getSource } from '../../sources/registry.ts'
import type { Observation } from '../observation/observation.ts'
import { listAllChanges, type PlannedChange } from './commands/pick-changes.ts'

/** Renders per unit, only to report refusals in advance. */
const MOST_TRIED = 20

export type NotAdoptable = ReadonlyMap<string, string>

/**
 * In a rendered package the adoption is tried for a few changes; with more, the requesting command
 * reports the refusal.
 */
export function findNotAdoptable(observed: Observation): NotAdoptable {
  const { possible, ...refused } = findRefusedAlone(observed)
  const reasons = new Map(refused.reasons)
  if (possible.length > MOST_TRIED) return reasons
  const problems = listProblems(observed, possible)
  for (const [index, change] of possible.entries()) {
    const why = problems[index]
    if (why !== undefined) reasons.set(change.fingerprint, why)
  }
  return reasons
}

export function findNotAdoptableAtAll(observed: Observation): NotAdoptable {
  return findRefusedAlone(observed).reasons
}

export function findNotReleasable({ verdicts, key }: Observation): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const change of listAllChanges(verdicts, key)) {
    const edit = catchFailure(() => createEdit({ ...change, resolution: 'Release' }))
    if (edit instanceof Failure) reasons.set(change.fingerprint, edit.why)
  }
  return reasons
}

interface Refused {
  readonly reasons: NotAdoptable
  readonly possible: readonly PlannedChange[]
}

function findRefusedAlone({ built, verdicts, key }: Observation): Refused {
  const changes = listAllChanges(verdicts, key)
  const refused = key.derived.get(changes, 'refused', [], () => computeRefused(changes))
  const locator = built?.source.tool.locator
  if (locator === undefined || !('refusal' in locator)) return refused
  const reasons = new Map(refused.reasons)
  for (const { fingerprint } of refused.possible) reasons.set(fingerprint, locator.why)
  return { reasons, possible: [] }
}

function computeRefused(changes: ReturnType<typeof listAllChanges>): Refused {
  const reasons = new Map<string, string>()
  const possible: PlannedChange[] = []
  for (const each of changes) {
    const change: PlannedChange = { ...each, resolution: 'Adopt' }
    const edit = catchFailure(() => createEdit(change))
    if (edit instanceof Failure) reasons.set(change.fingerprint, edit.why)
    else if (edit !== undefined) possible.push(change)
  }
  return { reasons, possible }
}

function listProblems(
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
  return getSource(policy.render).edit.problems(input)
}
