import type { ClusterReader, ObjectList } from '@backporch/cluster/cluster'
import {
  getPartAt,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getResourceKey, type LiveState, type ResourceId } from '@backporch/kyaml/resource'
import { getResourceId } from '../../repository/sources/declared-syncers.ts'

export interface ResourceChange {
  /** A kustomization may set a namespace that the file lacks. */
  readonly id: ResourceId
  readonly before: JsonObject | undefined
  readonly after: JsonObject | undefined
  /** Otherwise a file declares it, with an unknown applier. */
  readonly isBuilt: boolean
}

/**
 * Changed fields have the merge's values, and others stay, such as server defaults. What only a
 * file declares stays if the cluster has it otherwise.
 */
export function createReaderAfterMerge(
  reader: ClusterReader,
  changes: readonly ResourceChange[],
): ClusterReader {
  if (changes.length === 0) return reader
  return {
    name: reader.name,
    identify: (signal) => reader.identify(signal),
    findServedKind: (apiVersion, kind, signal) => reader.findServedKind(apiVersion, kind, signal),
    readLive: async (wanted, signal) => {
      const states = new Map(await reader.readLive(wanted, signal))
      for (const { id } of wanted) {
        const state = states.get(getResourceKey(id))
        const change = changes.find((each) => isSame(each.id, id))
        if (state !== undefined && change !== undefined)
          states.set(getResourceKey(id), mergeState(state, change))
      }
      return states
    },
    readInventories: (refs, signal) => reader.readInventories(refs, signal),
    predict: (resource, fieldManager, signal) => reader.predict(resource, fieldManager, signal),
    list: async (group, kind, signal): Promise<ObjectList> => {
      const { objects, complete } = await reader.list(group, kind, signal)
      const own = changes.filter(({ id }) => id.group === group && id.kind === kind)
      return { objects: mergeList(objects, own), complete }
    },
  }
}

function mergeList(
  objects: readonly JsonObject[],
  changes: readonly ResourceChange[],
): readonly JsonObject[] {
  const kept = objects.flatMap((object) => {
    const change = changes.find(({ id }) => isSame(id, getResourceId(object)))
    return change === undefined ? [object] : mergeObject(object, change)
  })
  const added = changes.flatMap(({ id, before, after, isBuilt }) => {
    const isKnown = objects.some((object) => isSame(id, getResourceId(object)))
    // One that only a file declares is applied if the cluster has a syncer of its kind.
    const isApplied = isBuilt || (objects.length > 0 && id.namespace !== '')
    return after === undefined || before !== undefined || isKnown || !isApplied ? [] : [after]
  })
  return [...kept, ...added]
}

function mergeState(state: LiveState, change: ResourceChange): LiveState {
  if (state.state === 'unreadable') return state
  if (state.state === 'absent') {
    const { before, after, isBuilt } = change
    return isBuilt && before === undefined && after !== undefined
      ? { state: 'present', object: after, metadataOnly: false }
      : state
  }
  const [object] = mergeObject(state.object, change)
  return object === undefined ? { state: 'absent' } : { ...state, object }
}

function mergeObject(object: JsonObject, change: ResourceChange): readonly JsonObject[] {
  const { before, after, isBuilt } = change
  const [was, is, live] = [getContent(before), getContent(after), getContent(object)]
  if (!isBuilt && (before === undefined || !hasAll(live, was))) return [object]
  return after === undefined ? [] : [{ ...object, ...mergeFields(live, was, is) }]
}

/** A kustomization may set the namespace. */
export function isSame(one: ResourceId, other: ResourceId): boolean {
  const namespaces = [one.namespace, other.namespace]
  return (
    one.group === other.group &&
    one.kind === other.kind &&
    one.name === other.name &&
    (namespaces.includes('') || one.namespace === other.namespace)
  )
}

const CONTENT = ['spec', 'data']

function getContent(object: JsonObject | undefined): JsonObject {
  return Object.fromEntries(CONTENT.map((name) => [name, getPartAt(object, name) ?? {}]))
}

function hasAll(value: Json | undefined, wanted: Json): boolean {
  return isJsonObject(value) && isJsonObject(wanted)
    ? Object.entries(wanted).every(([name, each]) => hasAll(getPartAt(value, name), each))
    : isJsonEqual(value, wanted)
}

function mergeFields(live: JsonObject, was: JsonObject, is: JsonObject): JsonObject {
  const fields = new Map(Object.entries(live))
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [one, before, after] = [live[name], was[name], is[name]]
    if (isJsonEqual(before, after)) continue
    if (after === undefined) fields.delete(name)
    else if (isJsonObject(one) && isJsonObject(before) && isJsonObject(after))
      fields.set(name, mergeFields(one, before, after))
    else fields.set(name, after)
  }
  return Object.fromEntries(fields)
}
