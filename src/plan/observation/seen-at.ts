/** When a unit was last observed (docs/adr/0056-what-the-ledger-says-about-time.md). */
import type { ClusterStatus } from '../../record/documents/cluster-observation.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { addSeconds } from './drift-age.ts'

/** RFC 3339 UTC. */
export interface ObservedWhen {
  readonly at: string
  readonly now: string
  /** A recording has its own time. */
  readonly recorded: boolean
}

/** Seconds that the clocks of two machines may differ unnoticed. */
const CLOCKS_DIFFER = 300

/**
 * RFC 3339 UTC, whatever the observation's result; empty if there was none.
 * @param cluster omitted if its observations were not about the unit
 */
export function getKnownUntil(
  { spec, status }: DriftReport,
  cluster: ClusterStatus | undefined,
): string {
  // Another state may begin with a decision, which is no observation of the cluster.
  const failedObservation = status.state === 'Unknown' ? status.since : undefined
  return selectLatest([
    spec.observed.at,
    spec.observed.seenAt,
    failedObservation,
    cluster?.observedAt,
  ])
}

/** Only observations that confirm the report: for an unobservable unit, the last one before. */
export function getLastSeen(
  { spec, status }: DriftReport,
  cluster: ClusterStatus | undefined,
): string {
  const observed = selectLatest([spec.observed.at, spec.observed.seenAt])
  // Later cluster observations did not include an unobservable unit.
  return status.state === 'Unknown' ? observed : selectLatest([observed, cluster?.observedAt])
}

/** RFC 3339 UTC, including failed attempts; empty if there was none. */
export function getLastLook(cluster: ClusterStatus | undefined): string {
  return selectLatest([cluster?.observedAt, cluster?.failure?.since])
}

/**
 * A live cluster was observed after the ledger was read: a time slightly in the future comes from
 * another clock, and makes only a recording older.
 */
export function isOlder({ at, now, recorded }: ObservedWhen, known: string): boolean {
  return at < known && known <= (recorded ? addSeconds(now, CLOCKS_DIFFER) : now)
}

/** So far in the future that its clock must be wrong: ignored and replaced. */
export function isAhead(known: string, now: string): boolean {
  return known > addSeconds(now, CLOCKS_DIFFER)
}

function selectLatest(times: readonly (string | undefined)[]): string {
  return times.reduce<string>((last, time) => (time !== undefined && time > last ? time : last), '')
}
