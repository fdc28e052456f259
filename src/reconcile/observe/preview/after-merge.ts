import type { ClusterReader, ObjectList } from '@backporch/cluster/cluster'
import { isJsonObject, type Json, type JsonObject, jsonEquals, partOf } from '@backporch/kyaml/json'
import { type LiveState, type ResourceId, resourceKey } from '@backporch/kyaml/resource'
import { resourceIdOf } from '../../repository/sources/declared-syncers.ts'

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
export function afterMerge(
  reader: ClusterReader,
  changes: readonly ResourceChange[],
): ClusterReader {
  if (changes.length === 0) return reader
  return {
    name: reader.name,
    identify: (signal) => reader.identify(signal),
    servedKind: (apiVersion, kind, signal) => reader.servedKind(apiVersion, kind, signal),
    readLive: async (wanted, signal) => {
      const states = new Map(await reader.readLive(wanted, signal))
      for (const { id } of wanted) {
        const state = states.get(resourceKey(id))
        const change = changes.find((each) => isSame(each.id, id))
        if (state !== undefined && change !== undefined)
          states.set(resourceKey(id), mergedState(state, change))
      }
      return states
    },
    readInventories: (refs, signal) => reader.readInventories(refs, signal),
    predict: (resource, fieldManager, signal) => reader.predict(resource, fieldManager, signal),
    list: async (group, kind, signal): Promise<ObjectList> => {
      const { objects, complete } = await reader.list(group, kind, signal)
      const own = changes.filter(({ id }) => id.group === group && id.kind === kind)
      return { objects: mergedList(objects, own), complete }
    },
  }
}

function mergedList(
  objects: readonly JsonObject[],
  changes: readonly ResourceChange[],
): readonly JsonObject[] {
  const kept = objects.flatMap((object) => {
    const change = changes.find(({ id }) => isSame(id, resourceIdOf(object)))
    return change === undefined ? [object] : mergedObject(object, change)
  })
  const added = changes.flatMap(({ id, before, after, isBuilt }) => {
    const isKnown = objects.some((object) => isSame(id, resourceIdOf(object)))
    // One that only a file declares is applied if the cluster has a syncer of its kind.
    const isApplied = isBuilt || (objects.length > 0 && id.namespace !== '')
    return after === undefined || before !== undefined || isKnown || !isApplied ? [] : [after]
  })
  return [...kept, ...added]
}

function mergedState(state: LiveState, change: ResourceChange): LiveState {
  if (state.state === 'unreadable') return state
  if (state.state === 'absent') {
    const { before, after, isBuilt } = change
    return isBuilt && before === undefined && after !== undefined
      ? { state: 'present', object: after, metadataOnly: false }
      : state
  }
  const [object] = mergedObject(state.object, change)
  return object === undefined ? { state: 'absent' } : { ...state, object }
}

function mergedObject(object: JsonObject, change: ResourceChange): readonly JsonObject[] {
  const { before, after, isBuilt } = change
  const [was, is, live] = [contentOf(before), contentOf(after), contentOf(object)]
  if (!isBuilt && (before === undefined || !hasAll(live, was))) return [object]
  return after === undefined ? [] : [{ ...object, ...merged(live, was, is) }]
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

function contentOf(object: JsonObject | undefined): JsonObject {
  return Object.fromEntries(CONTENT.map((name) => [name, partOf(object, name) ?? {}]))
}

function hasAll(value: Json | undefined, wanted: Json): boolean {
  return isJsonObject(value) && isJsonObject(wanted)
    ? Object.entries(wanted).every(([name, each]) => hasAll(partOf(value, name), each))
    : jsonEquals(value, wanted)
}

function merged(live: JsonObject, was: JsonObject, is: JsonObject): JsonObject {
  const fields = new Map(Object.entries(live))
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [one, before, after] = [live[name], was[name], is[name]]
    if (jsonEquals(before, after)) continue
    if (after === undefined) fields.delete(name)
    else if (isJsonObject(one) && isJsonObject(before) && isJsonObject(after))
      fields.set(name, merged(one, before, after))
    else fields.set(name, after)
  }
  return Object.fromEntries(fields)
}
