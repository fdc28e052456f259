import { compareText } from '@backporch/kyaml/text'
import { RISKS } from '../../../drift/compare/drift.ts'
import type { Limits } from '../../../policy/effective-policy.ts'
import type { StormSubject } from '../../../proposal/text/storm-text.ts'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { findWorstRisk } from '../../observation/closed-episode.ts'
import { addSeconds } from '../../observation/drift-age.ts'

const HOUR = 3_600
const SHOWN = 100

/** Within the hour before `now`, RFC 3339 UTC. Nothing begins in a recording. */
export function listNewlyDrifting(
  reports: readonly DriftReport[],
  now: string,
): readonly DriftReport[] {
  const since = addSeconds(now, -HOUR)
  return reports.filter(
    ({ spec, status }) =>
      status.state === 'Drifted' && status.since > since && spec.observed.recorded !== true,
  )
}

export interface Storm {
  /** Nothing new is proposed anywhere. */
  readonly fleet: boolean
  /** Nothing new is proposed about these alone. */
  readonly clusters: ReadonlySet<string>
}

/**
 * @param all includes the other reports of the same clusters
 * @param branchOf empty without a proposal
 */
export function findStorm(
  drifting: readonly DriftReport[],
  all: readonly DriftReport[],
  limits: Limits,
  branchOf: (report: DriftReport) => string,
): Storm | undefined {
  const storm = {
    fleet: isStorm(drifting, limits.stormThreshold, branchOf),
    clusters: listStormyClusters(drifting, all, limits, branchOf),
  }
  return storm.fleet || storm.clusters.size > 0 ? storm : undefined
}

/**
 * More objects began to differ than `stormObjects` and than `stormShare` percent of git's declared
 * objects. A proposal of many clusters has its own decision and does not count, and a single
 * proposal is not a storm.
 */
function listStormyClusters(
  drifting: readonly DriftReport[],
  all: readonly DriftReport[],
  { stormObjects, stormShare }: Limits,
  branchOf: (report: DriftReport) => string,
): ReadonlySet<string> {
  if (stormObjects === 0 || stormShare === 0) return new Set()
  const proposals = [
    ...Map.groupBy(drifting, (report) => branchOf(report) || getOwnName(report)).values(),
  ]
  const single = proposals.filter((own) => new Set(own.map(getCluster)).size === 1)
  const byCluster = Map.groupBy(single, ([first]) => (first === undefined ? '' : getCluster(first)))
  const stormy = [...byCluster].flatMap(([cluster, own]) => {
    const objects = own.flat().reduce((sum, report) => sum + countObjects(report), 0)
    if (own.length < 2 || objects <= stormObjects) return []
    const declared = all.reduce(
      (sum, report) => sum + (getCluster(report) === cluster ? report.spec.observed.objects : 0),
      0,
    )
    return objects * 100 > declared * stormShare ? [cluster] : []
  })
  return new Set(stormy)
}

function getCluster({ spec }: DriftReport): string {
  return spec.unit.cluster
}

function getOwnName({ spec: { unit } }: DriftReport): string {
  return `${unit.cluster}\0${unit.package}`
}

function countObjects({ spec }: DriftReport): number {
  return new Set(
    spec.changes.map(({ ref: { group, kind, namespace, name } }) =>
      JSON.stringify([group, kind, namespace, name]),
    ),
  ).size
}

/** Short name, by the ledger alone; empty without one. */
export function getCurrentBranch({ spec, status }: DriftReport): string {
  if (status.lifecycle !== 'Proposed') return ''
  return status.branch ?? `proposed/${spec.unit.package}/drift-${status.episode}`
}

/** A proposal of many clusters is one cause, and counts once. */
function isStorm(
  drifting: readonly DriftReport[],
  threshold: number,
  branchOf: (report: DriftReport) => string,
): boolean {
  if (threshold === 0 || drifting.length <= threshold) return false
  const causes = new Set(drifting.map((report) => branchOf(report) || getOwnName(report)))
  return causes.size > threshold
}

export function buildStormSubject(
  began: readonly DriftReport[],
  storm: Storm,
  { stormThreshold, stormObjects, stormShare }: Limits,
  {
    nameOf,
    urlOf,
  }: {
    readonly nameOf: (report: DriftReport) => string
    readonly urlOf: (report: DriftReport) => string
  },
): Omit<StormSubject, 'dialect' | 'version'> {
  const drifting = storm.fleet
    ? began
    : began.filter((report) => storm.clusters.has(getCluster(report)))
  const writers = new Map<string, number>()
  for (const { spec } of drifting) {
    for (const manager of new Set(spec.changes.map(({ actor }) => actor.manager)))
      writers.set(manager, (writers.get(manager) ?? 0) + 1)
  }
  const rank = ({ spec }: DriftReport): number =>
    RISKS.indexOf(findWorstRisk(spec.changes) ?? 'low')
  const worst = drifting.toSorted(
    (left, right) =>
      rank(left) - rank(right) ||
      compareText(nameOf(left), nameOf(right)) ||
      compareCluster(left, right),
  )
  return {
    units: drifting.length,
    clusters: new Set(drifting.map(({ spec }) => spec.unit.cluster)).size,
    since: drifting.map(({ status }) => status.since).sort()[0] ?? '',
    threshold: stormThreshold,
    ...(storm.fleet
      ? {}
      : {
          objects: {
            count: drifting.reduce((sum, report) => sum + countObjects(report), 0),
            stormObjects,
            stormShare,
          },
        }),
    writers: [...writers]
      .map(([manager, units]) => ({ manager, units }))
      .sort((left, right) => right.units - left.units || compareText(left.manager, right.manager)),
    worst: worst.slice(0, SHOWN).map((report) => ({
      cluster: report.spec.unit.cluster,
      packageName: nameOf(report),
      changes: report.spec.changes.length,
      risk: findWorstRisk(report.spec.changes) ?? 'low',
      url: urlOf(report),
    })),
  }
}

function compareCluster(left: DriftReport, right: DriftReport): number {
  return compareText(left.spec.unit.cluster, right.spec.unit.cluster)
}
