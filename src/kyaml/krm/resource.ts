import {
  findNonEmptyText,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../text/json.ts'
import { parseApiVersion, type ResourceId } from './resource-id.ts'

export interface Resource {
  readonly id: ResourceId
  readonly apiVersion: string
  readonly object: JsonObject
}

export function readResource(object: Json): Resource | { readonly problem: string } {
  if (!isJsonObject(object))
    return { problem: 'wanted a mapping with apiVersion, kind and metadata.name' }
  const [apiVersion, kind] = [
    findNonEmptyText(object, 'apiVersion'),
    findNonEmptyText(object, 'kind'),
  ]
  if (apiVersion === undefined) return { problem: 'apiVersion is missing' }
  if (kind === undefined) return { problem: 'kind is missing' }
  const name = findNonEmptyText(object, 'metadata', 'name')
  if (name === undefined) {
    const generated = getPartAt(object, 'metadata', 'generateName') !== undefined
    return {
      problem: generated
        ? 'metadata.generateName gives a new object at each apply; name the object'
        : 'metadata.name is missing',
    }
  }
  return {
    id: {
      group: parseApiVersion(apiVersion).group,
      kind,
      namespace: getMetadataText(object, 'namespace'),
      name,
    },
    apiVersion,
    object,
  }
}

function getStrings(
  object: JsonObject,
  name: 'labels' | 'annotations',
): ReadonlyMap<string, string> {
  const map = getPartAt(object, 'metadata', name)
  if (!isJsonObject(map)) return new Map()
  return new Map(
    Object.entries(map).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, value] as const] : [],
    ),
  )
}

export function getLabels(object: JsonObject): ReadonlyMap<string, string> {
  return getStrings(object, 'labels')
}

export function getAnnotations(object: JsonObject): ReadonlyMap<string, string> {
  return getStrings(object, 'annotations')
}

/** Written all the time, and declared by nobody. */
const BOOKKEEPING = new Set([
  'managedFields',
  'resourceVersion',
  'generation',
  'uid',
  'creationTimestamp',
  'selfLink',
])

export function omitBookkeeping(object: JsonObject): JsonObject {
  const { status: _status, metadata, ...rest } = object
  if (!isJsonObject(metadata)) return metadata === undefined ? rest : { ...rest, metadata }
  return { ...rest, metadata: omitMetadataBookkeeping(metadata) }
}

export function omitMetadataBookkeeping(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !BOOKKEEPING.has(name)))
}

export function getMetadataText(object: JsonObject, name: string): string {
  return getTextAt(object, 'metadata', name)
}
