/** Reads the audit log about the differences, once per package, and names their writers. */

import { attribute } from '../../drift/attribute/attribution.ts'
import type { ObjectVerdict, SyncerManager } from '../../drift/drift.ts'
import { overrideRisks } from '../../drift/risk/risk-overrides.ts'
import { asFailure } from '../../failure.ts'
import type { AuditedWrite } from '../../krm/audit-event.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import { knownActors, withKnownActors } from '../../record/known-actors.ts'
import type { UnitSources } from './decide-behind.ts'

/** A log that cannot be read is reported, and hides no drift. @throws only the reason of `signal` */
export async function attributeVerdicts(
  verdicts: readonly ObjectVerdict[],
  { syncer, policy }: { readonly syncer: SyncerManager | undefined; readonly policy: EffectivePolicy },
  { unit, git, audit, key, onNote }: UnitSources,
  signal: AbortSignal,
): Promise<readonly ObjectVerdict[]> {
  const wanted = verdicts.flatMap(({ id, items }) => (items.length === 0 ? [] : [id]))
  let writes: ReadonlyMap<string, readonly AuditedWrite[]> = new Map()
  if (audit !== undefined && wanted.length > 0) {
    try {
      const answer = await audit.writesTo(unit.cluster, wanted, signal)
      writes = answer.writes
      for (const text of answer.notes) onNote({ cause: 'audit-log-not-read', subject: '', text })
    } catch (thrown) {
      signal.throwIfAborted()
      const { what, why } = asFailure(thrown)
      onNote({ cause: 'audit-log-not-read', subject: '', text: `${what}: ${why}; field managers alone are named` })
    }
  }
  const { report } = git.ledger
  const known = knownActors(report)
  const by = { syncer, rules: policy.actors, writes }
  return verdicts.map((verdict) =>
    overrideRisks(withKnownActors(attribute(verdict, by), known, report?.spec.observed.at ?? '', key), policy.riskOverrides),
  )
}
