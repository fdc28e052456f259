/** Very many packages at once: whether there are, and what there is to say about them. */
import { RISKS } from '../drift/drift.ts'
import type { StormSubject } from '../proposal/storm-text.ts'
import type { DriftReport } from '../record/schema.ts'
import { worstRisk } from './closed-episode.ts'
import { later } from './drift-age.ts'

const HOUR = 3_600
/** Rows that an issue may have. */
const SHOWN = 100

/** Reports of the units that began to differ within the hour before `now`, RFC 3339 UTC. In a recording nothing begins. */
export function newlyDrifting(reports: readonly DriftReport[], now: string): readonly DriftReport[] {
  const since = later(now, -HOUR)
  return reports.filter(({ spec, status }) => status.state === 'Drifted' && status.since > since && spec.observed.recorded !== true)
}

/** One proposal of many clusters is one cause, and counts once. `branchOf` is empty where a unit has none. */
export function isStorm(drifting: readonly DriftReport[], threshold: number, branchOf: (report: DriftReport) => string): boolean {
  if (threshold === 0 || drifting.length <= threshold) return false
  const causes = new Set(drifting.map((report) => branchOf(report) || `${report.spec.unit.cluster}\0${report.spec.unit.package}`))
  return causes.size > threshold
}

/** What the issue is made from. `nameOf` and `urlOf` are of a unit: its package, and the page of its status. */
export function stormSubject(
  drifting: readonly DriftReport[],
  threshold: number,
  nameOf: (report: DriftReport) => string,
  urlOf: (report: DriftReport) => string,
): Omit<StormSubject, 'dialect' | 'version'> {
  const writers = new Map<string, number>()
  for (const { spec } of drifting) {
    for (const manager of new Set(spec.changes.map(({ actor }) => actor.manager))) writers.set(manager, (writers.get(manager) ?? 0) + 1)
  }
  const rank = ({ spec }: DriftReport): number => RISKS.indexOf(worstRisk(spec.changes) ?? 'low')
  const worst = drifting.toSorted(
    (left, right) => rank(left) - rank(right) || compare(nameOf(left), nameOf(right)) || byCluster(left, right),
  )
  return {
    units: drifting.length,
    clusters: new Set(drifting.map(({ spec }) => spec.unit.cluster)).size,
    since: drifting.map(({ status }) => status.since).sort()[0] ?? '',
    threshold,
    writers: [...writers]
      .map(([manager, units]) => ({ manager, units }))
      .sort((left, right) => right.units - left.units || compare(left.manager, right.manager)),
    worst: worst.slice(0, SHOWN).map((report) => ({
      cluster: report.spec.unit.cluster,
      packageName: nameOf(report),
      changes: report.spec.changes.length,
      risk: worstRisk(report.spec.changes) ?? 'low',
      url: urlOf(report),
    })),
  }
}

function byCluster(left: DriftReport, right: DriftReport): number {
  return compare(left.spec.unit.cluster, right.spec.unit.cluster)
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
