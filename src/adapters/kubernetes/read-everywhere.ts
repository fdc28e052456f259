/**
 * One list of a kind in all namespaces instead of many requests for single objects or namespaces: a request costs the API server as
 * much as 30 to 80 objects more in a list (docs/facts/list-cost.md).
 */
import { Failure } from '../../failure.ts'
import type { JsonObject } from '../../krm/json.ts'
import { metadataText } from '../../krm/resource.ts'
import type { ReadApi } from './cluster-api.ts'
import { askedFor, type ServedResource } from './discovery.ts'
import { notKubernetes } from './kubernetes-failure.ts'
import { listObjects } from './list-objects.ts'

/** Requests that a list of everything has to save. */
const WORTH_IT = 8
/** Listed objects that cost as much as one request. */
const OBJECTS_A_REQUEST = 20

/** @param requests how many the objects would take otherwise */
export function isWorthListing(served: ServedResource, requests: number): boolean {
  return served.namespaced && requests >= WORTH_IT
}

/**
 * @returns by `namespace/name`; undefined where the account may not read all namespaces, or where the cluster has so many objects of
 * the kind that single requests cost less
 * @throws Failure BP30xx
 */
export async function readEverywhere(
  api: ReadApi,
  served: ServedResource,
  { wanted, requests }: { readonly wanted: ReadonlySet<string>; readonly requests: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, JsonObject> | undefined> {
  const found = new Map<string, JsonObject>()
  const asked = askedFor(api.cluster, 'list', served, '', '')
  const take = (item: JsonObject): void => {
    const name = metadataText(item, 'name')
    if (name === '') throw notKubernetes(asked, 'its list has an item without metadata.name')
    const key = `${metadataText(item, 'namespace')}/${name}`
    if (wanted.has(key)) found.set(key, item)
  }
  try {
    const most = requests * OBJECTS_A_REQUEST
    const end = await listObjects(api, served, { namespace: '', most, take, restart: () => found.clear() }, signal)
    return end === 'complete' ? found : undefined
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'BP3003') return undefined
    throw thrown
  }
}
