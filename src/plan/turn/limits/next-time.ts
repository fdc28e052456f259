/** When time alone may make something else of a unit: no change of the cluster, of git or of the forge tells of it. */
import { later, openedAt, restingSince } from '../../observation/drift-age.ts'
import type { PlannedUnit } from '../../observation/planned-unit.ts'
import { silencedUntil } from '../../unit/commands/pick-changes.ts'

const DAY = 86_400

/**
 * RFC 3339 UTC, after the observation: what is held is proposed, a silence, a snooze or an ignore rule ends, a proposal is ready, or has waited for long.
 * Undefined where it stays as it is.
 */
export function nextTime({ plan, observation }: PlannedUnit): string | undefined {
  const { report, record, outcomes } = plan
  const { policy, cluster, git } = observation
  const { held, state, snoozedUntil, lifecycle } = report.status
  const now = cluster.observedAt
  const closed = [...git.ledger.closed, ...outcomes.map(({ episode }) => episode)]
  const opened =
    record === undefined || lifecycle !== 'Proposed' ? undefined : openedAt(record.spec)
  const resting = restingSince(report, observation)
  const times = [
    held?.until,
    snoozedUntil,
    ...(state === 'Silenced' ? [silencedUntil(closed, report.spec.fingerprint, now)] : []),
    // A rule holds until the end of its last day.
    ...policy.ignore.flatMap(({ expires }) =>
      expires === undefined ? [] : [later(`${expires}T00:00:00Z`, DAY)],
    ),
    ...(opened === undefined
      ? []
      : [later(opened, policy.remindAfter), later(opened, policy.escalateAfter)]),
    // What is open as it was may have no changes now.
    ...(opened === undefined || resting === '' ? [] : [later(resting, policy.detect.settle)]),
  ]
  return times.filter((time) => time !== undefined && time > now).sort()[0]
}
