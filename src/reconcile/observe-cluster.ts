/** The cluster side of one unit: live objects, dry runs where ownership proves nothing, inventory, verdicts and health. */
import { classifyIgnored } from '../drift/classify-ignored.ts'
import { detectDrift, type ObservedObject, unexpectedObject } from '../drift/detect-drift.ts'
import type { ObjectVerdict, Syncer } from '../drift/drift.ts'
import { findSyncer } from '../drift/syncer.ts'
import { asFailure, Failure } from '../failure.ts'
import type { LiveState } from '../krm/live-view.ts'
import { resourceKey } from '../krm/resource-id.ts'
import type { EffectivePolicy } from '../policy/effective-policy.ts'
import type { ClusterIdentity, ClusterReader } from '../ports/cluster.ts'
import type { Incomplete } from '../record/schema.ts'
import { eachOf } from './each-of.ts'
import { withPrediction } from './predict-object.ts'
import { isPlaced, type LiveSide, type Unplaced } from './read-live-sides.ts'

/** Dry runs in flight for one unit: the server's own limit per client is far higher, its CPU is not (3 ms each, measured). */
const PREDICTION_WIDTH = 8

export interface PackageSide {
  /** Files that could not be looked into. */
  readonly unread: readonly string[]
  readonly read: LiveSide
}

export interface ClusterSide {
  readonly identity: ClusterIdentity
  readonly syncer: Syncer | undefined
  readonly verdicts: readonly ObjectVerdict[]
  /** Live objects by `resourceKey`, for the health. */
  readonly live: ReadonlyMap<string, LiveState>
  readonly incomplete: readonly Incomplete[]
}

/** Judges what was read, and asks for dry runs where that proves nothing. @throws only the reason of `signal` */
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
    desired: resource,
    schema,
    live: live.get(resourceKey(resource.id)) ?? NOT_ANSWERED,
  }))
  const syncer = syncerOf(observed, policy)
  const manager = syncer?.manager ?? policy.fieldManager ?? 'kubectl'
  const verdicts = await eachOf(observed, PREDICTION_WIDTH, async (object) =>
    detectDrift(await withPrediction(reader, object, syncer, manager, signal), syncer),
  )
  const inventory = await readUnexpected(reader, side, identity.namespace, signal)
  const all = [...verdicts, ...unknown.map(unreadableVerdict), ...inventory.verdicts]
  const today = identity.observedAt.slice(0, 10)
  return {
    identity,
    syncer,
    verdicts: all.map((verdict) => classifyIgnored(verdict, policy.ignore, today)),
    live,
    incomplete: [...all.flatMap(incompleteOf), ...inventory.incomplete],
  }
}

// A reader answers every id; one that does not is at fault, and its silence is not absence.
const NOT_ANSWERED: Extract<LiveState, { state: 'unreadable' }> = {
  state: 'unreadable',
  failure: asFailure(new Error('the cluster adapter gave no answer for a wanted object')),
}

function syncerOf(observed: readonly Omit<ObservedObject, 'prediction'>[], policy: EffectivePolicy): Syncer | undefined {
  if (policy.fieldManager !== undefined) return { manager: policy.fieldManager, operation: 'Apply', subresource: '' }
  return findSyncer(
    observed.flatMap(({ desired, live, schema }) =>
      live.state === 'present' ? [{ desired: desired.object, live: live.object, schema }] : [],
    ),
  )
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

/** Drift that ownership shows while nobody could answer the dry run is only a part: the rest of the object is not known. */
function incompleteOf({ id, state, items, failure, reapplyFails }: ObjectVerdict): Incomplete[] {
  // A refusal is an answer, and of a Secret that is never read nothing more will be known later.
  const answered = state === 'drifted' && (reapplyFails !== undefined || items.some(({ liveUnread }) => liveUnread))
  if (failure === undefined || state === 'in-sync' || answered) return []
  const { code, why, remedy } = failure
  const known = state === 'unreadable' ? state : 'unverified'
  return [{ ref: { group: id.group, kind: id.kind, namespace: id.namespace, name: id.name }, state: known, code, why, remedy }]
}

/** An object that the inventory has and the read files do not declare may be declared in one that was not read. */
function unreadFiles(unread: readonly string[], objects: number): Incomplete {
  return {
    code: 'BP3012',
    why: `${objects} objects of the inventory may be declared in files that were not read: ${unread.slice(0, 3).join(', ')}`,
    remedy: 'replace links, submodules and LFS pointers in the package by the files themselves',
  }
}

interface UnexpectedObjects {
  readonly verdicts: readonly ObjectVerdict[]
  readonly incomplete: readonly Incomplete[]
}

/** Objects that the inventory lists, git does not declare, and the cluster still has. */
async function readUnexpected(
  reader: ClusterReader,
  { unread, read: { resources, inventory } }: PackageSide,
  namespace: string,
  signal: AbortSignal,
): Promise<UnexpectedObjects> {
  if (inventory instanceof Failure) return { verdicts: [], incomplete: [unreadInventory(inventory)] }
  // An object whose kind nobody could place may lie in the context's namespace: declared in either place, it is not unexpected.
  const ids = resources.flatMap(({ resource: { id } }) => (id.namespace === '' ? [id, { ...id, namespace }] : [id]))
  const declared = new Set(ids.map(resourceKey))
  try {
    const surplus = inventory?.resources.filter((id) => !declared.has(resourceKey(id))) ?? []
    if (inventory === undefined || surplus.length === 0) return { verdicts: [], incomplete: [] }
    if (unread.length > 0) return { verdicts: [], incomplete: [unreadFiles(unread, surplus.length)] }
    // The inventory names no version; an empty one asks for the version that the server prefers.
    const live = await reader.readLive(
      surplus.map((id) => ({ id, apiVersion: '' })),
      signal,
    )
    const verdicts = surplus.flatMap((id) => {
      const state = live.get(resourceKey(id))
      return state?.state === 'present' ? [unexpectedObject(id, state.object, inventory.source)] : []
    })
    const incomplete = surplus.flatMap((id) => {
      const state = live.get(resourceKey(id))
      if (state?.state === 'present' || state?.state === 'absent') return []
      const { code, why, remedy } = (state ?? NOT_ANSWERED).failure
      return [{ ref: { ...id }, code, why, remedy }]
    })
    return { verdicts, incomplete }
  } catch (thrown) {
    return { verdicts: [], incomplete: [unreadInventory(asFailure(thrown))] }
  }
}

function unreadInventory({ code, why, remedy }: Failure): Incomplete {
  return { code, why: `the inventory could not be read: ${why}`, remedy }
}
