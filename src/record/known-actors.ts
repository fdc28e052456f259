/** An audit log is stored for days, but drift may wait for weeks. */
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { Drift, ObjectVerdict } from '../drift/compare/drift.ts'
import { computeItemFingerprint } from '../drift/compare/fingerprint.ts'
import type { Change } from './documents/change.ts'
import type { DriftReport } from './documents/drift-report.ts'

type KnownActors = ReadonlyMap<string, Change['actor']>

export function collectKnownActors(report: DriftReport | undefined): KnownActors {
  const changes = report?.spec.changes.filter(({ actor }) => actor.user !== undefined) ?? []
  return new Map(changes.map(({ fingerprint, actor }) => [fingerprint, actor]))
}

/** If none is known now, and no other manager or later write came in between. */
export function applyKnownActors(
  verdict: ObjectVerdict,
  known: KnownActors,
  seenAt: string,
  key: RedactionKey,
): ObjectVerdict {
  if (known.size === 0 || verdict.items.length === 0) return verdict
  const items = verdict.items.map((drift) => applyKnown(drift, known, seenAt, key))
  return { ...verdict, items }
}

/** @param seenAt RFC 3339 UTC: a later write may be another user's */
function applyKnown(drift: Drift, known: KnownActors, seenAt: string, key: RedactionKey): Drift {
  const { actor } = drift
  if (actor.user !== undefined || (actor.at !== undefined && actor.at > seenAt)) return drift
  const before = known.get(computeItemFingerprint(drift, key))
  if (before?.user === undefined) return drift
  const owned = actor.confidence === 'field-manager'
  if (
    owned &&
    (before.manager !== actor.manager ||
      before.subresource !== (actor.subresource === '' ? undefined : actor.subresource))
  )
    return drift
  const {
    manager,
    operation,
    subresource = '',
    class: kind,
    at,
    confidence,
    user,
    actingAs,
  } = before
  return {
    ...drift,
    actor: {
      ...actor,
      manager,
      operation: operation || undefined,
      subresource,
      class: kind,
      at: at || undefined,
      confidence,
      user,
      ...(actingAs === undefined ? {} : { actingAs }),
    },
  }
}
