import type { ClusterReader, Inventory, ServedKind } from '@backporch/cluster/cluster'
import {
  createDeclaredTwiceFailure,
  type DesiredResource,
  type DesiredSet,
} from '@backporch/kpt/desired-set'
import { convertToFailure, type Failure } from '@backporch/kyaml/failure'
import type { FieldSchema } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import {
  getResourceKey,
  type InventoryRef,
  type LiveState,
  type LiveView,
  type WantedObject,
} from '@backporch/kyaml/resource'
import { type Boundary, explainOutside } from '../../policy/boundary.ts'
import type { Claim } from '../../syncers/syncer.ts'
import { mapConcurrent } from '../repository/each-of.ts'
import { readInventories } from './read-inventories.ts'

export interface ClaimedSide extends LiveSide {
  readonly claims: readonly Claim[]
}

export interface LiveSide {
  readonly resources: readonly (Placed | Unplaced)[]
  readonly live: LiveView
  /** Undefined for none; a Failure if unknown. */
  readonly inventory: Inventory | Failure | undefined
  /** Undefined if the package names none, or one without an id. */
  readonly inventoryId: string | undefined
}

export interface Placed {
  readonly resource: DesiredResource
  readonly schema: FieldSchema
}

export interface Unplaced {
  readonly resource: DesiredResource
  readonly failure: Failure
}

export function isPlaced(each: Placed | Unplaced): each is Placed {
  return !('failure' in each)
}

const WIDTH = 8

/**
 * Does not request what placements do not allow.
 * @param namespace for namespaced objects without one
 * @throws only the reason of `signal`; any other failure is reported where its object is missing
 */
export async function readLiveSides<
  Package extends { readonly desired: DesiredSet; readonly boundary?: Boundary | undefined },
>(
  reader: ClusterReader,
  namespace: string,
  packages: readonly Package[],
  signal: AbortSignal,
): Promise<readonly { readonly of: Package; readonly side: LiveSide }[]> {
  const locateAll = createKindTable(reader, signal)
  const placed = await mapConcurrent(packages, WIDTH, async ({ desired, boundary }) => {
    const all = deduplicateDeclared(
      await locateAll(desired.resources, desired.namespace ?? namespace),
    )
    return boundary === undefined ? all : all.map((each) => checkWithin(boundary, each))
  })
  const wanted = placed.map((resources) =>
    resources
      .filter(isPlaced)
      .map(({ resource: { id, apiVersion } }): WantedObject => ({ id, apiVersion })),
  )
  const views = await readTogether(reader, wanted, signal)
  const named = packages.flatMap(({ desired: { inventory }, boundary }) =>
    inventory === undefined || explainNotRequested(inventory, boundary) !== undefined
      ? []
      : [inventory],
  )
  const answers = await readInventories(reader, named, signal)
  const inventories = new Map(named.map((ref, index) => [ref, answers[index]]))
  return packages.map((each, position) => ({
    of: each,
    side: {
      resources: placed[position] ?? [],
      live: views[position] ?? new Map(),
      inventory:
        each.desired.inventory &&
        (explainNotRequested(each.desired.inventory, each.boundary) ??
          inventories.get(each.desired.inventory)),
      inventoryId: each.desired.inventory?.id,
    },
  }))
}

/**
 * A context's namespace, or a cluster-scoped kind, makes two objects one: an apply leaves the
 * content of one of them.
 */
function deduplicateDeclared(all: readonly (Placed | Unplaced)[]): readonly (Placed | Unplaced)[] {
  const declared = Map.groupBy(all.filter(isPlaced), ({ resource }) => getResourceKey(resource.id))
  if (declared.size === all.length) return all
  return all.map((each) => {
    if (!isPlaced(each)) return each
    const other = declared.get(getResourceKey(each.resource.id))?.find((one) => one !== each)
    return other === undefined
      ? each
      : {
          resource: each.resource,
          failure: createDeclaredTwiceFailure(other.resource, each.resource.location),
        }
  })
}

function checkWithin(boundary: Boundary, each: Placed | Unplaced): Placed | Unplaced {
  if (!isPlaced(each)) return each
  const failure = explainOutside(boundary, each.resource.id)
  return failure === undefined ? each : { resource: each.resource, failure }
}

function explainNotRequested(
  { namespace, name = '' }: InventoryRef,
  boundary: Boundary | undefined,
): Failure | undefined {
  return explainOutside(boundary, { group: 'kpt.dev', kind: 'ResourceGroup', namespace, name })
}

/**
 * An object that two packages want in two versions is read twice, because a view has one answer per
 * object.
 */
async function readTogether(
  reader: ClusterReader,
  wanted: readonly (readonly WantedObject[])[],
  signal: AbortSignal,
): Promise<readonly LiveView[]> {
  const readings: Map<string, WantedObject>[] = []
  const readingOf = wanted.map((objects) => {
    const fits = (reading: Map<string, WantedObject>): boolean =>
      objects.every(
        ({ id, apiVersion }) =>
          (reading.get(getResourceKey(id))?.apiVersion ?? apiVersion) === apiVersion,
      )
    const reading = readings.find(fits) ?? new Map<string, WantedObject>()
    if (!readings.includes(reading)) readings.push(reading)
    for (const each of objects) reading.set(getResourceKey(each.id), each)
    return reading
  })
  const views = new Map<Map<string, WantedObject>, LiveView>()
  for (const reading of readings)
    views.set(
      reading,
      reading.size === 0 ? new Map() : await reader.readLive([...reading.values()], signal),
    )
  return wanted.map((objects, index) => {
    const reading = readingOf[index]
    const view = reading === undefined ? undefined : views.get(reading)
    return new Map(
      objects.flatMap(({ id }): [string, LiveState][] => {
        const state = view?.get(getResourceKey(id))
        return state === undefined ? [] : [[getResourceKey(id), state]]
      }),
    )
  })
}

/** A namespaced object without a namespace gets the context's, as in kubectl. */
function createKindTable(reader: ClusterReader, signal: AbortSignal) {
  const kinds = new Map<string, Promise<ServedKind | Failure>>()
  const kindOf = ({ apiVersion, id }: DesiredResource): Promise<ServedKind | Failure> => {
    const key = `${apiVersion} ${id.kind}`
    const kind =
      kinds.get(key) ??
      reader
        .findServedKind(apiVersion, id.kind, signal)
        .catch((thrown: unknown) => convertToFailure(thrown))
    kinds.set(key, kind)
    return kind
  }
  return async (
    resources: readonly DesiredResource[],
    namespace: string,
  ): Promise<readonly (Placed | Unplaced)[]> => {
    const named = new Map(resources.map((each) => [`${each.apiVersion} ${each.id.kind}`, each]))
    const served = new Map(
      await mapConcurrent(
        [...named],
        WIDTH,
        async ([name, each]) => [name, await kindOf(each)] as const,
      ),
    )
    return resources.map((each) =>
      placeResource(each, served.get(`${each.apiVersion} ${each.id.kind}`), namespace),
    )
  }
}

function placeResource(
  resource: DesiredResource,
  kind: ServedKind | Failure | undefined,
  namespace: string,
): Placed | Unplaced {
  if (kind === undefined || !('schema' in kind))
    return {
      resource,
      failure: kind ?? convertToFailure(new Error('no caller requested the kind')),
    }
  const own = resource.id.namespace === '' ? namespace : resource.id.namespace
  return { resource: placeInNamespace(resource, kind.namespaced ? own : ''), schema: kind.schema }
}

/** An unchanged package gets the same objects again. */
const PLACED = new WeakMap<DesiredResource, DesiredResource>()

function placeInNamespace(resource: DesiredResource, namespace: string): DesiredResource {
  if (resource.id.namespace === namespace) return resource
  const known = PLACED.get(resource)
  if (known?.id.namespace === namespace) return known
  const metadata = getKey(resource.object, 'metadata')
  const { namespace: _dropped, ...rest } = isJsonObject(metadata) ? metadata : ({} as JsonObject)
  const metadataThere = namespace === '' ? rest : { ...rest, namespace }
  const placed = {
    ...resource,
    id: { ...resource.id, namespace },
    object: { ...resource.object, metadata: metadataThere },
  }
  PLACED.set(resource, placed)
  return placed
}
