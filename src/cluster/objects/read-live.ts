/** Each group of kind and namespace is read independently. */
import { Failure } from '@backporch/kyaml/failure'
import { DEEPEST, getKey, isDeeperThan, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import {
  getMetadataText,
  getResourceKey,
  type LiveState,
  type LiveView,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { ReadApi } from '../connection/cluster-api.ts'
import { createNotKubernetesFailure } from '../connection/kubernetes-failure.ts'
import type { AdmissionOutages } from './admission-outages.ts'
import type { Discovery, ServedResource } from './discovery.ts'
import { describeResourceRequest } from './discovery.ts'
import type { KnownRevisions } from './known-revisions.ts'
import { listObjects, requireFailure, runInParallel } from './list-objects.ts'
import { isWorthListing, type RefusedKinds, readEverywhere } from './read-everywhere.ts'

/** Objects of one kind and namespace to read by name. */
const FEW = 4
const PARALLEL = 8
/** The other groups would fail the same way, each after its own time limit. */
const WHOLE_CLUSTER = new Set(['BP3001', 'BP3002', 'BP3007'])

interface Group {
  readonly apiVersion: string
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly secret: boolean
  readonly wanted: Map<string, string[]>
}

interface Reading {
  readonly group: Group
  readonly served: ServedResource
  readonly name: string | undefined
}

export interface LiveSources {
  readonly api: ReadApi
  readonly discovery: Discovery
  readonly defaultNamespace: string
  readonly refused: RefusedKinds
  readonly outages: AdmissionOutages
  readonly revisions: KnownRevisions
}

/** @throws only the reason of `signal` */
export async function readLive(
  sources: LiveSources,
  wanted: readonly WantedObject[],
  signal: AbortSignal,
): Promise<LiveView> {
  const view = new Map<string, LiveState>()
  const groups = groupWanted(wanted, sources.defaultNamespace)
  const readings: Reading[] = []
  await runInParallel(groups, PARALLEL, async (group) => {
    try {
      const served = await sources.discovery.find(group.apiVersion, group.kind, signal, group.group)
      const one = group.secret || group.wanted.size <= FEW
      readings.push(
        ...(one ? [...group.wanted.keys()] : [undefined]).map((name) => ({ group, served, name })),
      )
    } catch (thrown) {
      answerUnreadable(view, group, undefined, requireFailure(thrown))
    }
  })
  let down: Failure | undefined
  const single = await readTogether(sources, readings, view, signal)
  await runInParallel(single, PARALLEL, async ({ group, served, name }) => {
    if (down !== undefined) return answerUnreadable(view, group, name, down)
    try {
      await readGroup(sources.api, { served, group, name }, view, signal)
    } catch (thrown) {
      const failure = requireFailure(thrown)
      if (WHOLE_CLUSTER.has(failure.code)) down = failure
      answerUnreadable(view, group, name, failure)
    }
  })
  return new Map(
    wanted.flatMap(({ id }) => {
      const state = view.get(getResourceKey(id))
      return state === undefined ? [] : [[getResourceKey(id), state] as const]
    }),
  )
}

async function readTogether(
  sources: LiveSources,
  readings: readonly Reading[],
  view: Map<string, LiveState>,
  signal: AbortSignal,
): Promise<readonly Reading[]> {
  const kinds = Map.groupBy(readings, ({ served, group }) => (group.secret ? undefined : served))
  const single: Reading[] = [...(kinds.get(undefined) ?? [])]
  await runInParallel([...kinds], PARALLEL, async ([served, own]) => {
    if (served === undefined) return
    const found = isWorthListing(served, own.length)
      ? await readAll(sources, served, own, signal)
      : undefined
    if (found instanceof Failure && WHOLE_CLUSTER.has(found.code))
      return own.forEach(({ group, name }) => {
        answerUnreadable(view, group, name, found)
      })
    if (found === undefined || found instanceof Failure) return void single.push(...own)
    for (const { group, name } of own) {
      for (const wantedName of name === undefined ? group.wanted.keys() : [name]) {
        const state = getState(
          sources.api.cluster,
          found.get(`${group.namespace}/${wantedName}`),
          false,
        )
        for (const key of group.wanted.get(wantedName) ?? []) view.set(key, state)
      }
    }
  })
  return single
}

async function readAll(
  { api, refused }: LiveSources,
  served: ServedResource,
  readings: readonly Reading[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, JsonObject> | Failure | undefined> {
  const names = readings.flatMap(({ group, name }) => {
    const wantedNames = name === undefined ? [...group.wanted.keys()] : [name]
    return wantedNames.map((each) => `${group.namespace}/${each}`)
  })
  try {
    return await readEverywhere(
      api,
      served,
      { wanted: new Set(names), requests: readings.length, refused },
      signal,
    )
  } catch (thrown) {
    return requireFailure(thrown)
  }
}

function groupWanted(wanted: readonly WantedObject[], defaultNamespace: string): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const { id, apiVersion } of wanted) {
    const namespace = id.namespace === '' ? defaultNamespace : id.namespace
    const key = `${apiVersion}/${id.group}/${id.kind}/${namespace}`
    const known = { apiVersion, group: id.group, kind: id.kind, namespace, secret: isSecret(id) }
    const group = groups.get(key) ?? { ...known, wanted: new Map<string, string[]>() }
    groups.set(key, group)
    const keys = group.wanted.get(id.name) ?? []
    if (!keys.includes(getResourceKey(id))) group.wanted.set(id.name, [...keys, getResourceKey(id)])
  }
  return [...groups.values()]
}

async function readGroup(
  api: ReadApi,
  { served, group, name }: Reading,
  view: Map<string, LiveState>,
  signal: AbortSignal,
): Promise<void> {
  const found = new Map<string, JsonObject>()
  const namespace = served.namespaced ? group.namespace : ''
  const requested = describeResourceRequest(api.cluster, 'list', served, { namespace, name })
  const list = (metadataOnly: boolean): Promise<unknown> =>
    listObjects(
      api,
      served,
      {
        namespace,
        ...(name === undefined ? {} : { name }),
        metadataOnly,
        take: (item) => {
          const itemName = getMetadataText(item, 'name')
          if (itemName === '')
            throw createNotKubernetesFailure(
              requested,
              'its list has an item without metadata.name',
            )
          if (group.wanted.has(itemName) && (name === undefined || name === itemName))
            found.set(itemName, item)
        },
        restart: () => found.clear(),
      },
      signal,
    )
  let metadataOnly = false
  try {
    await list(false)
  } catch (thrown) {
    const failure = requireFailure(thrown)
    if (!group.secret || failure.code !== 'BP3003') throw failure
    metadataOnly = true
    // The first failure names the rule to add.
    await list(true).catch((second: unknown) => {
      requireFailure(second)
      throw failure
    })
  }
  for (const wantedName of name === undefined ? group.wanted.keys() : [name]) {
    const state = getState(api.cluster, found.get(wantedName), metadataOnly)
    for (const key of group.wanted.get(wantedName) ?? []) view.set(key, state)
  }
}

function getState(cluster: string, item: JsonObject | undefined, metadataOnly: boolean): LiveState {
  if (item === undefined) return { state: 'absent' }
  if (!isDeeperThan(item, DEEPEST))
    return { state: 'present', object: convertToObject(item, metadataOnly), metadataOnly }
  const failure = new Failure({
    code: 'BP3012',
    what: `${String(item['kind'])} ${getMetadataText(item, 'name')} cannot be compared`,
    where: `cluster ${cluster}`,
    why: `it is nested more than ${DEEPEST} levels deep`,
    remedy: 'make the object flatter, or leave it out of the package',
    retry: 'on-change',
  })
  return { state: 'unreadable', failure }
}

function convertToObject(item: JsonObject, metadataOnly: boolean): JsonObject {
  if (!metadataOnly) return item
  const metadata = getKey(item, 'metadata')
  return {
    apiVersion: item['apiVersion'] ?? '',
    kind: item['kind'] ?? '',
    metadata: isJsonObject(metadata) ? metadata : {},
  }
}

function answerUnreadable(
  view: Map<string, LiveState>,
  group: Group,
  name: string | undefined,
  failure: Failure,
): void {
  for (const [wantedName, keys] of group.wanted) {
    if (name === undefined || name === wantedName)
      for (const key of keys) view.set(key, { state: 'unreadable', failure })
  }
}
