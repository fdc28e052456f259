/** The cluster side of one unit: live objects, dry runs where ownership proves nothing, inventory, verdicts and health. */
import { classifyIgnored } from '../drift/classify-ignored.ts'
import { classifyNoise } from '../drift/classify-noise.ts'
import type { ObservedObject } from '../drift/detect-drift.ts'
import type { ObjectVerdict, Syncer } from '../drift/drift.ts'
import { setGoneAside } from '../drift/set-aside-gone.ts'
import { findSyncer, writesThroughHelm } from '../drift/syncer.ts'
import { withVisibility } from '../drift/visibility.ts'
import { UNKNOWN_SCHEMA } from '../krm/field-schema.ts'
import type { JsonObject } from '../krm/json.ts'
import type { LiveState } from '../krm/live-view.ts'
import { type ResourceId, resourceKey } from '../krm/resource-id.ts'
import { withoutSops } from '../krm/sops.ts'
import type { EffectivePolicy } from '../policy/effective-policy.ts'
import type { ClusterIdentity, ClusterReader } from '../ports/cluster.ts'
import type { Incomplete } from '../record/schema.ts'
import { type AttributionSources, attributeVerdicts } from './attribute-verdicts.ts'
import { decideBehind, type LagSources } from './decide-behind.ts'
import { eachOf } from './each-of.ts'
import { type EarlierAnswers, ObjectJudge } from './judge-object.ts'
import { isPlaced, type LiveSide, type Unplaced } from './read-live-sides.ts'
import { readScalers } from './read-scalers.ts'
import { hookRunnersOf, NOT_ANSWERED, type UnexpectedObjects } from './read-unexpected.ts'

/** Dry runs in flight for one unit: the server's own limit per client is far higher, its CPU is not (3 ms each, measured). */
const PREDICTION_WIDTH = 8

export interface PackageSide {
  readonly read: LiveSide
  /** What inventories list beyond git. */
  readonly unexpected: UnexpectedObjects
  /** What tells a syncer that is behind from a person who wrote. */
  readonly lag: LagSources
  /** What dry runs said. */
  readonly earlier: EarlierAnswers
  /** What tells who it was. */
  readonly who: AttributionSources
}

export interface ClusterSide {
  readonly identity: ClusterIdentity
  readonly syncer: Syncer | undefined
  readonly verdicts: readonly ObjectVerdict[]
  /** Live objects by `resourceKey`, for the health. */
  readonly live: ReadonlyMap<string, LiveState>
  /** Beside what the verdicts say. */
  readonly incomplete: readonly Incomplete[]
}

/** Judges what was read, and asks for dry runs where that proves nothing. @throws Failure BP40xx when git fails */
export async function observeCluster(
  reader: ClusterReader,
  identity: ClusterIdentity,
  side: PackageSide,
  policy: EffectivePolicy,
  signal: AbortSignal,
): Promise<ClusterSide> {
  const { live, resources } = side.read
  const known = resources.filter(isPlaced)
  const unknown = resources.filter((each): each is Unplaced => !isPlaced(each))
  const observed = known.map(({ resource, schema }) => ({
    desired: { ...resource, object: withoutSops(resource.object) },
    schema,
    live: live.get(resourceKey(resource.id)) ?? NOT_ANSWERED,
  }))
  const syncer = syncerOf(observed, policy)
  const stored = writesThroughHelm(syncer) ? side.unexpected.stored : undefined
  const manager = syncer?.manager ?? policy.fieldManager ?? 'kubectl'
  const judge = new ObjectJudge(reader, { cluster: reader.name, identity, manager }, { syncer, key: side.who.key }, side.earlier)
  const detected = await eachOf(observed, PREDICTION_WIDTH, (seen) =>
    judge.judge({ ...seen, stored: stored?.get(resourceKey(seen.desired.id)) }, signal),
  )
  const { unexpected } = side
  const runners = hookRunnersOf(live, syncer)
  const there = detected.map((verdict) => setGoneAside(verdict, runners))
  const question = { read: side.read, syncer, inventory: unexpected.listed, stored, now: identity.observedAt }
  const schemas = new Map(known.map(({ resource, schema }) => [resourceKey(resource.id), schema]))
  const seen = [...there, ...unexpected.verdicts].map((verdict) =>
    withVisibility(verdict, schemas.get(resourceKey(verdict.id)) ?? UNKNOWN_SCHEMA, policy.visibility),
  )
  const verdicts = await decideBehind(seen, question, side.lag, signal)
  const all = [...verdicts, ...unknown.map(unreadableVerdict)]
  const today = identity.observedAt.slice(0, 10)
  const scalers = await readScalers(reader, identity, all, signal)
  const noise = { presets: policy.presets, syncer, scalers, liveOf: (id: ResourceId) => presentIn(live, id) }
  // Before the ignore rules, which may be about a manager that only the audit log knows.
  const told = await attributeVerdicts(
    all.map((verdict) => classifyNoise(verdict, noise)),
    syncer,
    side.who,
    signal,
  )
  return {
    identity,
    syncer,
    verdicts: told.map((verdict) => classifyIgnored(verdict, policy.ignore, today)),
    live,
    incomplete: unexpected.incomplete,
  }
}

function presentIn(live: ReadonlyMap<string, LiveState>, id: ResourceId): JsonObject | undefined {
  const state = live.get(resourceKey(id))
  return state?.state === 'present' && !state.metadataOnly ? state.object : undefined
}

function syncerOf(observed: readonly Omit<ObservedObject, 'prediction'>[], policy: EffectivePolicy): Syncer | undefined {
  const applied = observed.flatMap(({ desired, live, schema }) =>
    live.state === 'present' ? [{ desired: desired.object, live: live.object, schema }] : [],
  )
  return findSyncer(applied, policy.fieldManager)
}

function unreadableVerdict({ resource, failure }: Unplaced): ObjectVerdict {
  return {
    id: resource.id,
    apiVersion: resource.apiVersion,
    desired: resource,
    state: 'unreadable',
    proof: 'none',
    items: [],
    setAside: [],
    failure,
    reapplyFails: undefined,
  }
}

/**
 * Drift that ownership shows while nobody could answer the dry run is only a part: the rest of the object is not known.
 * @param verdict as the ledger has it: what is set aside is not drift any more
 */
export function incompleteOf({ id, state, items, setAside, failure, reapplyFails }: ObjectVerdict): Incomplete[] {
  // A refusal is an answer, also to what is set aside, and of a Secret that is never read nothing more will be known later.
  const differed = items.length > 0 || setAside.length > 0
  const answered = (differed && reapplyFails !== undefined) || items.some(({ liveUnread }) => liveUnread)
  if (failure === undefined || state === 'in-sync' || answered) return []
  const { code, why, remedy } = failure
  const known = state === 'unreadable' || state === 'blocked' ? state : 'unverified'
  return [{ ref: { group: id.group, kind: id.kind, namespace: id.namespace, name: id.name }, state: known, code, why, remedy }]
}
