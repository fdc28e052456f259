/**
 * Computes when time alone changes a plan. No change of the cluster, git or the forge announces
 * these times.
 */
import { addSeconds, getOpenedTime, getRestingSince } from '../../observation/drift-age.ts'
import type { PlannedUnit } from '../../observation/planned-unit.ts'
import { findSilencedUntil } from '../../unit/commands/pick-changes.ts'

const DAY = 86_400

/** RFC 3339 UTC, after the observation. Undefined if time changes nothing. */
export function computeNextTime({ plan, observation }: PlannedUnit): string | undefined {
  const { report, record, outcomes } = plan
  const { policy, cluster, git } = observation
  const { held, state, snoozedUntil, lifecycle } = report.status
  const now = cluster.observedAt
  const closed = [...git.ledger.closed, ...outcomes.map(({ episode }) => episode)]
  const opened =
    record === undefined || lifecycle !== 'Proposed' ? undefined : getOpenedTime(record.spec)
  const resting = getRestingSince(report, observation)
  const times = [
    held?.until,
    snoozedUntil,
    ...(state === 'Silenced' ? [findSilencedUntil(closed, report.spec.fingerprint, now)] : []),
    // A rule holds until the end of its last day.
    ...policy.ignore.flatMap(({ expires }) =>
      expires === undefined ? [] : [addSeconds(`${expires}T00:00:00Z`, DAY)],
    ),
    ...(opened === undefined
      ? []
      : [addSeconds(opened, policy.remindAfter), addSeconds(opened, policy.escalateAfter)]),
    // Something open may have no changes now.
    ...(opened === undefined || resting === undefined
      ? []
      : [addSeconds(resting, policy.detect.settle)]),
  ]
  return times.filter((time) => time !== undefined && time > now).sort()[0]
}
