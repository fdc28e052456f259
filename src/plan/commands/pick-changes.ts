/** Which differences are open for a decision, and what is planned for each. */

import { itemFingerprint } from '../../drift/compare/fingerprint.ts'
import type { Drift, ObjectVerdict, Resolution } from '../../drift/drift.ts'
import { Failure } from '../../failure.ts'
import { type RedactionKey, sameKey } from '../../krm/redaction/redacted.ts'
import { shownPath } from '../../krm/redaction/shown-path.ts'
import { resourceKey } from '../../krm/resource-id.ts'
import { editFor } from '../../proposal/resolution-edits.ts'
import type { ClosedEpisode, DriftRecord, Plan } from '../../record/schema.ts'
import type { DesiredResource } from '../../render/desired-set.ts'
import type { Wish } from '../turn/observation.ts'

/** A difference with its place in git and what is planned for it. */
export interface PlannedChange {
  readonly drift: Drift
  readonly desired: DesiredResource | undefined
  /** Item fingerprint, 16 hex digits. */
  readonly fingerprint: string
  readonly resolution: Resolution
  /** Which of several equal places in git is edited; undefined where nobody chose. */
  readonly via?: string | undefined
}

type OpenChange = Omit<PlannedChange, 'resolution'>

/** By the verdicts: a turn asks for it many times, and the next turn again where nothing changed. */
const CHANGES = new WeakMap<readonly ObjectVerdict[], { readonly key: RedactionKey; readonly changes: readonly OpenChange[] }>()

/** Every difference of the verdicts, in their order. */
export function allChanges(verdicts: readonly ObjectVerdict[], key: RedactionKey): readonly OpenChange[] {
  const before = CHANGES.get(verdicts)
  if (before !== undefined && sameKey(before.key, key)) return before.changes
  const changes = verdicts.flatMap(({ items, desired }) =>
    items.map((drift) => ({ drift, desired, fingerprint: itemFingerprint(drift, key) })),
  )
  CHANGES.set(verdicts, { key, changes })
  return changes
}

/** Merged decisions that live does not agree with yet, or was not seen to agree with. */
export function unverifiedMerges(closed: readonly ClosedEpisode[]): ClosedEpisode[] {
  return closed.filter(({ status }) => status.outcome === 'Merged' && status.verifiedAt === undefined)
}

/** Fingerprints of changes that a merged Restore authorised to go back and that are still live. */
export function applyingFingerprints(closed: readonly ClosedEpisode[]): ReadonlySet<string> {
  const waiting = unverifiedMerges(closed).filter(({ status }) => status.failedAt === undefined)
  const restored = waiting.flatMap(({ spec }) => spec.changes.filter(({ resolution }) => resolution === 'Restore'))
  return new Set(restored.map(({ fingerprint }) => fingerprint))
}

/** A rejected drift is silent for exactly its fingerprint, until a time. `at` is RFC 3339 UTC, as is everything compared. */
export function silencedUntil(closed: readonly ClosedEpisode[], fingerprint: string, at: string): string | undefined {
  const latest = closed.filter(({ spec, status }) => spec.fingerprint === fingerprint && status.outcome === 'Declined').at(-1)
  const until = latest?.status.silentUntil
  return until !== undefined && until > at ? until : undefined
}

/** What was planned for changes the last time, by the changes, which are of one installation key. */
const LAST = new WeakMap<readonly OpenChange[], readonly PlannedChange[]>()
/** By the changes, and by those of a record that says what is planned for all of them: then nothing else has a part in it. */
const RECORDED = new WeakMap<
  readonly OpenChange[],
  WeakMap<DriftRecord['spec']['changes'], { readonly keyId: string; readonly planned: readonly PlannedChange[] }>
>()

/**
 * A wish decides about the changes that it names; the open record about those that it knows; the policy about the rest, where
 * what it says can be done: what nobody asked for must not keep drift from being shown and recorded.
 */
export function planResolutions(
  changes: readonly OpenChange[],
  open: DriftRecord | undefined,
  wish: Wish | undefined,
  byPolicy: (change: OpenChange) => Resolution,
  key: RedactionKey,
): readonly PlannedChange[] {
  if (wish === undefined && open !== undefined) {
    const before = RECORDED.get(changes)?.get(open.spec.changes)
    if (before?.keyId === open.spec.keyId) return before.planned
  }
  // Fingerprints of another installation key say nothing. The place tells which change was meant, also when its value moved on:
  // what somebody chose for a field stays chosen, and the new value has to be approved all the same.
  const chosen = open?.spec.changes ?? []
  const byFingerprint = new Map(open?.spec.keyId === key.id ? chosen.map((change) => [change.fingerprint, change]) : [])
  const byPlace = new Map(chosen.map((change) => [`${change.change} ${resourceKey(change.ref)}#${change.path ?? ''}`, change]))
  const choices = wish === undefined ? [] : [wish, ...(wish.more ?? [])]
  let isRecorded = wish === undefined
  const now = changes.map((change): PlannedChange => {
    const wished = choices.findLast((choice) => choice.changes === undefined || choice.changes.has(change.fingerprint))
    const { id, path, change: kind } = change.drift
    const known = byFingerprint.get(change.fingerprint) ?? byPlace.get(`${kind} ${resourceKey(id)}#${shownPath(key, id, path)}`)
    isRecorded &&= known !== undefined
    const { resolution, via } = wished ?? known ?? { resolution: byPolicy(change), via: undefined }
    return { ...change, resolution, ...(via === undefined ? {} : { via }) }
  })
  const last = LAST.get(changes)
  // The same plan is the same list, so that what is said of it is known.
  const planned = last?.every(({ resolution, via }, at) => resolution === now[at]?.resolution && via === now[at]?.via) ? last : now
  LAST.set(changes, planned)
  if (isRecorded && open !== undefined)
    RECORDED.set(changes, (RECORDED.get(changes) ?? new WeakMap()).set(open.spec.changes, { keyId: open.spec.keyId, planned }))
  return planned
}

export function planOf(resolutions: readonly Resolution[]): Plan {
  const [first] = resolutions
  return first !== undefined && resolutions.every((resolution) => resolution === first) ? first : 'Mixed'
}

/** The policy's resolution where the change can have it; Restore, which edits nothing, otherwise. */
export function possibleResolution(change: OpenChange, wanted: Resolution): Resolution {
  try {
    editFor({ ...change, resolution: wanted })
    return wanted
  } catch (thrown) {
    if (thrown instanceof Failure) return 'Restore'
    throw thrown
  }
}
