/** For inventories that are only marks on objects. Reads no object content. */
import { Failure } from '@backporch/kyaml/failure'
import { getKey, getTextAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, parseApiVersion, type ResourceId } from '@backporch/kyaml/resource'
import { createNotKubernetesFailure } from '../connection/kubernetes-failure.ts'
import type { Inventory, ListedLocation, ListingRef } from '../ports/cluster.ts'
import { describeResourceRequest, type ServedResource } from './discovery.ts'
import { listObjects, requireFailure, runInParallel } from './list-objects.ts'
import { isWorthListing, listUnlessRefused } from './read-everywhere.ts'
import type { LiveSources } from './read-live.ts'

const PARALLEL = 8

interface MetadataList {
  readonly served: ServedResource
  readonly namespace: string
  readonly labelSelector: string | undefined
}

/**
 * Reads each shared list once. An unserved kind has no objects.
 * @throws only the reason of `signal`
 */
export async function listLocations(
  sources: LiveSources,
  refs: readonly ListingRef[],
  signal: AbortSignal,
): Promise<readonly (Inventory | Failure)[]> {
  const lists = new Map<string, MetadataList | Failure>()
  const keyOf = (
    { group, kind, namespace }: ListedLocation,
    { labelSelector }: ListingRef,
  ): string => `${group}/${kind}/${namespace}/${labelSelector ?? ''}`
  for (const ref of refs) {
    for (const location of ref.listing) {
      const key = keyOf(location, ref)
      if (lists.has(key)) continue
      const list = await listOfLocation(sources, location, ref.labelSelector, signal)
      if (list !== undefined) lists.set(key, list)
    }
  }
  const found = await listMetadata(
    sources,
    [...lists.values()].flatMap((list) => (list instanceof Failure ? [] : [list])),
    signal,
  )
  return refs.map((ref) => {
    const answers = ref.listing.flatMap((position) => {
      const list = lists.get(keyOf(position, ref))
      return list === undefined ? [] : [list instanceof Failure ? list : (found.get(list) ?? [])]
    })
    return gatherInventory('a listing', answers)
  })
}

export function gatherInventory(
  source: string,
  answers: readonly (Failure | readonly JsonObject[])[],
): Inventory | Failure {
  const unread = answers.filter((answer) => answer instanceof Failure)
  const [first] = unread
  if (first !== undefined && unread.length === answers.length) return first
  const objects = answers.flatMap((answer) => (answer instanceof Failure ? [] : answer))
  return {
    source,
    resources: objects.map(getResourceId),
    objects,
    ...(unread.length === 0 ? {} : { unread }),
  }
}

async function listOfLocation(
  { discovery, defaultNamespace }: LiveSources,
  { group, kind, namespace }: ListedLocation,
  labelSelector: string | undefined,
  signal: AbortSignal,
): Promise<MetadataList | Failure | undefined> {
  try {
    const served = await discovery.find('', kind, signal, group)
    return {
      served,
      namespace: served.namespaced ? namespace || defaultNamespace : '',
      labelSelector,
    }
  } catch (thrown) {
    const failure = requireFailure(thrown)
    return failure.code === 'BP3009' ? undefined : failure
  }
}

/**
 * Each list is complete or a Failure. A kind in many namespaces is listed over all, if the account
 * may.
 * @throws only the reason of `signal`
 */
export async function listMetadata(
  sources: LiveSources,
  lists: readonly MetadataList[],
  signal: AbortSignal,
): Promise<ReadonlyMap<MetadataList, readonly JsonObject[] | Failure>> {
  const answers = new Map<MetadataList, readonly JsonObject[] | Failure>()
  const read = (list: MetadataList): Promise<readonly JsonObject[] | Failure> =>
    listOnce(sources, list, signal).catch(requireFailure)
  const kinds = Map.groupBy(
    lists,
    ({ served, labelSelector }) => `${served.apiVersion}/${served.kind}/${labelSelector ?? ''}`,
  )
  await runInParallel([...kinds.values()], PARALLEL, async (own) => {
    const [first] = own
    if (first !== undefined && isWorthListing(first.served, own.length)) {
      const whole = { ...first, namespace: '' }
      const all = await listUnlessRefused(sources.refused, first.served, () =>
        listOnce(sources, whole, signal),
      ).catch(requireFailure)
      if (all !== undefined) {
        const locations =
          all instanceof Failure
            ? undefined
            : Map.groupBy(all, (object) => getMetadataText(object, 'namespace'))
        for (const list of own)
          answers.set(list, all instanceof Failure ? all : (locations?.get(list.namespace) ?? []))
        return
      }
    }
    for (const list of own) answers.set(list, await read(list))
  })
  return answers
}

async function listOnce(
  { api, discovery }: LiveSources,
  { served, namespace, labelSelector }: MetadataList,
  signal: AbortSignal,
) {
  const objects: JsonObject[] = []
  const requested = describeResourceRequest(api.cluster, 'list', served, { namespace })
  const take = (item: JsonObject): void => {
    if (getMetadataText(item, 'name') === '')
      throw createNotKubernetesFailure(requested, 'its list has an item without metadata.name')
    const metadata = getKey(item, 'metadata')
    objects.push({
      apiVersion: served.apiVersion,
      kind: served.kind,
      metadata: isJsonObject(metadata) ? metadata : {},
    })
  }
  const selected = labelSelector === undefined ? {} : { labelSelector }
  try {
    await listObjects(
      api,
      served,
      { namespace, ...selected, metadataOnly: true, take, restart: () => objects.splice(0) },
      signal,
    )
  } catch (thrown) {
    if (requireFailure(thrown).code === 'BP3009' && (await discovery.isGone(served, signal)))
      return []
    throw thrown
  }
  return objects
}

function getResourceId(object: JsonObject): ResourceId {
  const { group } = parseApiVersion(getTextAt(object, 'apiVersion'))
  return {
    group,
    kind: getTextAt(object, 'kind'),
    namespace: getMetadataText(object, 'namespace'),
    name: getMetadataText(object, 'name'),
  }
}
