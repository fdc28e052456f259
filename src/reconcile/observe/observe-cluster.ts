import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldSchema, UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import { getTextAt } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { describeMost } from '@backporch/kyaml/read-yaml'
import { omitSops } from '@backporch/kyaml/redaction'
import {
  getResourceKey,
  type InventoryRef,
  type LiveState,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { findSyncer, writesThroughHelm } from '../../drift/attribute/syncer.ts'
import type { ObjectVerdict, SyncerManager } from '../../drift/compare/drift.ts'
import { setGoneAside } from '../../drift/compare/set-aside-gone.ts'
import { detectDrift } from '../../drift/detect/detect-drift.ts'
import type { ObservedObject } from '../../drift/detect/object-comparison.ts'
import { applyVisibility } from '../../drift/noise/visibility.ts'
import type { Boundary } from '../../policy/boundary.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { Claim } from '../../syncers/syncer.ts'
import { mapConcurrent } from '../repository/each-of.ts'
import { decideBehind, type UnitSources } from './decide-behind.ts'
import { type EarlierAnswers, type JudgeOptions, ObjectJudge } from './judge-object.ts'
import { keepCovered } from './keep-covered.ts'
import { NOT_ANSWERED } from './own-resources.ts'
import { type ClaimedSide, isPlaced, type Placed, type Unplaced } from './read-live-sides.ts'
import { createEarlierReader, type UnitPlainValues } from './read-plain-values.ts'
import { findHookRunners, type UnexpectedObjects } from './read-unexpected.ts'
import { reportVerdicts } from './report-verdicts.ts'
import type { CachedUnit } from './unit-cache.ts'
import type { UnitVerdicts } from './verdicts/cluster-verdicts.ts'

/**
 * Per unit: the server's limit per client is far higher, but each takes 3 ms of its CPU (measured).
 */
const PREDICTION_WIDTH = 8
/** Per package, about four KiB each until the turn ends. */
const MOST_DIFFERENCES = 20_000

export interface PackageSide {
  readonly read: ClaimedSide
  readonly known: CachedUnit
  readonly unexpected: UnexpectedObjects
  readonly earlier: EarlierAnswers
  readonly rows: UnitVerdicts | undefined
  readonly sources: UnitSources
  /** Undefined if nothing is encrypted or may be decrypted. */
  readonly decrypted?: UnitPlainValues | undefined
  /** Of placements; undefined: live objects show it. */
  readonly boundary?: Boundary | undefined
}

export interface ClusterSide {
  readonly identity: ClusterIdentity
  readonly syncer: SyncerManager | undefined
  readonly verdicts: readonly ObjectVerdict[]
  /** By `getResourceKey`; only covered objects. */
  readonly live: ReadonlyMap<string, LiveState>
  readonly claims: readonly Claim[]
  readonly incomplete: readonly Incomplete[]
  readonly notes: readonly Note[]
}

export interface ReadCluster {
  readonly reader: ClusterReader
  readonly identity: ClusterIdentity
}

/** @throws Failure BP40xx when git fails */
export async function observeCluster(
  { reader, identity }: ReadCluster,
  side: PackageSide,
  policy: EffectivePolicy,
  signal: AbortSignal,
): Promise<ClusterSide> {
  const { read, known, unexpected } = side
  const { claims } = read
  const unserved = listUnserved(read)
  const everything =
    unserved.length === 0
      ? read.live
      : new Map([...read.live, ...unserved.map(({ id }) => [getResourceKey(id), ABSENT] as const)])
  const syncer = known.syncer.getAnswer(known, [policy.fieldManager], () =>
    findSyncerManager(listObserved(read), policy.fieldManager),
  )
  const stored = writesThroughHelm(syncer) ? unexpected.stored : undefined
  const there = await judgeAll(
    { reader, identity },
    side,
    { syncer, stored, fieldManager: policy.fieldManager },
    signal,
  )
  const { stuckAfter } = policy.detect
  const question = {
    read,
    syncer,
    inventory: unexpected.listed,
    refused: unexpected.refused,
    stored,
    now: identity.observedAt,
    stuckAfter,
  }
  const beside = [
    ...unexpected.verdicts,
    ...unserved.map((resource) => createAbsentVerdict(resource, syncer)),
  ]
  const found = beside.length === 0 ? there : [...there, ...beside]
  const observed = known.visible.getAnswer(found, [policy.visibility], () =>
    selectVisible(found, read, policy),
  )
  const decided = await decideBehind(observed, question, side.sources, signal)
  const covering = {
    detected: there,
    decided,
    live: everything,
    schemas: mapSchemas(read),
    syncer,
    unexpected,
  }
  const { verdicts, live, incomplete, notes } = keepCovered(covering, side.boundary, known)
  const unknown = read.resources.filter(
    (each): each is Unplaced => !isPlaced(each) && !unserved.includes(each.resource),
  )
  const all =
    unknown.length === 0 ? verdicts : [...verdicts, ...unknown.map(createUnreadableVerdict)]
  return {
    identity,
    syncer,
    verdicts: await reportVerdicts(all, { reader, identity, syncer, side }, policy, signal),
    live,
    claims,
    incomplete,
    notes,
  }
}

const ABSENT = { state: 'absent' } as const

function listUnserved({ resources, live }: ClaimedSide): readonly DesiredResource[] {
  const absent = new Set(
    resources.filter(isPlaced).flatMap(({ resource: { id, object } }) => {
      const isGone =
        id.kind === 'CustomResourceDefinition' && live.get(getResourceKey(id))?.state === 'absent'
      return isGone
        ? [`${getTextAt(object, 'spec', 'group')}/${getTextAt(object, 'spec', 'names', 'kind')}`]
        : []
    }),
  )
  if (absent.size === 0) return []
  return resources.flatMap((each) =>
    !isPlaced(each) &&
    each.failure.code === 'BP3009' &&
    absent.has(`${each.resource.id.group}/${each.resource.id.kind}`)
      ? [each.resource]
      : [],
  )
}

function createAbsentVerdict(
  desired: DesiredResource,
  syncer: SyncerManager | undefined,
): ObjectVerdict {
  return detectDrift(
    { desired, live: ABSENT, schema: UNKNOWN_SCHEMA, prediction: undefined },
    syncer,
  )
}

function mapSchemas({ resources }: ClaimedSide): ReadonlyMap<string, FieldSchema> {
  return new Map(
    resources.filter(isPlaced).map(({ resource, schema }) => [getResourceKey(resource.id), schema]),
  )
}

function selectVisible(
  found: readonly ObjectVerdict[],
  read: ClaimedSide,
  { visibility }: EffectivePolicy,
): readonly ObjectVerdict[] {
  const schemas = mapSchemas(read)
  return found.map((verdict) =>
    applyVisibility(verdict, schemas.get(getResourceKey(verdict.id)) ?? UNKNOWN_SCHEMA, visibility),
  )
}

interface Applying {
  readonly syncer: SyncerManager | undefined
  readonly stored: UnexpectedObjects['stored']
  readonly fieldManager: string | undefined
}

function createTooManyDifferencesFailure(packagePath: string): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the package is not compared',
    where: packagePath || '.',
    why: `its objects differ in ${describeMost(MOST_DIFFERENCES)} fields`,
    remedy: 'split the package, or correct the objects that differ most',
    retry: 'backoff',
  })
}

async function judgeAll(
  { reader, identity }: ReadCluster,
  { read, known, earlier, rows, decrypted, sources: { key, unit, history } }: PackageSide,
  { syncer, stored, fieldManager }: Applying,
  signal: AbortSignal,
): Promise<readonly ObjectVerdict[]> {
  const manager = syncer?.manager ?? fieldManager ?? 'kubectl'
  const given = [
    manager,
    syncer,
    stored,
    key,
    earlier.verdicts.forgotten,
    earlier.creations.forgotten,
    decrypted?.plain.size,
  ]
  const before = known.judged.findRemembered(known, given, Date.parse(identity.observedAt))
  if (before !== undefined) {
    for (const verdict of before)
      rows?.confirm(
        read.live.get(getResourceKey(verdict.id)) ?? NOT_ANSWERED,
        verdict,
        Date.parse(identity.observedAt),
      )
    return before
  }
  const judgeAt = (
    observedAt: string,
    more: Pick<JudgeOptions, 'readEarlier'> = {},
  ): ObjectJudge => {
    const options = { syncer, key, known: rows, plain: decrypted?.plain, ...more }
    return new ObjectJudge(
      reader,
      { cluster: reader.name, identity: { ...identity, observedAt }, manager },
      options,
      earlier,
    )
  }
  // No history is read between turns: what it may explain starts a turn.
  const at = (observedAt: string): ObjectJudge => judgeAt(observedAt)
  const judge = judgeAt(
    identity.observedAt,
    decrypted === undefined ? {} : { readEarlier: createEarlierReader(decrypted, history, signal) },
  )
  const objects = listObserved(read).map((observed) => ({
    ...observed,
    stored: stored?.get(getResourceKey(observed.desired.id)),
  }))
  let differences = 0
  const detected = await mapConcurrent(objects, PREDICTION_WIDTH, async (object) => {
    const verdict = await judge.judge(object, signal)
    differences += verdict.items.length
    if (differences > MOST_DIFFERENCES) throw createTooManyDifferencesFailure(unit.packagePath)
    return verdict
  })
  earlier.clusters.get(reader.name)?.judges.keep(unit.packagePath, {
    at,
    syncerOf: (object) => findSyncerManager([object], fieldManager),
    syncer,
    objects: objects.map(({ live: _live, ...object }) => object),
  })
  const runners = findHookRunners(read.claims, syncer)
  const there = detected.map((verdict) => setGoneAside(verdict, runners))
  return known.judged.keep(known, given, there, judge.until)
}

export function followOthers(
  {
    rows,
    read,
    unexpected,
    sources: { own, claims },
  }: Pick<PackageSide, 'rows' | 'read' | 'unexpected' | 'sources'>,
  inventory: InventoryRef | undefined,
): void {
  if (rows === undefined) return
  if (inventory?.name !== undefined)
    rows.follow(
      { id: createResourceGroupId(inventory.namespace, inventory.name), apiVersion: '' },
      'report',
      read.inventory === undefined ? { state: 'absent' } : undefined,
    )
  for (const { id, apiVersion } of unexpected.verdicts)
    rows.follow({ id, apiVersion }, 'other', unexpected.live.get(getResourceKey(id)))
  for (const wanted of [...read.claims, ...claims].flatMap((claim) => claim.wanted))
    rows.follow(wanted, 'report', own.findAnswered(wanted.id))
  rows.retainTouched()
}

function createResourceGroupId(namespace: string, name: string): ResourceId {
  return { group: 'kpt.dev', kind: 'ResourceGroup', namespace, name }
}

function listObserved({
  live,
  resources,
}: ClaimedSide): readonly Omit<ObservedObject, 'prediction'>[] {
  return resources.filter(isPlaced).map(({ resource, schema }: Placed) => ({
    desired: { ...resource, object: omitSops(resource.object) },
    schema,
    live: live.get(getResourceKey(resource.id)) ?? NOT_ANSWERED,
  }))
}

function findSyncerManager(
  observed: readonly Omit<ObservedObject, 'prediction'>[],
  fieldManager: string | undefined,
): SyncerManager | undefined {
  const applied = observed.flatMap(({ desired, live, schema }) =>
    live.state === 'present' ? [{ desired: desired.object, live: live.object, schema }] : [],
  )
  return findSyncer(applied, fieldManager)
}

function createUnreadableVerdict({ resource, failure }: Unplaced): ObjectVerdict {
  return {
    id: resource.id,
    apiVersion: resource.apiVersion,
    desired: resource,
    state: failure.code === 'BP3017' ? 'outside' : 'unreadable',
    proof: 'none',
    items: [],
    setAside: [],
    failure,
    reapplyFails: undefined,
  }
}

/**
 * Drift that ownership shows is only a part: the rest of the object is unknown.
 * @param verdict as in the ledger: what is set aside is no longer drift
 */
export function listVerdictIncomplete({
  id,
  desired,
  state,
  items,
  failure,
  reapplyFails,
}: ObjectVerdict): Incomplete[] {
  // Drift is reported with the refusal of a re-apply. What waits is not, because it would wait
  // forever. A Secret that is never read stays unknown.
  const answered =
    (items.length > 0 && reapplyFails !== undefined) || items.some(({ liveUnread }) => liveUnread)
  if (failure === undefined || state === 'in-sync' || answered) return []
  const { code, why } = failure
  const remedy =
    state === 'blocked' && desired !== undefined
      ? `${failure.remedy} (${desired.location.path}:${desired.location.line})`
      : failure.remedy
  const known =
    state === 'unreadable' || state === 'blocked' || state === 'outside' ? state : 'unverified'
  return [
    {
      ref: { group: id.group, kind: id.kind, namespace: id.namespace, name: id.name },
      state: known,
      code,
      why,
      remedy,
    },
  ]
}
