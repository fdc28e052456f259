/** How far the knowledge of the ledger goes, and which of two observations counts (docs/adr/0056-what-the-ledger-says-about-time.md). */
import type { ClusterStatus } from '../../record/documents/cluster-observation.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { later } from './drift-age.ts'

/** When a cluster was observed. All times are RFC 3339 UTC. */
export interface ObservedWhen {
  readonly at: string
  /** The present. */
  readonly now: string
  /** A recording has a time of its own. */
  readonly recorded: boolean
}

/** Seconds by which the clocks of two machines differ without anybody noticing. */
const CLOCKS_DIFFER = 300

/**
 * RFC 3339 UTC: the last observation of the unit in the ledger, whatever its result; empty where there was none.
 * @param cluster of the unit's cluster; left out where its observations were not about the unit
 */
export function knownUntil(
  { spec, status }: DriftReport,
  cluster: ClusterStatus | undefined,
): string {
  // Another state may begin with a decision, which is no observation of the cluster.
  const failedObservation = status.state === 'Unknown' ? status.since : undefined
  return latest([spec.observed.at, spec.observed.seenAt, failedObservation, cluster?.observedAt])
}

/** As `knownUntil`, of the observations that confirm the report: of a unit that cannot be observed, the last one before. */
export function lastSeen(
  { spec, status }: DriftReport,
  cluster: ClusterStatus | undefined,
): string {
  const observed = latest([spec.observed.at, spec.observed.seenAt])
  // Later observations of the whole cluster were not about a unit that could not be observed.
  return status.state === 'Unknown' ? observed : latest([observed, cluster?.observedAt])
}

/** RFC 3339 UTC: the last look at the cluster as a whole, one that failed included; empty where there was none. */
export function lastLook(cluster: ClusterStatus | undefined): string {
  return latest([cluster?.observedAt, cluster?.failure?.since])
}

/**
 * Whether an observation is older than what is known. A live cluster was observed after the ledger was read: a time just ahead of the
 * present is of another clock, and makes only a recording older.
 */
export function isOlder({ at, now, recorded }: ObservedWhen, known: string): boolean {
  return at < known && known <= (recorded ? later(now, CLOCKS_DIFFER) : now)
}

/** Whether a time lies so far in the future that it is of a wrong clock: it is not believed, and is replaced. */
export function isAhead(known: string, now: string): boolean {
  return known > later(now, CLOCKS_DIFFER)
}

function latest(times: readonly (string | undefined)[]): string {
  return times.reduce<string>((last, time) => (time !== undefined && time > last ? time : last), '')
}
