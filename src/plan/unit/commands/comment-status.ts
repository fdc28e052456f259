import { Failure } from '@backporch/kyaml/failure'
import type { DriftRecord, Plan } from '../../../record/documents/drift-record.ts'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import type { Observation, ResolutionRequest } from '../../observation/observation.ts'

type Planned = Pick<DriftRecord['spec'], 'plannedBy' | 'plannedBefore'>

/** A resolution request without a stored requester clears both. `previous` is the open record. */
export function attributePlan(
  resolutionRequest: ResolutionRequest | undefined,
  previous: DriftRecord['spec'] | undefined,
  plan: Plan,
): Planned {
  const before = previous?.plannedBefore
  const retained = before === undefined || before === plan ? {} : { plannedBefore: before }
  if (resolutionRequest === undefined)
    return previous?.plannedBy === undefined ? {} : { plannedBy: previous.plannedBy, ...retained }
  if (resolutionRequest.by === undefined) return {}
  const changed = previous !== undefined && previous.plan !== plan
  return {
    plannedBy: resolutionRequest.by,
    ...(changed ? { plannedBefore: previous.plan } : retained),
  }
}

type Status = Pick<DriftReport['status'], 'episode' | 'lifecycle'>

export function createNoSnoozeFailure(why: string): Failure {
  return new Failure({
    code: 'BP2008',
    what: 'there is nothing to snooze',
    why,
    remedy: 'snooze when a proposal is open: restore, adopt and release propose what differs',
    retry: 'on-change',
  })
}

/** Requested now, or an unexpired one of this episode. */
export function computeSnooze(
  { snoozeUntil, git, cluster }: Observation,
  { episode, lifecycle }: Status,
): { readonly snoozedUntil?: string } {
  const before = git.ledger.report?.status
  const until = snoozeUntil ?? (before?.episode === episode ? before.snoozedUntil : undefined)
  return lifecycle === 'Proposed' && until !== undefined && until > cluster.observedAt
    ? { snoozedUntil: until }
    : {}
}
