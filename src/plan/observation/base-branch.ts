/** A unit belongs to one base branch (docs/adr/0014). */
import { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { formatLedgerUnitFolder } from '../../record/record-paths.ts'
import type { Observation } from './observation.ts'

/**
 * Undefined if it is the same, if none is recorded, and if that branch no longer exists because it
 * was renamed.
 */
export function findOtherBase({ git }: Observation): string | undefined {
  const recorded = [git.ledger.report, ...git.branches.map(({ record }) => record)]
  const branch = recorded
    .map((document) => document?.spec.unit.branch)
    .find((name) => name !== undefined)
  return branch === undefined || branch === git.baseBranch || !git.refs.has(`refs/heads/${branch}`)
    ? undefined
    : branch
}

export function createOtherBaseNotes(observed: Observation): Note[] {
  const branch = findOtherBase(observed)
  if (branch === undefined) return []
  const { unit, git } = observed
  const text = `${unit.packageName} in ${unit.cluster} follows ${branch}: differences to ${git.baseBranch} are not recorded`
  return [{ cause: 'follows-another-branch', subject: '', text }]
}

/** @throws Failure BP2012 */
export function assertOwnBase(observed: Observation): void {
  const branch = findOtherBase(observed)
  if (branch === undefined) return
  const { unit, git } = observed
  throw new Failure({
    code: 'BP2012',
    what: `${unit.packageName} in ${unit.cluster} is not written from ${git.baseBranch}`,
    where: `drift-ledger:${formatLedgerUnitFolder(unit.cluster, unit.slug)}/report.yaml`,
    why: `it follows ${branch}: one package in one cluster cannot follow two branches`,
    remedy: `give --branch ${branch}, or name the cluster that runs ${git.baseBranch} with --cluster; to move the package, remove that file from drift-ledger`,
    retry: 'on-change',
  })
}
