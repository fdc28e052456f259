/** docs/adr/0056-what-the-ledger-says-about-time.md */
import type { FailureCode } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { omitUndefined } from '@backporch/kyaml/text'
import { addSeconds } from '../../plan/observation/drift-age.ts'
import { getLastSeen, isAhead } from '../../plan/observation/seen-at.ts'
import { getClusterDetection, getClusterStaleAfter } from '../../policy/effective-policy.ts'
import type { Ledger } from '../../reconcile/repository/read-ledger.ts'
import {
  listClusterPackages,
  type RepositoryView,
} from '../../reconcile/repository/repository-view.ts'
import type { DriftReport, Incomplete } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { addPullRequest } from './pull-request.ts'
import { formatAge } from './time-text.ts'

/** A unit whose last observation is too old is Unknown. */
export function addSeenTimes(ledger: Ledger, view: RepositoryView, now: Date): Ledger {
  const current = (report: DriftReport): DriftReport =>
    markExpired(
      markUnreachable(addPullRequest(addSeenTime(report, ledger, view), view), ledger),
      view,
      now,
    )
  const folders = new Map([...ledger.folders].map(([report, folder]) => [current(report), folder]))
  const order = new Map(ledger.reports.map((report, index) => [ledger.folders.get(report), index]))
  const reports = [...folders.keys()].sort(
    (left, right) => (order.get(folders.get(left)) ?? 0) - (order.get(folders.get(right)) ?? 0),
  )
  return { ...ledger, folders, reports }
}

function addSeenTime(report: DriftReport, { clusters }: Ledger, view: RepositoryView): DriftReport {
  const { cluster } = report.spec.unit
  const seenAt = getLastSeen(
    report,
    isObserved(report, view) ? clusters.get(cluster)?.status : undefined,
  )
  const { at, seenAt: _known, ...observed } = report.spec.observed
  return {
    ...report,
    spec: { ...report.spec, observed: { at, ...(seenAt > at ? { seenAt } : {}), ...observed } },
  }
}

/** Seconds, and intervals of the policy. A recording's time does not advance. */
const RECORDED = {
  said: { intervals: 2, seconds: 7_200 },
  known: { intervals: 10, seconds: 86_400 },
}

/** Seconds: when the age is reported, and when the state is unknown. */
function getLimits(
  { spec }: DriftReport,
  { policies }: Pick<RepositoryView, 'policies'>,
): { readonly said: number; readonly known: number } {
  const { cluster } = spec.unit
  const staleAfter = getClusterStaleAfter(policies, cluster)
  if (spec.observed.recorded !== true) return { said: staleAfter, known: staleAfter }
  const interval = getClusterDetection(policies, cluster, 'interval')
  const after = ({ intervals, seconds }: (typeof RECORDED)['said']): number =>
    Math.max(intervals * interval, seconds)
  return { said: after(RECORDED.said), known: after(RECORDED.known) }
}

/** Whatever its own report says. */
function markUnreachable(report: DriftReport, { clusters }: Ledger): DriftReport {
  const { state } = report.status
  const failure = clusters.get(report.spec.unit.cluster)?.status.failure
  if (
    failure === undefined ||
    state === 'Unknown' ||
    state === 'Off' ||
    getSeenTime(report) > failure.since
  )
    return report
  const { since, code, why, remedy } = failure
  return createUnknownReport(report, since, { state: 'unreadable', code, why, remedy })
}

/** A unit that is no longer observed keeps its last state, because no scan can update it. */
function markExpired(report: DriftReport, view: RepositoryView, now: Date): DriftReport {
  const { state, since } = report.status
  const observed = getSeenTime(report)
  if (state === 'Unknown' || state === 'Off' || observed === '' || !isObserved(report, view))
    return report
  if (isAhead(observed, now.toISOString()))
    return createUnknownReport(report, since, {
      state: 'unreadable',
      code: EXPIRED,
      why: `the time of its last observation is in the future: ${observed}`,
      remedy:
        'run backporch scan, and correct the clock of the machine that scanned, or of this one',
    })
  const end = addSeconds(observed, getLimits(report, view).known)
  if (Date.parse(end) >= now.getTime()) return report
  return createUnknownReport(report, end, {
    state: 'unreadable',
    code: EXPIRED,
    why: `it was last observed on ${observed}`,
    remedy: 'run backporch scan, and check why the controller or the scheduled scan does not run',
  })
}

function createUnknownReport(report: DriftReport, at: string, reason: Incomplete): DriftReport {
  const {
    state,
    since,
    lastKnown: _known,
    incomplete: _incomplete,
    health: _health,
    ...rest
  } = report.status
  const lastKnown = { state, since }
  return {
    ...report,
    status: {
      state: 'Unknown',
      since: at,
      lastKnown,
      ...rest,
      health: { status: 'Unknown' },
      incomplete: [reason],
    },
  }
}

const EXPIRED: FailureCode = 'BP3016'

/** Not because an observation failed. */
function isExpired({ status: { incomplete } }: DriftReport): boolean {
  return incomplete?.[0]?.code === EXPIRED
}

function isObserved({ spec: { unit } }: DriftReport, view: RepositoryView): boolean {
  return listClusterPackages(view, unit.cluster).some(({ path }) => path === unit.package)
}

export function getSeenTime({ spec: { observed } }: DriftReport): string {
  return observed.seenAt ?? observed.at
}

/** RFC 3339 UTC, oldest first. */
export function listObservedTimes(items: readonly DriftReport[]): readonly string[] {
  return items
    .map(getSeenTime)
    .filter((at) => at !== '')
    .sort()
}

/** False for a unit that no scan observes any more. */
export function isStale(
  report: DriftReport,
  view: Pick<RepositoryView, 'policies'>,
  now: Date,
): boolean {
  if (report.status.state === 'Unknown') return isExpired(report)
  return now.getTime() - Date.parse(getSeenTime(report)) > 1_000 * getLimits(report, view).said
}

export function buildClusterParts(
  reports: readonly DriftReport[],
  { clusters }: Pick<Ledger, 'clusters'>,
): Pick<DriftReportList, 'clusters'> {
  const names = [...new Set(reports.map(({ spec }) => spec.unit.cluster))]
  const parts = names.flatMap((name) => {
    const status = clusters.get(name)?.status
    if (status === undefined) return []
    const { observedAt, reachable, failure } = status
    return [{ name, ...omitUndefined({ observedAt }), reachable, ...omitUndefined({ failure }) }]
  })
  return parts.length === 0 ? {} : { clusters: parts }
}

export function listFreshnessNotes(
  reports: readonly DriftReport[],
  { clusters }: Pick<Ledger, 'clusters'>,
  view: RepositoryView,
  now: Date,
): readonly Note[] {
  const unknown = reports.filter(
    (report) => report.status.state === 'Unknown' && !isExpired(report),
  )
  const lost = new Map(
    unknown.flatMap(({ spec: { unit } }) => {
      const status = clusters.get(unit.cluster)?.status
      return status?.failure === undefined
        ? []
        : [[unit.cluster, { ...status.failure, observedAt: status.observedAt }] as const]
    }),
  )
  const ofClusters = [...lost].map(([subject, { since, why, code, observedAt }]) => {
    const last = observedAt === undefined ? '' : `, last observed ${timeAndAge(observedAt, now)}`
    const text = `cannot be observed since ${timeAndAge(since, now)}${last}: ${why} (${code})`
    return { cause: 'cluster-not-observed', subject, text } as const
  })
  const ofUnits = unknown.flatMap(({ spec: { unit }, status }) => {
    if (lost.has(unit.cluster)) return []
    const [first] = status.incomplete ?? []
    const why = first === undefined ? '' : `: ${first.why} (${first.code})`
    const text = `unknown since ${timeAndAge(status.since, now)}${why}`
    return [
      {
        cause: 'package-not-observed',
        subject: `${getUnitName(unit)} in ${unit.cluster}`,
        text,
      } as const,
    ]
  })
  const old = Map.groupBy(
    reports.filter((report) => isStale(report, view, now)),
    ({ spec }) => spec.unit.cluster,
  )
  const ofAge = [...old].flatMap(([cluster, stale]) => {
    const [oldest = ''] = stale.map(getSeenTime).sort()
    const what =
      stale.length === 1
        ? getUnitName(stale[0]?.spec.unit ?? { package: '' })
        : `${stale.length} packages`
    const [first] = stale
    if (first === undefined) return []
    const { said, known } = getLimits(first, view)
    const [limit, end] = stale.some(isExpired)
      ? [known, 'it is unknown until the next scan']
      : [said, 'it may have changed since']
    const text = `last observed ${timeAndAge(oldest, now)}, longer ago than ${formatAge(limit * 1_000)}: ${end}`
    return [{ cause: 'looked-at-long-ago', subject: `${what} in ${cluster}`, text } as const]
  })
  return [...ofClusters, ...ofUnits, ...ofAge]
}

function timeAndAge(at: string, now: Date): string {
  return `${at} (${formatAge(now.getTime() - Date.parse(at))})`
}
