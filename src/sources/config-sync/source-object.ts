import { Failure } from '@backporch/kyaml/failure'
import {
  formatJson,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  describeResourceId,
  getAnnotations,
  getMetadataText,
  parseApiVersion,
} from '@backporch/kyaml/resource'

export interface SourceObject {
  readonly object: JsonObject
  readonly path: string
  readonly text: string
}

export const NAMESPACE_SELECTOR = 'configmanagement.gke.io/namespace-selector'

const OWN_GROUP = 'configmanagement.gke.io'

export function isOwnKind(
  { object }: SourceObject,
  kind: 'Repo' | 'HierarchyConfig' | 'ClusterSelector' | 'NamespaceSelector',
): boolean {
  return readGroup(object) === OWN_GROUP && getTextAt(object, 'kind') === kind
}

export function isNamespace({ object }: SourceObject): boolean {
  return getTextAt(object, 'apiVersion') === 'v1' && getTextAt(object, 'kind') === 'Namespace'
}

export function readGroup(object: JsonObject): string {
  return parseApiVersion(getTextAt(object, 'apiVersion')).group
}

export function getName({ object }: SourceObject): string {
  return getMetadataText(object, 'name')
}

export function getObjectNamespace({ object }: SourceObject): string {
  return getMetadataText(object, 'namespace')
}

export function findObjectAnnotation({ object }: SourceObject, name: string): string | undefined {
  return getAnnotations(object).get(name)
}

export function setMetadata(source: SourceObject, metadata: JsonObject): SourceObject {
  const before = getPartAt(source.object, 'metadata')
  const object = {
    ...source.object,
    metadata: { ...(isJsonObject(before) ? before : {}), ...metadata },
  }
  return { ...source, object, text: `${formatJson(object)}\n` }
}

export function describe({ object }: SourceObject): string {
  return describeResourceId({
    group: readGroup(object),
    kind: getTextAt(object, 'kind'),
    namespace: getMetadataText(object, 'namespace'),
    name: getMetadataText(object, 'name'),
  })
}

export function createRefusedFolderFailure(why: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be compared as Config Sync applies it',
    why,
    remedy:
      'correct the object, move it to a folder of its own, or name another renderer of the folder in a policy (spec.render)',
    retry: 'on-change',
  })
}
