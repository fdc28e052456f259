/** What the syncers of a cluster will have once what a merge changes of their own resources, and of ConfigMaps with variables, is applied. */
import type { ClusterReader, ObjectList } from '@backporch/cluster/cluster'
import { canonicalJson, type JsonObject, partOf, textOf } from '@backporch/kyaml/json'
import { type LiveState, metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import type { DeclaredSyncer } from '../../../sources/build/unit-source.ts'

interface DeclaredSides {
  /** On the base branch. */
  readonly before: readonly DeclaredSyncer[]
  /** After the merge. */
  readonly after: readonly DeclaredSyncer[]
}

/**
 * The cluster with the resources of syncers, and the ConfigMaps with variables, as they are after the merge: one that is as the base branch
 * declares it gets the content that the merge declares, and is gone where the merge removes it. One that differs from git stays as it is.
 */
export function afterMerge(reader: ClusterReader, declared: DeclaredSides): ClusterReader {
  return {
    name: reader.name,
    identify: (signal) => reader.identify(signal),
    servedKind: (apiVersion, kind, signal) => reader.servedKind(apiVersion, kind, signal),
    readLive: async (wanted, signal) => {
      const configMaps = of(declared, '', 'ConfigMap')
      const states = await reader.readLive(wanted, signal)
      return new Map(
        [...states].map(([key, state]) => [
          key,
          key.startsWith('/ConfigMap/') ? mergedState(state, configMaps) : state,
        ]),
      )
    },
    readInventories: (refs, signal) => reader.readInventories(refs, signal),
    predict: (resource, fieldManager, signal) => reader.predict(resource, fieldManager, signal),
    list: async (group, kind, signal): Promise<ObjectList> => {
      const { objects, complete } = await reader.list(group, kind, signal)
      return { objects: merged(objects, of(declared, group, kind)), complete }
    },
  }
}

function of({ before, after }: DeclaredSides, group: string, kind: string): DeclaredSides {
  const isKind = ({ object }: DeclaredSyncer): boolean =>
    textOf(object, 'kind') === kind && parseApiVersion(textOf(object, 'apiVersion')).group === group
  return { before: before.filter(isKind), after: after.filter(isKind) }
}

function merged(
  objects: readonly JsonObject[],
  { before, after }: DeclaredSides,
): readonly JsonObject[] {
  const kept = objects.flatMap((object): readonly JsonObject[] => {
    const is = mergedObject(object, { before, after })
    return is === undefined ? [] : [is]
  })
  // A new one is applied by a syncer only where there is one.
  const fresh = after.filter(
    (one) =>
      objects.length > 0 &&
      metadataText(one.object, 'namespace') !== '' &&
      ![...before.map(({ object }) => object), ...objects].some((object) => isOf(one, object)),
  )
  return fresh.length === 0 ? kept : [...kept, ...fresh.map(({ object }) => object)]
}

/** Undefined where the merge removes it. */
function mergedObject(
  object: JsonObject,
  { before, after }: DeclaredSides,
): JsonObject | undefined {
  const was = only(before, object)
  if (was === undefined || contentOf(was) !== contentOf(object)) return object
  const is = only(after, object)
  if (is === undefined) return after.some((one) => isOf(one, object)) ? object : undefined
  if (contentOf(is) === contentOf(object)) return object
  const content = CONTENT.flatMap((name) => {
    const value = partOf(is, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...object, ...Object.fromEntries(content) }
}

function mergedState(state: LiveState, configMaps: DeclaredSides): LiveState {
  if (state.state !== 'present') return state
  const object = mergedObject(state.object, configMaps)
  return object === undefined ? { state: 'absent' } : { ...state, object }
}

/** The one declaration of the object; undefined where there is none, or more than one. */
function only(declared: readonly DeclaredSyncer[], object: JsonObject): JsonObject | undefined {
  const [one, another] = declared.filter((each) => isOf(each, object))
  return another === undefined ? one?.object : undefined
}

/** A kustomization may set the namespace. */
function isOf({ object: declared }: DeclaredSyncer, object: JsonObject): boolean {
  const namespace = metadataText(declared, 'namespace')
  const same =
    namespace === '' ||
    metadataText(object, 'namespace') === '' ||
    namespace === metadataText(object, 'namespace')
  return same && metadataText(declared, 'name') === metadataText(object, 'name')
}

/** Of a resource of a syncer, and of a ConfigMap. */
const CONTENT = ['spec', 'data']

function contentOf(object: JsonObject): string {
  return canonicalJson(CONTENT.map((name) => partOf(object, name) ?? null))
}
