import type { DesiredResource } from '@backporch/kpt/desired-set'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { formatShownPath, type RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict, Resolution } from '../../../drift/compare/drift.ts'
import { computeItemFingerprint } from '../../../drift/compare/fingerprint.ts'
import type { ClosedEpisode } from '../../../record/documents/closed-episode.ts'
import type { DriftRecord, Plan } from '../../../record/documents/drift-record.ts'
import { createEdit } from '../../../sources/edits/resolution-edits.ts'
import type { ResolutionRequest } from '../../observation/observation.ts'

export interface PlannedChange {
  readonly drift: Drift
  readonly desired: DesiredResource | undefined
  /** 16 hex digits. */
  readonly fingerprint: string
  readonly resolution: Resolution
  /** Which of several equal locations in git is edited. */
  readonly via?: string | undefined
}

export type OpenChange = Omit<PlannedChange, 'resolution'>

export function listAllChanges(
  verdicts: readonly ObjectVerdict[],
  key: RedactionKey,
): readonly OpenChange[] {
  return key.derived.get(verdicts, 'changes', [], () =>
    verdicts.flatMap(({ items, desired }) =>
      items.map((drift) => ({ drift, desired, fingerprint: computeItemFingerprint(drift, key) })),
    ),
  )
}

/** Or was not observed to match. */
export function listUnverifiedMerges(closed: readonly ClosedEpisode[]): ClosedEpisode[] {
  return closed.filter(
    ({ status }) => status.outcome === 'Merged' && status.verifiedAt === undefined,
  )
}

export function listApplyingFingerprints(closed: readonly ClosedEpisode[]): ReadonlySet<string> {
  const waiting = listUnverifiedMerges(closed).filter(({ status }) => status.failedAt === undefined)
  const restored = waiting.flatMap(({ spec }) =>
    spec.changes.filter(({ resolution }) => resolution === 'Restore'),
  )
  return new Set(restored.map(({ fingerprint }) => fingerprint))
}

/** Only for exactly its fingerprint. Times are RFC 3339 UTC. */
export function findSilencedUntil(
  closed: readonly ClosedEpisode[],
  fingerprint: string,
  at: string,
): string | undefined {
  const latest = closed
    .filter(({ spec, status }) => spec.fingerprint === fingerprint && status.outcome === 'Declined')
    .at(-1)
  const until = latest?.status.silentUntil
  return until !== undefined && until > at ? until : undefined
}

/**
 * A request decides the changes that it names, the open record those that it knows, and the policy
 * the rest, if its resolution is possible: a resolution without a request must not prevent drift
 * from being shown and recorded.
 */
export function planResolutions(
  changes: readonly OpenChange[],
  open: DriftRecord | undefined,
  resolutionRequest: ResolutionRequest | undefined,
  {
    byPolicy,
    key,
  }: { readonly byPolicy: (change: OpenChange) => Resolution; readonly key: RedactionKey },
): readonly PlannedChange[] {
  // The plan is then computed once for request and record.
  if (resolutionRequest === undefined && open !== undefined) {
    const recorded = key.derived.get(
      open.spec.changes,
      'recorded',
      [changes, open.spec.keyId],
      () => findRecordedPlan(changes, open, key),
    )
    if (recorded !== undefined) return recorded
  }
  const known = indexRecordedChoices(open, key)
  const planned = changes.map((change): PlannedChange => {
    return addResolution(
      change,
      findRequestedChoice(resolutionRequest, change) ??
        known(change) ?? { resolution: byPolicy(change) },
    )
  })
  return retainSamePlan(changes, planned, key)
}

export function findRequestedChoice(
  request: ResolutionRequest | undefined,
  { fingerprint }: Pick<OpenChange, 'fingerprint'>,
) {
  const choices = request === undefined ? [] : [request, ...(request.more ?? [])]
  return choices.findLast(({ changes }) => changes === undefined || changes.has(fingerprint))
}

type Choice = Pick<PlannedChange, 'resolution' | 'via'>

function addResolution(change: OpenChange, { resolution, via }: Choice): PlannedChange {
  return { ...change, resolution, ...(via === undefined ? {} : { via }) }
}

function findRecordedPlan(
  changes: readonly OpenChange[],
  open: DriftRecord,
  key: RedactionKey,
): readonly PlannedChange[] | undefined {
  const known = indexRecordedChoices(open, key)
  const planned = changes.flatMap((change) => {
    const choice = known(change)
    return choice === undefined ? [] : [addResolution(change, choice)]
  })
  return planned.length === changes.length ? retainSamePlan(changes, planned, key) : undefined
}

/**
 * Fingerprints of another installation key match nothing. The location identifies the change: the
 * choice for a field stays, and a new value still needs approval.
 */
function indexRecordedChoices(
  open: DriftRecord | undefined,
  key: RedactionKey,
): (change: OpenChange) => Choice | undefined {
  const chosen = open?.spec.changes ?? []
  const byFingerprint = new Map(
    open?.spec.keyId === key.id ? chosen.map((change) => [change.fingerprint, change]) : [],
  )
  const byLocation = new Map(
    chosen.map((change) => [
      `${change.change} ${getResourceKey(change.ref)}#${change.path ?? ''}`,
      change,
    ]),
  )
  return ({ fingerprint, drift: { id, path, change } }) =>
    byFingerprint.get(fingerprint) ??
    byLocation.get(`${change} ${getResourceKey(id)}#${formatShownPath(key, id, path)}`)
}

/** For cached computations. */
function retainSamePlan(
  changes: readonly OpenChange[],
  planned: readonly PlannedChange[],
  key: RedactionKey,
): readonly PlannedChange[] {
  const text = JSON.stringify(planned.map(({ resolution, via }) => [resolution, via]))
  return key.derived.get(changes, 'planned', [text], () => planned)
}

export function getPlan(resolutions: readonly Resolution[]): Plan {
  const [first] = resolutions
  return first !== undefined && resolutions.every((resolution) => resolution === first)
    ? first
    : 'Mixed'
}

/** Otherwise Restore, which edits nothing. */
export function choosePossibleResolution(change: OpenChange, wanted: Resolution): Resolution {
  return catchFailure(() => createEdit({ ...change, resolution: wanted })) instanceof Failure
    ? 'Restore'
    : wanted
}
