import { matchesName } from '../../../policy/effective-policy.ts'
import type { DriftRecord } from '../../../record/documents/drift-record.ts'
import { recordPath } from '../../../record/record-paths.ts'
import type { JointRecord, Observation, OpenBranch, Unit } from '../../observation/observation.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import type { PlannedResult } from '../../unit/unit-result.ts'

export interface OpenJointProposal
  extends Pick<OpenBranch, 'ref' | 'commit' | 'base' | 'workspace'> {
  readonly records: readonly JointRecord[]
  /** Record paths of units that this turn replans: an unchanged unit counts as unobserved. */
  readonly present: ReadonlySet<string>
  readonly excludes: readonly string[]
  readonly observed: Observation
}

/** By full ref name. */
export function openJointProposals(
  units: readonly PlannedResult[],
): ReadonlyMap<string, OpenJointProposal> {
  const all = new Map<string, OpenJointProposal>()
  for (const { unit, observation, plan } of units) {
    for (const branch of plan.openBranches) {
      if (branch.state !== 'proposed' || branch.foreign) continue
      const path = getUnitRecordPath(unit, branch.record)
      const before = all.get(branch.ref)
      const present = new Set([...(before?.present ?? []), ...(isRetained(plan) ? [] : [path])])
      const records = [{ path, record: branch.record }, ...branch.others]
      const { ref, commit, base, workspace } = branch
      const excludes = [
        ...new Set([
          ...(before?.excludes ?? listExcludes(records)),
          ...(observation.exclude === undefined || records.length < 2 ? [] : [observation.exclude]),
        ]),
      ].sort()
      all.set(ref, {
        ref,
        commit,
        base,
        workspace,
        records,
        present,
        excludes,
        observed: isRetained(plan) ? (before?.observed ?? observation) : observation,
      })
    }
    for (const { ref, commit, base, workspace, records, foreign } of observation.git.siblings) {
      const decided = observation.proposals.get(ref)?.state ?? 'open'
      if (foreign || decided !== 'open' || all.has(ref)) continue
      all.set(ref, {
        ref,
        commit,
        base,
        workspace,
        records,
        present: new Set(),
        excludes: listExcludes(records),
        observed: observation,
      })
    }
  }
  return all
}

export function getUnitRecordPath({ cluster, slug }: Unit, { spec }: DriftRecord): string {
  return recordPath(cluster, slug, spec.began, spec.episode)
}

function listExcludes(records: readonly JointRecord[]): readonly string[] {
  return [...new Set(records.flatMap(({ record }) => record?.spec.excludes ?? []))].sort()
}

function isRetained({ outcome }: UnitPlan): boolean {
  return outcome === 'frozen' || outcome === 'foreign'
}

export function listAwayRecords({
  records,
  present,
  excludes,
}: OpenJointProposal): { readonly path: string; readonly record: DriftRecord }[] {
  return records.flatMap(({ path, record }) =>
    record === undefined || present.has(path) || isExcluded(record.spec.unit.cluster, excludes)
      ? []
      : [{ path, record }],
  )
}

export function isExcluded(cluster: string, excludes: readonly string[]): boolean {
  return excludes.some((glob) => matchesName(glob, cluster))
}
