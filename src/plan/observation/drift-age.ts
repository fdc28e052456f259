import { isKnownWriter } from '../../drift/attribute/actor.ts'
import type { Drift } from '../../drift/compare/drift.ts'
import { findWindowEnd, isScheduled } from '../../policy/windows.ts'
import type { ProposalState } from '../../proposal/text/proposal-subject.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { canOpenWindow, createLabelWindowTest } from './label-windows.ts'
import type { Observation } from './observation.ts'

/**
 * RFC 3339 UTC; undefined without a change. A manager's time counts if it owns the field. Otherwise, or if earlier, the first
 * observation of exactly this difference counts, because a manager that keeps writing other fields,
 * or the same values, does not make a difference younger.
 */
export function getRestingSince(
  report: DriftReport,
  { git, cluster }: Pick<Observation, 'git' | 'cluster'>,
): string | undefined {
  const before = git.ledger.report
  const known = new Set(before?.spec.changes.map(({ fingerprint }) => fingerprint))
  const seenAt =
    before === undefined || before.spec.observed.at > cluster.observedAt
      ? cluster.observedAt
      : before.spec.observed.at
  const times = report.spec.changes.map((change) =>
    getChangeTime(change, known.has(change.fingerprint) ? seenAt : cluster.observedAt),
  )
  return times.sort().at(-1)
}

/** A later time is from another clock, and is ignored. */
function getChangeTime({ actor }: Change, seenAt: string): string {
  return isKnownWriter(actor) && actor.at !== '' && actor.at < seenAt ? actor.at : seenAt
}

export function addSeconds(at: string, seconds: number): string {
  return `${new Date(Math.floor(Date.parse(at) / 1_000) * 1_000 + seconds * 1_000).toISOString().slice(0, 19)}Z`
}

/** RFC 3339 UTC. */
export function getOpenedTime({
  began,
  proposedAt,
}: Pick<DriftRecord['spec'], 'began' | 'proposedAt'>): string {
  return proposedAt ?? began
}

/**
 * Changing means changed since the first observation: a proposal requested directly after an edit
 * is ready at once.
 */
export function timeStates(
  report: DriftReport,
  record: DriftRecord,
  observed: Pick<Observation, 'git' | 'cluster' | 'policy'>,
): ProposalState[] {
  const { cluster, policy } = observed
  const [resting, opened] = [getRestingSince(report, observed), getOpenedTime(record.spec)]
  // An episode is named after its initial drift: equal names mean no net change since.
  const asItBegan = record.spec.fingerprint.startsWith(`sha256:${record.spec.episode.slice(0, 8)}`)
  // No time passes in a recording.
  const changing =
    !cluster.recorded &&
    !asItBegan &&
    resting !== undefined &&
    resting > record.spec.began &&
    addSeconds(resting, policy.detect.settle) > cluster.observedAt
  const waits =
    report.status.snoozedUntil === undefined &&
    addSeconds(opened, policy.remindAfter) <= cluster.observedAt
  const overdue = waits && addSeconds(opened, policy.escalateAfter) <= cluster.observedAt
  return [
    ...(changing ? [{ kind: 'changing' } as const] : []),
    ...(waits ? [{ kind: 'stale', since: opened } as const] : []),
    ...(overdue ? [{ kind: 'overdue', since: opened, after: policy.escalateAfter } as const] : []),
  ]
}

export function findAdoptWindow({
  policy,
  cluster,
  verdicts,
}: Pick<Observation, 'policy' | 'cluster' | 'verdicts'>): (drift: Drift) => boolean {
  const windows = policy.windows.filter(({ kind }) => kind === 'adopt')
  if (windows.length === 0) return () => false
  const isLabelled = createLabelWindowTest(windows.every(isScheduled) ? [] : verdicts)
  return (drift) => {
    const { actor, id } = drift
    if (actor.class !== 'human-tool') return false
    const at =
      actor.at === undefined || actor.at > cluster.observedAt ? cluster.observedAt : actor.at
    return windows.some((window) =>
      isScheduled(window)
        ? findWindowEnd(window, at) !== undefined
        : isLabelled(window, id) && !canOpenWindow(window, drift),
    )
  }
}
