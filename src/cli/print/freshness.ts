/** How old the answer of the ledger is, and what it does not know (docs/adr/0026-what-status-knows.md). */
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
 * The ledger with the latest look at each unit that it tells of, as `observed.seenAt`. What was last looked at too long ago is Unknown.
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

/** Intervals of the policy, and seconds: what was last looked at longer ago than both is not known any more. */
const KNOWN_FOR = { intervals: 10, seconds: 86_400 }

/** What nobody looks at stays as it was seen last: no scan could make it known again. */
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

/** Unknown because nobody looked for long, and not because somebody looked in vain. */
export function isExpired({ status: { incomplete } }: DriftReport): boolean {
  return incomplete?.[0]?.code === EXPIRED
}

/** Nobody looks at what is no longer in the repository, or in the cluster. */
function isObserved({ spec: { unit } }: DriftReport, view: RepositoryView): boolean {
  return packagesIn(view, unit.cluster).some(({ path }) => path === unit.package)
}

export function seenAtOf({ spec: { observed } }: DriftReport): string {
  return observed.seenAt ?? observed.at
}

/** RFC 3339 UTC: the latest look at each item that was ever seen, the oldest first. */
export function observedTimes(items: readonly DriftReport[]): readonly string[] {
  return items
    .map(seenAtOf)
    .filter((at) => at !== '')
    .sort()
}

/** Whether the last look is older than twice the interval at which the policy says that the cluster is looked at. */
export function isStale(report: DriftReport, { policies }: Pick<RepositoryView, 'policies'>, now: Date): boolean {
  const { cluster } = report.spec.unit
  if (report.status.state === 'Unknown') return isExpired(report)
  return now.getTime() - Date.parse(seenAtOf(report)) > 2_000 * clusterDetection(policies, cluster, 'interval')
}

/** What cannot be observed, with the reason, and what was not looked at for long. */
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
