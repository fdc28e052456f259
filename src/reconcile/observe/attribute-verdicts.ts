/** Reads the audit log about the differences, once per package, and names their writers. */

import { attribute } from '../../drift/attribute/attribution.ts'
import type { ObjectVerdict, SyncerManager } from '../../drift/drift.ts'
import { overrideRisks } from '../../drift/risk/risk-overrides.ts'
import { asFailure } from '../../failure.ts'
import type { AuditedWrite } from '../../krm/audit-event.ts'
import type { RedactionKey } from '../../krm/redaction/redacted.ts'
import type { Note } from '../../note.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import type { AuditSource } from '../../ports/audit-source.ts'
import { knownActors, withKnownActors } from '../../record/known-actors.ts'
import type { DriftReport } from '../../record/schema.ts'

export interface AttributionSources {
  readonly cluster: string
  /** Undefined without an audit log: then field managers alone are named. */
  readonly audit: AuditSource | undefined
  readonly policy: EffectivePolicy
  /** Of the ledger. */
  readonly report: DriftReport | undefined
  readonly key: RedactionKey
  /** Called with the parts of the log that could not be read. */
  readonly onNote: (note: Note) => void
}

/** A log that cannot be read hides no drift: it is reported, and no writer is named by it. @throws only the reason of `signal` */
export async function attributeVerdicts(
  verdicts: readonly ObjectVerdict[],
  syncer: SyncerManager | undefined,
  { cluster, audit, policy, report, key, onNote }: AttributionSources,
  signal: AbortSignal,
): Promise<readonly ObjectVerdict[]> {
  const wanted = verdicts.flatMap(({ id, items }) => (items.length === 0 ? [] : [id]))
  let writes: ReadonlyMap<string, readonly AuditedWrite[]> = new Map()
  if (audit !== undefined && wanted.length > 0) {
    try {
      const answer = await audit.writesTo(cluster, wanted, signal)
      writes = answer.writes
      for (const text of answer.notes) onNote({ cause: 'audit-log-not-read', subject: '', text })
    } catch (thrown) {
      signal.throwIfAborted()
      const { what, why } = asFailure(thrown)
      onNote({ cause: 'audit-log-not-read', subject: '', text: `${what}: ${why}; field managers alone are named` })
    }
  }
  const known = knownActors(report)
  const by = { syncer, rules: policy.actors, writes }
  return verdicts.map((verdict) =>
    overrideRisks(withKnownActors(attribute(verdict, by), known, report?.spec.observed.at ?? '', key), policy.riskOverrides),
  )
}
