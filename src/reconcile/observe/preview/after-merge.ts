/** What the syncers of a cluster will have once what a merge changes of their own resources is applied. */
import type { ClusterReader, ObjectList } from '@backporch/cluster/cluster'
import { canonicalJson, type JsonObject, partOf, textOf } from '@backporch/kyaml/json'
import { metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import type { DeclaredSyncer } from '../../../sources/build/unit-source.ts'

interface DeclaredSides {
  /** On the base branch. */
  readonly before: readonly DeclaredSyncer[]
  /** After the merge. */
  readonly after: readonly DeclaredSyncer[]
}

/**
 * The cluster with the resources of syncers as they are after the merge: one that is as the base branch declares it gets the specification
 * that the merge declares, and is gone where the merge removes it. One that differs from git stays as it is.
 */
export function afterMerge(reader: ClusterReader, declared: DeclaredSides): ClusterReader {
  return {
    name: reader.name,
    identify: (signal) => reader.identify(signal),
    servedKind: (apiVersion, kind, signal) => reader.servedKind(apiVersion, kind, signal),
    readLive: (wanted, signal) => reader.readLive(wanted, signal),
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
  const kept = objects.flatMap((object) => {
    const was = only(before, object)
    if (was === undefined || specOf(was) !== specOf(object)) return [object]
    const is = only(after, object)
    if (is === undefined) return after.some((one) => isOf(one, object)) ? [object] : []
    return specOf(is) === specOf(object)
      ? [object]
      : [{ ...object, spec: partOf(is, 'spec') ?? null }]
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

function specOf(object: JsonObject): string {
  return canonicalJson(partOf(object, 'spec') ?? null)
}
