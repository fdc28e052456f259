/**
 * Lists objects that are in no inventory, owned by no other object, marked by no syncer and
 * declared by no package. They are read on demand, are never drift, and are never recorded.
 */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import { deriveCreator } from '../../drift/attribute/actor.ts'
import type { Actor } from '../../drift/compare/drift.ts'
import { findObjectManager } from '../../status/unmanaged.ts'
import type { DeclaredObjects } from './declared-objects.ts'
import { readInventories } from './read-inventories.ts'

export interface UnmanagedObject {
  readonly id: ResourceId
  readonly apiVersion: string
  readonly creator: Actor
  /** RFC 3339 UTC; undefined if the object does not say it. */
  readonly createdAt: string | undefined
}

export interface UnmanagedObjects {
  readonly cluster: string
  readonly namespaces: readonly string[]
  readonly objects: readonly UnmanagedObject[]
  readonly unread: readonly string[]
  readonly unlisted: readonly Failure[]
}

/**
 * @param observed declared and unexpected objects, whose namespaces are read
 * @throws only the reason of `signal`
 */
export async function readUnmanaged(
  reader: ClusterReader,
  observed: readonly ResourceId[],
  declared: DeclaredObjects,
  signal: AbortSignal,
): Promise<UnmanagedObjects> {
  const namespaces = [...new Set(observed.flatMap(findNamespaces))].sort()
  const nothing = { cluster: reader.name, namespaces, objects: [], unread: [], unlisted: [] }
  if (namespaces.length === 0) return nothing
  const { packages, unread: unreadPackages } = await declared.readEverywhere(signal)
  const [answer] = await readInventories(reader, [{ namespaces }], signal)
  if (answer === undefined || answer instanceof Failure)
    return {
      ...nothing,
      unread: [
        answer === undefined ? 'the cluster gave no answer' : `${answer.what}: ${answer.why}`,
      ],
    }
  const known = new Set(observed.map(getResourceKey))
  const isDeclared = (id: ResourceId): boolean => packages.some(({ ids }) => ids.has(id, true))
  const objects = answer.resources.flatMap((id, index): UnmanagedObject[] => {
    const object = answer.objects?.[index]
    if (
      object === undefined ||
      known.has(getResourceKey(id)) ||
      findObjectManager(object) !== undefined ||
      isDeclared(id)
    )
      return []
    return [describe(id, object)]
  })
  return {
    cluster: reader.name,
    namespaces,
    objects: objects.sort((left, right) =>
      getResourceKey(left.id) < getResourceKey(right.id) ? -1 : 1,
    ),
    unread: unreadPackages.map(
      (path) =>
        `the package ${path} cannot be read, so the list may contain objects that it declares`,
    ),
    unlisted: answer.unread ?? [],
  }
}

function findNamespaces({ group, kind, namespace, name }: ResourceId): readonly string[] {
  if (namespace !== '') return [namespace]
  return group === '' && kind === 'Namespace' ? [name] : []
}

function describe(id: ResourceId, object: JsonObject): UnmanagedObject {
  const apiVersion = typeof object['apiVersion'] === 'string' ? object['apiVersion'] : ''
  return {
    id,
    apiVersion,
    creator: deriveCreator(getManagedFields(object)),
    createdAt: getMetadataText(object, 'creationTimestamp') || undefined,
  }
}

export function listNotLookedInto({ unread, unlisted }: UnmanagedObjects): readonly string[] {
  return [...unread, ...unlisted.map(({ what, why }) => `${what}: ${why}`)]
}
