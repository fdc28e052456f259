/** The cluster side of one unit: live objects, dry runs where ownership proves nothing, inventory, verdicts and health. */
import { classifyIgnored } from '../drift/classify-ignored.ts'
import { detectDrift, type ObservedObject, unexpectedObject } from '../drift/detect-drift.ts'
import type { ObjectVerdict } from '../drift/drift.ts'
import { findSyncer } from '../drift/syncer.ts'
import { asFailure, type Failure } from '../failure.ts'
import type { FieldSchema } from '../krm/field-schema.ts'
import { getKey, isJsonObject, type JsonObject } from '../krm/json.ts'
import type { LiveState } from '../krm/live-view.ts'
import type { FieldManager } from '../krm/managed-fields.ts'
import { resourceKey } from '../krm/resource-id.ts'
import type { EffectivePolicy } from '../policy/effective-policy.ts'
import type { ClusterIdentity, ClusterReader, ServedKind } from '../ports/cluster.ts'
import type { Incomplete } from '../record/schema.ts'
import type { DesiredResource, DesiredSet } from '../render/desired-set.ts'
import { eachOf } from './each-of.ts'
import { withPrediction } from './predict-object.ts'

/** Dry runs in flight for one unit: the server's own limit per client is far higher, its CPU is not (3 ms each, measured). */
const PREDICTION_WIDTH = 8

export interface PackageSide {
  readonly desired: DesiredSet
  /** Files that could not be looked into. */
  readonly unread: readonly string[]
}

export interface ClusterSide {
  readonly identity: ClusterIdentity
  readonly syncer: FieldManager | undefined
  readonly verdicts: readonly ObjectVerdict[]
  /** Live objects by `resourceKey`, for the health. */
  readonly live: ReadonlyMap<string, LiveState>
  readonly incomplete: readonly Incomplete[]
}

/** @throws Failure BP30xx when nothing at all could be observed */
export async function observeCluster(
  reader: ClusterReader,
  identity: ClusterIdentity,
  side: PackageSide,
  policy: EffectivePolicy,
  signal: AbortSignal,
): Promise<ClusterSide> {
  const { desired } = side
  const kinds = new KindTable(reader, signal)
  const resources = await eachOf(desired.resources, PREDICTION_WIDTH, (resource) => kinds.place(resource, identity.namespace))
  const known = resources.filter((placed): placed is Placed => !('failure' in placed))
  const unknown = resources.filter((placed) => 'failure' in placed)
  const live = await reader.readLive(
    known.map(({ resource }) => ({ id: resource.id, apiVersion: resource.apiVersion })),
    signal,
  )
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
  const inventory = await readUnexpected(reader, side, resources, identity.namespace, signal)
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

interface Placed {
  readonly resource: DesiredResource
  readonly schema: FieldSchema
}
interface Unplaced {
  readonly resource: DesiredResource
  readonly failure: Failure
}

// A reader answers every id; one that does not is at fault, and its silence is not absence.
const NOT_ANSWERED: Extract<LiveState, { state: 'unreadable' }> = {
  state: 'unreadable',
  failure: asFailure(new Error('the cluster adapter gave no answer for a wanted object')),
}

/** Kinds as the server serves them, each asked for once. */
class KindTable {
  private readonly reader: ClusterReader
  private readonly signal: AbortSignal
  private readonly kinds = new Map<string, Promise<ServedKind | Failure>>()

  constructor(reader: ClusterReader, signal: AbortSignal) {
    this.reader = reader
    this.signal = signal
  }

  /** The resource with its namespace: a namespaced object without one goes where the context points, as kubectl does it. */
  async place(resource: DesiredResource, namespace: string): Promise<Placed | Unplaced> {
    const kind = await this.kindOf(resource)
    if (!('schema' in kind)) return { resource, failure: kind }
    if (!kind.namespaced) return { resource: withNamespace(resource, ''), schema: kind.schema }
    return { resource: withNamespace(resource, resource.id.namespace === '' ? namespace : resource.id.namespace), schema: kind.schema }
  }

  private kindOf({ apiVersion, id }: DesiredResource): Promise<ServedKind | Failure> {
    const key = `${apiVersion} ${id.kind}`
    const known = this.kinds.get(key)
    if (known !== undefined) return known
    const asked = this.reader.servedKind(apiVersion, id.kind, this.signal).catch((thrown: unknown) => asFailure(thrown))
    this.kinds.set(key, asked)
    return asked
  }
}

function withNamespace(resource: DesiredResource, namespace: string): DesiredResource {
  if (resource.id.namespace === namespace) return resource
  const metadata = getKey(resource.object, 'metadata')
  const { namespace: _dropped, ...rest } = isJsonObject(metadata) ? metadata : ({} as JsonObject)
  const placed = namespace === '' ? rest : { ...rest, namespace }
  return { ...resource, id: { ...resource.id, namespace }, object: { ...resource.object, metadata: placed } }
}

function syncerOf(observed: readonly Omit<ObservedObject, 'prediction'>[], policy: EffectivePolicy): FieldManager | undefined {
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
  { desired, unread }: PackageSide,
  resources: readonly (Placed | Unplaced)[],
  namespace: string,
  signal: AbortSignal,
): Promise<UnexpectedObjects> {
  if (desired.inventory === undefined) return { verdicts: [], incomplete: [] }
  // An object whose kind nobody could place may lie in the context's namespace: declared in either place, it is not unexpected.
  const ids = resources.flatMap(({ resource: { id } }) => (id.namespace === '' ? [id, { ...id, namespace }] : [id]))
  const declared = new Set(ids.map(resourceKey))
  try {
    const inventory = await reader.readInventory(desired.inventory, signal)
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
    const { code, why, remedy } = asFailure(thrown)
    return { verdicts: [], incomplete: [{ code, why: `the inventory could not be read: ${why}`, remedy }] }
  }
}
