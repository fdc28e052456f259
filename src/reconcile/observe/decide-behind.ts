/**
 * Decides whether a unit is behind git. History and syncer are read only if a difference needs
 * them.
 */
import type { AuditSource } from '@backporch/cluster/audit'
import type { Note } from '@backporch/kyaml/note'
import { formatShownPath, type RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { setBehindAside } from '../../drift/behind/behind.ts'
import type { PackageHistory, SyncEvidence } from '../../drift/behind/sync-evidence.ts'
import type { Drift, ObjectVerdict, SetAside, SyncerManager } from '../../drift/compare/drift.ts'
import type { StoredManifest } from '../../drift/compare/last-applied.ts'
import type { GitState, Unit } from '../../plan/observation/observation.ts'
import { isWaiting } from '../../plan/observation/waiting-state.ts'
import { createRolloutMemory } from '../../plan/unit/rollout.ts'
import { getChangeRef } from '../../record/build-report.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { MOST_JUDGED } from '../../status/applier.ts'
import { createSyncerReport } from '../../status/syncer-report.ts'
import type { Claim } from '../../syncers/syncer.ts'
import type { OwnResources } from './own-resources.ts'
import type { ClaimedSide } from './read-live-sides.ts'

interface LagQuestion {
  readonly read: Pick<ClaimedSide, 'live' | 'claims'>
  readonly syncer: SyncerManager | undefined
  /** Undefined if there is no inventory or it is unreadable. */
  readonly inventory: ReadonlySet<string> | undefined
  /** By `getResourceKey`. */
  readonly refused: ReadonlyMap<string, string>
  /** Of the syncer's applies, by `getResourceKey`; undefined if it stores none, or if unknown. */
  readonly stored: ReadonlyMap<string, StoredManifest> | undefined
  /** RFC 3339 UTC. */
  readonly now: string
  /** Seconds, from the policy; undefined: from the syncer's interval. */
  readonly stuckAfter: number | undefined
}

export interface UnitSources {
  readonly unit: Unit
  readonly git: Pick<GitState, 'base' | 'baseBranch' | 'treeHash' | 'ledger'>
  readonly history: () => Promise<PackageHistory>
  readonly own: OwnResources
  /**
   * Of the syncer whose resource led to the unit, instead of those that its objects name; empty
   * without one.
   */
  readonly claims: readonly Claim[]
  readonly key: RedactionKey
  /** RFC 3339 UTC: when git was read. */
  readonly present: string
  /** Undefined: only field managers are named. */
  readonly audit: AuditSource | undefined
  readonly onNote: (note: Note) => void
}

/** Seconds. */
const STUCK_AFTER = 3_600
const INTERVALS = 3

/** @throws Failure BP40xx if git fails */
export async function decideBehind(
  verdicts: readonly ObjectVerdict[],
  { read, syncer, inventory, refused, stored, now, stuckAfter }: LagQuestion,
  { unit, history, own, claims: ofUnit, git, key, present }: UnitSources,
  signal: AbortSignal,
): Promise<readonly ObjectVerdict[]> {
  if (!verdicts.some(({ mayBeBehind }) => mayBeBehind !== undefined && mayBeBehind.size > 0))
    return verdicts
  const claims = (ofUnit.length > 0 ? ofUnit : read.claims).slice(0, MOST_JUDGED)
  const [versions, answers] = await Promise.all([history(), own.read(claims, signal)])
  const report = createSyncerReport(claims, answers)
  const evidence: SyncEvidence = {
    history: versions,
    syncer,
    report,
    live: read.live,
    inventory,
    refused,
    stored,
    waitedBefore: findWaitedBefore(git, key),
    memory: createRolloutMemory({ unit, git }, present),
    stuckAfter: stuckAfter ?? Math.max(STUCK_AFTER, INTERVALS * (report.interval ?? 0)),
    now,
    present,
  }
  const decided = setBehindAside(verdicts, evidence)
  return report.title === undefined
    ? decided
    : confirmMissing(decided, { own, title: report.title }, signal)
}

/**
 * The objects were read before the report: one that the syncer applied in between is in the report
 * but was still missing. The next observation compares it.
 */
async function confirmMissing(
  verdicts: readonly ObjectVerdict[],
  { own, title }: { readonly own: OwnResources; readonly title: string },
  signal: AbortSignal,
): Promise<readonly ObjectVerdict[]> {
  const missing = verdicts.filter(({ items }) => items.some(({ change }) => change === 'missing'))
  if (missing.length === 0) return verdicts
  const now = await own.readAgain(
    missing.map(({ id, apiVersion }) => ({ id, apiVersion })),
    signal,
  )
  return verdicts.map((verdict): ObjectVerdict => {
    if (!missing.includes(verdict) || now.get(getResourceKey(verdict.id))?.state !== 'present')
      return verdict
    const why = `${title} applied it while it was compared`
    const aside = verdict.items.map((drift): SetAside => ({ drift, state: 'Reconciling', why }))
    return { ...verdict, state: 'in-sync', items: [], setAside: [...verdict.setAside, ...aside] }
  })
}

function findWaitedBefore(
  { treeHash, baseBranch, ledger }: UnitSources['git'],
  key: RedactionKey,
): SyncEvidence['waitedBefore'] {
  const { report } = ledger
  if (
    report === undefined ||
    report.spec.unit.tree !== treeHash ||
    (report.spec.unit.branch ?? baseBranch) !== baseBranch
  )
    return undefined
  if (report.status.incomplete !== undefined) return undefined
  const waited = new Set(
    (report.status.setAside ?? []).flatMap((aside) =>
      isWaiting(aside.state) ? [formatSetAsideKey(aside)] : [],
    ),
  )
  return (drift: Drift) =>
    waited.has(
      formatSetAsideKey({
        ref: getChangeRef(drift.id),
        ...(drift.path.length === 0 ? {} : { path: formatShownPath(key, drift.id, drift.path) }),
      }),
    )
}

function formatSetAsideKey({
  ref,
  path,
}: Pick<NonNullable<DriftReport['status']['setAside']>[number], 'ref' | 'path'>): string {
  return `${getResourceKey(ref)}#${path ?? ''}`
}
