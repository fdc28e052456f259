import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  type AuditedWrite,
  getResourceKey,
  type LiveState,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { attribute } from '../../drift/attribute/attribution.ts'
import type { ObjectVerdict, SyncerManager } from '../../drift/compare/drift.ts'
import { classifyNoise } from '../../drift/detect/classify-noise.ts'
import { classifyIgnored } from '../../drift/noise/classify-ignored.ts'
import { overrideRisks } from '../../drift/risk/risk-overrides.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import { applyKnownActors, collectKnownActors } from '../../record/known-actors.ts'
import type { UnitSources } from './decide-behind.ts'
import type { ClaimedSide } from './read-live-sides.ts'
import { readScalers } from './read-scalers.ts'
import type { CachedUnit } from './unit-cache.ts'

interface Reporting {
  readonly reader: ClusterReader
  readonly identity: ClusterIdentity
  readonly syncer: SyncerManager | undefined
  readonly side: {
    readonly read: ClaimedSide
    readonly known: CachedUnit
    readonly sources: UnitSources
  }
}

export async function reportVerdicts(
  all: readonly ObjectVerdict[],
  { reader, identity, syncer, side: { read, known, sources } }: Reporting,
  policy: EffectivePolicy,
  signal: AbortSignal,
): Promise<readonly ObjectVerdict[]> {
  const today = identity.observedAt.slice(0, 10)
  const scalers = await readScalers(reader, identity, all, signal)
  const { presets, actors, riskOverrides, ignore } = policy
  const { audit, key, git } = sources
  const actorsBefore =
    collectKnownActors(git.ledger.report).size === 0 ? undefined : git.ledger.report
  const given = [syncer, scalers, presets, actors, riskOverrides, ignore, today, actorsBefore, key]
  const before = audit === undefined ? known.reported.findRemembered(all, given) : undefined
  if (before !== undefined) return before
  const noise = { presets, syncer, scalers, liveOf: (id: ResourceId) => findPresent(read.live, id) }
  // Before the ignore rules: they may name a manager that only the audit log reports.
  const reported = await attributeVerdicts(
    all.map((verdict) => classifyNoise(verdict, noise)),
    { syncer, policy },
    sources,
    signal,
  )
  return known.reported.keep(
    all,
    given,
    reported.map((verdict) => classifyIgnored(verdict, ignore, today)),
  )
}

/**
 * An unreadable log hides no drift.
 * @throws only the reason of `signal`
 */
async function attributeVerdicts(
  verdicts: readonly ObjectVerdict[],
  {
    syncer,
    policy,
  }: { readonly syncer: SyncerManager | undefined; readonly policy: EffectivePolicy },
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
      const { what, why } = convertToFailure(thrown)
      onNote({
        cause: 'audit-log-not-read',
        subject: '',
        text: `${what}: ${why}; field managers alone are named`,
      })
    }
  }
  const { report } = git.ledger
  const known = collectKnownActors(report)
  const by = { syncer, rules: policy.actors, writes }
  return verdicts.map((verdict) =>
    overrideRisks(
      applyKnownActors(attribute(verdict, by), known, report?.spec.observed.at ?? '', key),
      policy.riskOverrides,
    ),
  )
}

function findPresent(live: ReadonlyMap<string, LiveState>, id: ResourceId): JsonObject | undefined {
  const state = live.get(getResourceKey(id))
  return state?.state === 'present' && !state.metadataOnly ? state.object : undefined
}
