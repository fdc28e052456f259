/** Complete and of one resource version, or an error. Never a part. */
import { Failure } from '@backporch/kyaml/failure'
import { getKey, isJsonArray, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { ReadApi } from '../connection/cluster-api.ts'
import {
  createIncompleteListFailure,
  createNotKubernetesFailure,
  parseJsonResponse,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'
import { buildCollectionPath, describeResourceRequest, type ServedResource } from './discovery.ts'

interface ListOptions {
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string
  readonly name?: string
  readonly labelSelector?: string
  readonly metadataOnly?: boolean
  /** Stops after the first page if more items follow, or an unknown number. */
  readonly most?: number
  /** Must drop what it stored on `restart`. */
  readonly take: (item: JsonObject) => void
  readonly restart: () => void
  /** Called before the first item. If it throws, the list ends. */
  readonly version?: (resourceVersion: string) => void
  /** A missing rule then names both verbs. */
  readonly thenWatched?: boolean
}

const PAGE = 500
const MOST_PAGES = 20_000
const MOST_STARTS = 3
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

/**
 * Adds apiVersion and kind, which the server omits. Restarts a list with fewer items than
 * announced, with a duplicate, or with pages of different versions. @returns `too-many` if `most`
 * ended it; `take` then got a part
 * @throws Failure BP3010 when it was not complete, another BP30xx when the server did not answer
 */
export async function listObjects(
  api: ReadApi,
  served: ServedResource,
  options: ListOptions,
  signal: AbortSignal,
): Promise<'complete' | 'too-many'> {
  for (let start = 1; ; start += 1) {
    const end = await listOnce(api, served, options, signal)
    if (end === 'complete' || end === 'too-many') return end
    options.restart()
    if (start >= MOST_STARTS)
      throw createIncompleteListFailure(
        describeListRequest(api, served, options),
        `it ${BROKEN[end]} each of ${MOST_STARTS} times that it was read`,
      )
  }
}

/** A token for the rest of an older list is never used. */
const BROKEN = {
  expired: 'expired (410)',
  short: 'ended before all of the items came that it said it has',
  double: 'had an item on two pages',
} as const

async function listOnce(
  api: ReadApi,
  served: ServedResource,
  options: ListOptions,
  signal: AbortSignal,
): Promise<'complete' | 'too-many' | keyof typeof BROKEN> {
  const requested = describeListRequest(api, served, options)
  // Built-in lists omit the type; metadata-only items have that of the metadata.
  const type = { apiVersion: served.apiVersion, kind: served.kind }
  const observed = new Set<string>()
  const items = new Set<string>()
  let came = 0
  let promised = 0
  let resourceVersion: string | undefined
  let next: string | undefined
  do {
    const path = `${buildCollectionPath(served, options.namespace)}?${buildQuery(options, next)}`
    const accept = options.metadataOnly === true ? { accept: METADATA_ONLY } : {}
    const response = await api.get(path, requested, signal, { ...accept, answers: [410] })
    if (response.status === 410) return 'expired'
    const page = readPage(parseJsonResponse(response, requested), requested)
    if (resourceVersion !== undefined && page.resourceVersion !== resourceVersion) {
      throw createIncompleteListFailure(requested, 'its pages are of different resource versions')
    }
    if (resourceVersion === undefined) options.version?.(page.resourceVersion)
    resourceVersion = page.resourceVersion
    for (const item of page.items) {
      items.add(`${getMetadataText(item, 'namespace')}/${getMetadataText(item, 'name')}`)
      options.take({ ...type, ...item, ...type })
    }
    came += page.items.length
    if (items.size < came) return 'double'
    if (Number.isFinite(page.remaining)) promised = Math.max(promised, came + page.remaining)
    next = page.next
    if (
      next !== undefined &&
      observed.size === 0 &&
      options.most !== undefined &&
      page.remaining > options.most
    )
      return 'too-many'
    if (next !== undefined) {
      if (observed.has(next) || observed.size > MOST_PAGES)
        throw createIncompleteListFailure(requested, 'its pages go round in a circle')
      observed.add(next)
    }
  } while (next !== undefined)
  return came < promised ? 'short' : 'complete'
}

function describeListRequest(
  { cluster }: ReadApi,
  served: ServedResource,
  options: ListOptions,
): RequestDescription {
  const requested = describeResourceRequest(cluster, 'list', served, options)
  return options.thenWatched === true ? { ...requested, alsoNeeded: ['watch'] } : requested
}

function buildQuery({ name, labelSelector }: ListOptions, next: string | undefined): string {
  const query = new URLSearchParams({ limit: String(PAGE) })
  if (name !== undefined) query.set('fieldSelector', `metadata.name=${escapeFieldValue(name)}`)
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (next !== undefined) query.set('continue', next)
  return query.toString()
}

/** k8s.io/apimachinery, pkg/fields/selector.go (EscapeValue): RBAC names may contain these. */
function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

interface Page {
  readonly items: readonly JsonObject[]
  readonly resourceVersion: string
  /** Undefined for the last page. */
  readonly next: string | undefined
  readonly remaining: number
}

function readPage(answer: unknown, requested: RequestDescription): Page {
  const page = answer as JsonObject
  const kind = isJsonObject(page) ? getKey(page, 'kind') : undefined
  if (!isJsonObject(page) || typeof kind !== 'string' || !kind.endsWith('List'))
    throw createNotKubernetesFailure(requested, 'its answer is not a list')
  // An empty metadata list is null (docs/facts/inventories.md). In other lists null is not empty.
  const [given, metadata] = [getKey(page, 'items'), getKey(page, 'metadata')]
  const items = given === null && kind === 'PartialObjectMetadataList' ? [] : given
  if (!isJsonArray(items) || !isJsonObject(metadata))
    throw createNotKubernetesFailure(requested, 'its list has no items or no metadata')
  if (!items.every(isJsonObject))
    throw createNotKubernetesFailure(requested, 'its list has an item that is not an object')
  const [resourceVersion, next] = [
    getKey(metadata, 'resourceVersion'),
    getKey(metadata, 'continue') ?? '',
  ]
  if (typeof resourceVersion !== 'string' || resourceVersion === '' || resourceVersion === '0') {
    throw createIncompleteListFailure(requested, 'it has no resource version')
  }
  if (typeof next !== 'string')
    throw createNotKubernetesFailure(requested, 'its continue token is not text')
  const remaining = getKey(metadata, 'remainingItemCount')
  return {
    items,
    resourceVersion,
    next: next || undefined,
    remaining: typeof remaining === 'number' ? remaining : Number.POSITIVE_INFINITY,
  }
}

export async function runInParallel<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(width, items.length) }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

export function requireFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  throw thrown
}
