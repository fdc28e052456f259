/** The age of the ledger's observations, and what is unknown (docs/adr/0026-what-status-knows.md). */
import type { FailureCode } from '../../failure.ts'
import type { Note } from '../../note.ts'
import { lastSeen } from '../../plan/ledger/seen-at.ts'
import { later } from '../../plan/limits/drift-age.ts'
import { clusterDetection } from '../../policy/effective-policy.ts'
import type { Ledger } from '../../reconcile/repository/read-ledger.ts'
import { packagesIn, type RepositoryView } from '../../reconcile/repository/repository-view.ts'
import type { DriftReport } from '../../record/schema.ts'
import { unitName } from '../../record/unit-name.ts'
import { formatAge } from './print-diff.ts'

/**
 * Adds the time of the latest observation of each unit as `observed.seenAt`. A unit that was last observed too long ago is Unknown.
 * @param now the present
 */
export function withSeenTimes(ledger: Ledger, view: RepositoryView, now: Date): Ledger {
  const current = (report: DriftReport): DriftReport => withoutExpired(withSeenTime(report, ledger, view), view, now)
  const folders = new Map([...ledger.folders].map(([report, folder]) => [current(report), folder]))
  const order = new Map(ledger.reports.map((report, index) => [ledger.folders.get(report), index]))
  const reports = [...folders.keys()].sort((left, right) => (order.get(folders.get(left)) ?? 0) - (order.get(folders.get(right)) ?? 0))
  return { ...ledger, folders, reports }
}

function withSeenTime(report: DriftReport, { clusters }: Ledger, view: RepositoryView): DriftReport {
  const { cluster } = report.spec.unit
  const seenAt = lastSeen(report, isObserved(report, view) ? clusters.get(cluster)?.status : undefined)
  const { at, seenAt: _known, ...observed } = report.spec.observed
  return { ...report, spec: { ...report.spec, observed: { at, ...(seenAt > at ? { seenAt } : {}), ...observed } } }
}

/** Intervals of the policy, and seconds: an observation that is older than both has expired. */
const KNOWN_FOR = { intervals: 10, seconds: 86_400 }

/** A unit that is no longer observed keeps its last state: no scan could update it. */
function withoutExpired(report: DriftReport, view: RepositoryView, now: Date): DriftReport {
  const { state, since, lastKnown: _known, incomplete: _incomplete, health: _health, ...rest } = report.status
  const observed = seenAtOf(report)
  if (state === 'Unknown' || state === 'Off' || observed === '' || !isObserved(report, view)) return report
  const interval = clusterDetection(view.policies, report.spec.unit.cluster, 'interval')
  const end = later(observed, Math.max(KNOWN_FOR.intervals * interval, KNOWN_FOR.seconds))
  if (Date.parse(end) >= now.getTime()) return report
  const why = `it was last looked at on ${observed}`
  return {
    ...report,
    status: {
      state: 'Unknown',
      since: end,
      lastKnown: { state, since },
      ...rest,
      health: { status: 'Unknown' },
      incomplete: [
        { state: 'unreadable', code: EXPIRED, why, remedy: 'run backporch scan, and check why the scheduled scan does not run' },
      ],
    },
  }
}

const EXPIRED: FailureCode = 'BP3016'

/** Unknown because the last observation has expired, and not because an observation failed. */
export function isExpired({ status: { incomplete } }: DriftReport): boolean {
  return incomplete?.[0]?.code === EXPIRED
}

/** A package that is no longer in the repository, or in the cluster, is not observed. */
function isObserved({ spec: { unit } }: DriftReport, view: RepositoryView): boolean {
  return packagesIn(view, unit.cluster).some(({ path }) => path === unit.package)
}

export function seenAtOf({ spec: { observed } }: DriftReport): string {
  return observed.seenAt ?? observed.at
}

/** RFC 3339 UTC: the latest observation of each observed item, the oldest first. */
export function observedTimes(items: readonly DriftReport[]): readonly string[] {
  return items
    .map(seenAtOf)
    .filter((at) => at !== '')
    .sort()
}

/** Whether the last observation is older than twice the policy's interval for the cluster. */
export function isStale(report: DriftReport, { policies }: Pick<RepositoryView, 'policies'>, now: Date): boolean {
  const { cluster } = report.spec.unit
  if (report.status.state === 'Unknown') return isExpired(report)
  return now.getTime() - Date.parse(seenAtOf(report)) > 2_000 * clusterDetection(policies, cluster, 'interval')
}

/** Notes about units that cannot be observed, with the reason, and about old observations. */
export function freshnessNotes(
  reports: readonly DriftReport[],
  { clusters }: Pick<Ledger, 'clusters'>,
  view: RepositoryView,
  now: Date,
): readonly Note[] {
  const unknown = reports.filter((report) => report.status.state === 'Unknown' && !isExpired(report))
  const lost = new Map(
    unknown.flatMap(({ spec: { unit } }) => {
      const reason = clusters.get(unit.cluster)?.status.unobserved
      return reason === undefined ? [] : [[unit.cluster, reason] as const]
    }),
  )
  const ofClusters = [...lost].map(([subject, { since, why, code }]) => {
    return { cause: 'cluster-not-observed', subject, text: `cannot be observed since ${timeAndAge(since, now)}: ${why} (${code})` } as const
  })
  const ofUnits = unknown.flatMap(({ spec: { unit }, status }) => {
    if (lost.has(unit.cluster)) return []
    const [first] = status.incomplete ?? []
    const why = first === undefined ? '' : `: ${first.why} (${first.code})`
    const text = `unknown since ${timeAndAge(status.since, now)}${why}`
    return [{ cause: 'package-not-observed', subject: `${unitName(unit)} in ${unit.cluster}`, text } as const]
  })
  const old = Map.groupBy(
    reports.filter((report) => isStale(report, view, now)),
    ({ spec }) => spec.unit.cluster,
  )
  const ofAge = [...old].map(([cluster, stale]) => {
    const [oldest = ''] = stale.map(seenAtOf).sort()
    const what = stale.length === 1 ? unitName(stale[0]?.spec.unit ?? { package: '' }) : `${stale.length} packages`
    const interval = formatAge(clusterDetection(view.policies, cluster, 'interval') * 1_000)
    const end = stale.some(isExpired) ? 'it is unknown until the next scan' : 'it may be otherwise now'
    const text = `last looked at ${timeAndAge(oldest, now)}, and the interval is ${interval}: ${end}`
    return { cause: 'looked-at-long-ago', subject: `${what} in ${cluster}`, text } as const
  })
  return [...ofClusters, ...ofUnits, ...ofAge]
}

function timeAndAge(at: string, now: Date): string {
  return `${at} (${formatAge(now.getTime() - Date.parse(at))})`
}
