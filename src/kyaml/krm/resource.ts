/** A Kubernetes object with its identity. */
import { isJsonObject, type Json, type JsonObject, partOf, textOf } from '../text/json.ts'
import { parseApiVersion, type ResourceId } from './resource-id.ts'

export interface Resource {
  readonly id: ResourceId
  readonly apiVersion: string
  readonly object: JsonObject
}

/** The identity of an object, or a sentence about what the object lacks. */
export function readResource(object: Json): Resource | { readonly problem: string } {
  if (!isJsonObject(object))
    return { problem: 'wanted a mapping with apiVersion, kind and metadata.name' }
  const [apiVersion, kind] = [textOf(object, 'apiVersion'), textOf(object, 'kind')]
  if (apiVersion === '') return { problem: 'apiVersion is missing' }
  if (kind === '') return { problem: 'kind is missing' }
  const [name, namespace] = [metadataText(object, 'name'), metadataText(object, 'namespace')]
  if (name === '') {
    const generated = partOf(object, 'metadata', 'generateName') !== undefined
    return {
      problem: generated
        ? 'metadata.generateName gives a new object at each apply; name the object'
        : 'metadata.name is missing',
    }
  }
  return {
    id: { group: parseApiVersion(apiVersion).group, kind, namespace, name },
    apiVersion,
    object,
  }
}

function stringsAt(
  object: JsonObject,
  name: 'labels' | 'annotations',
): ReadonlyMap<string, string> {
  const map = partOf(object, 'metadata', name)
  if (!isJsonObject(map)) return new Map()
  return new Map(
    Object.entries(map).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, value] as const] : [],
    ),
  )
}

export function labelsOf(object: JsonObject): ReadonlyMap<string, string> {
  return stringsAt(object, 'labels')
}

export function annotationsOf(object: JsonObject): ReadonlyMap<string, string> {
  return stringsAt(object, 'annotations')
}

/** Fields that the server or controllers write all the time, and nobody declares. */
const BOOKKEEPING = new Set([
  'managedFields',
  'resourceVersion',
  'generation',
  'uid',
  'creationTimestamp',
  'selfLink',
])

/** The object without its status and the server's bookkeeping in its metadata. */
export function withoutBookkeeping(object: JsonObject): JsonObject {
  const { status: _status, metadata, ...rest } = object
  if (!isJsonObject(metadata)) return metadata === undefined ? rest : { ...rest, metadata }
  return { ...rest, metadata: authoredMetadata(metadata) }
}

/** Metadata without the server's bookkeeping. */
export function authoredMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !BOOKKEEPING.has(name)))
}

/** A text of the metadata, or empty: `uid`, `resourceVersion`, `creationTimestamp`. */
export function metadataText(object: JsonObject, name: string): string {
  return textOf(object, 'metadata', name)
}
