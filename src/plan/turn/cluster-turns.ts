import type { FailureCode } from '@backporch/kyaml/failure'
import { omitUndefined } from '@backporch/kyaml/text'
import { getClusterDetection } from '../../policy/effective-policy.ts'
import { formatLedgerUnitFolder } from '../../record/record-paths.ts'
import { findOtherBase } from '../observation/base-branch.ts'
import {
  createIdentityFields,
  createPolicyField,
  findKnownObservation,
} from '../observation/ledger-files.ts'
import type { Observation } from '../observation/observation.ts'
import { reportWithoutEnded } from '../unit/too-old.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import { type ClusterLedgerWrites, createClusterWrites } from './ledger/cluster-writes.ts'
import type { LostUnit, TurnObservation } from './turn-observation.ts'

export function writesOfClusters(
  observed: TurnObservation,
  units: readonly UnitResult[],
  decided: readonly DecidedUnit[],
): readonly ClusterLedgerWrites[] {
  const { git, cluster: clusters, clock, policy, purpose } = observed
  const now = clock.present
  const writes: ClusterLedgerWrites[] = []
  for (const { cluster, identity } of clusters.observed) {
    const planned = units.flatMap((unit) =>
      unit.state === 'planned' && unit.unit.cluster === cluster && unit.refused === undefined
        ? [unit]
        : [],
    )
    const [first] = planned
    const before =
      first === undefined
        ? git.ledger.clusters.get(cluster)
        : findKnownObservation(first.observation)
    const codes = new Map(
      units.flatMap((unit) =>
        unit.state === 'failed' && unit.cluster === cluster
          ? [[unit.packagePath, unit.failures[0].code]]
          : [],
      ),
    )
    const lost = [
      ...(git.lost.get(cluster) ?? []),
      ...listUnitsLostInPlan(observed, units, cluster),
    ]
    const unobserved = addDecisions(lost, decided).flatMap((unit) => {
      const code = codes.get(unit.unit.package)
      return code === undefined ? [] : [{ ...unit, code }]
    })
    const interval = getClusterDetection(policy, cluster, 'interval')
    const fields = createIdentityFields(identity, before)
    const whole = purpose.whole || purpose.watched?.has(cluster) === true
    writes.push({
      cluster,
      ...createClusterWrites({
        ...{
          cluster,
          at: identity.observedAt,
          now,
          before,
          identity: fields,
          whole,
          planned,
          unobserved,
          interval,
        },
        ...createPolicyField(policy),
      }),
    })
  }
  for (const { cluster, failures, at } of clusters.notObserved) {
    const [{ code }] = failures
    if (!isAboutCluster(code)) continue
    const before = git.ledger.clusters.get(cluster)
    const unobserved = addDecisions(git.lost.get(cluster) ?? [], decided).map((unit) => ({
      ...unit,
      code,
    }))
    // A name without placed objects that was never observed is more likely a typo than a cluster.
    if (before === undefined && unobserved.length === 0) continue
    writes.push({
      cluster,
      ...createClusterWrites({
        cluster,
        at,
        now,
        before,
        identity: code,
        whole: true,
        planned: [],
        unobserved,
        interval: 0,
      }),
    })
  }
  return writes.filter(({ ledger }) => ledger.length > 0)
}

function addDecisions(
  lost: readonly LostUnit[],
  decided: readonly DecidedUnit[],
): readonly LostUnit[] {
  return lost.map((one) => {
    const own = decided.find(
      ({ unit: { cluster, slug } }) => formatLedgerUnitFolder(cluster, slug) === one.folder,
    )
    return own === undefined
      ? one
      : { ...one, report: reportWithoutEnded(own.observation, own.plan.outcomes) ?? one.report }
  })
}

/** A name that selects nothing, or an unreadable repository, does not concern a cluster. */
function isAboutCluster(code: FailureCode): boolean {
  return code.startsWith('BP30') || code === 'BP1006' || code === 'BP1008' || code === 'BP9001'
}

function listUnitsLostInPlan(
  { cluster: { units: observed } }: TurnObservation,
  units: readonly UnitResult[],
  cluster: string,
): readonly LostUnit[] {
  return observed.flatMap((one, index) => {
    const isLost =
      one.state === 'observed' &&
      one.observation.unit.cluster === cluster &&
      units[index]?.state === 'failed'
    if (!isLost || findOtherBase(one.observation) !== undefined) return []
    const unit = createLostUnit(one.observation)
    return unit.report === undefined && unit.unit.package === '' ? [] : [unit]
  })
}

function createLostUnit({
  unit: { cluster, slug, packagePath, source, appliedBy },
  git,
}: Observation): LostUnit {
  const folder = formatLedgerUnitFolder(cluster, slug)
  const { report, texts } = git.ledger
  const by = { ...(source === 'folder' ? { source } : {}), ...omitUndefined({ appliedBy }) }
  const first = {
    cluster,
    package: packagePath,
    ...by,
    branch: git.baseBranch,
    commit: git.base,
    tree: git.treeHash,
  }
  return {
    folder,
    report,
    unit: report?.spec.unit ?? first,
    resourceGroup: texts.get(`${folder}/resourcegroup.yaml`),
  }
}
