/**
 * One request costs the API server as much as 30 to 80 more objects in a list
 * (docs/facts/list-cost.md).
 */
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { ReadApi } from '../connection/cluster-api.ts'
import { createNotKubernetesFailure } from '../connection/kubernetes-failure.ts'
import { describeResourceRequest, type ServedResource } from './discovery.ts'
import { listObjects } from './list-objects.ts'

/** Saved requests. */
const WORTH_IT = 8
/** Objects that cost as much as one request. */
const OBJECTS_A_REQUEST = 20

export type RefusedKinds = Set<string>

/**
 * @returns undefined if `list` is or was forbidden
 * @throws as `list` otherwise
 */
export async function listUnlessRefused<Answer>(
  refused: RefusedKinds,
  { apiVersion, kind }: ServedResource,
  list: () => Promise<Answer>,
): Promise<Answer | undefined> {
  const key = `${apiVersion}/${kind}`
  if (refused.has(key)) return undefined
  try {
    return await list()
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'BP3003') throw thrown
    refused.add(key)
    return undefined
  }
}

export function isWorthListing(served: ServedResource, requests: number): boolean {
  return served.namespaced && requests >= WORTH_IT
}

/**
 * By `namespace/name`. Undefined if the account may not list, or single requests cost less.
 * @throws Failure BP30xx
 */
export async function readEverywhere(
  api: ReadApi,
  served: ServedResource,
  {
    wanted,
    requests,
    refused,
  }: {
    readonly wanted: ReadonlySet<string>
    readonly requests: number
    readonly refused: RefusedKinds
  },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, JsonObject> | undefined> {
  const found = new Map<string, JsonObject>()
  const requested = describeResourceRequest(api.cluster, 'list', served)
  const take = (item: JsonObject): void => {
    const name = getMetadataText(item, 'name')
    if (name === '')
      throw createNotKubernetesFailure(requested, 'its list has an item without metadata.name')
    const key = `${getMetadataText(item, 'namespace')}/${name}`
    if (wanted.has(key)) found.set(key, item)
  }
  const most = requests * OBJECTS_A_REQUEST
  const options = { namespace: '', most, take, restart: () => found.clear() }
  const end = await listUnlessRefused(refused, served, () =>
    listObjects(api, served, options, signal),
  )
  return end === 'complete' ? found : undefined
}
