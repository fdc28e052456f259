/** How far the knowledge of the ledger goes, and which of two observations counts (docs/adr/0026-what-status-knows.md). */
import type { ClusterObservation, DriftReport } from '../../record/schema.ts'

/**
 * RFC 3339 UTC: the last observation of the unit in the ledger, whatever its result; empty where there was none.
 * @param cluster of the unit's cluster; left out where its observations were not about the unit
 */
export function knownUntil({ spec, status }: DriftReport, cluster: ClusterObservation['status'] | undefined): string {
  // Another state may begin with a decision, which is no observation of the cluster.
  const failedObservation = status.state === 'Unknown' ? status.since : undefined
  return latest([spec.observed.at, spec.observed.seenAt, failedObservation, cluster?.seenAt])
}

/** As `knownUntil`, of the observations that confirm the report: of a unit that cannot be observed, the last one before. */
export function lastSeen({ spec, status }: DriftReport, cluster: ClusterObservation['status'] | undefined): string {
  const observed = latest([spec.observed.at, spec.observed.seenAt])
  // Later observations of the whole cluster were not about a unit that could not be observed.
  return status.state === 'Unknown' ? observed : latest([observed, cluster?.seenAt])
}

/** Whether an observation is older than what is known. A time in the future is of a wrong clock, and is ignored. */
export function isOlder(at: string, known: string, now: string): boolean {
  return at < known && known <= now
}

function latest(times: readonly (string | undefined)[]): string {
  return times.reduce<string>((last, time) => (time !== undefined && time > last ? time : last), '')
}
