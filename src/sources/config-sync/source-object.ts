import { Failure } from '@backporch/kyaml/failure'
import { formatJson, isJsonObject, type JsonObject, partOf, textOf } from '@backporch/kyaml/json'
import {
  annotationsOf,
  describeResourceId,
  metadataText,
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
  return groupOf(object) === OWN_GROUP && textOf(object, 'kind') === kind
}

export function isNamespace({ object }: SourceObject): boolean {
  return textOf(object, 'apiVersion') === 'v1' && textOf(object, 'kind') === 'Namespace'
}

export function groupOf(object: JsonObject): string {
  return parseApiVersion(textOf(object, 'apiVersion')).group
}

export function nameOf({ object }: SourceObject): string {
  return metadataText(object, 'name')
}

export function namespaceOf({ object }: SourceObject): string {
  return metadataText(object, 'namespace')
}

export function annotationOf({ object }: SourceObject, name: string): string | undefined {
  return annotationsOf(object).get(name)
}

export function withMetadata(source: SourceObject, metadata: JsonObject): SourceObject {
  const before = partOf(source.object, 'metadata')
  const object = {
    ...source.object,
    metadata: { ...(isJsonObject(before) ? before : {}), ...metadata },
  }
  return { ...source, object, text: `${formatJson(object)}\n` }
}

export function describe({ object }: SourceObject): string {
  return describeResourceId({
    group: groupOf(object),
    kind: textOf(object, 'kind'),
    namespace: metadataText(object, 'namespace'),
    name: metadataText(object, 'name'),
  })
}

export function refused(why: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be compared as Config Sync applies it',
    why,
    remedy:
      'correct the object, move it to a folder of its own, or name another renderer of the folder in a policy (spec.render)',
    retry: 'on-change',
  })
}
