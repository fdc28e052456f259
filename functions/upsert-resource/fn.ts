/** KRM function `upsert-resource` (kptdev/krm-functions-catalog `functions/go/upsert-resource/upsertresource/upsert_resource.go`). */
import { annotationsOf, replaceAnnotations } from '@backporch/kpt/field'
import {
  annotationOf,
  type FunctionOutput,
  failed,
  INDEX,
  type KrmFunction,
  LEGACY_INDEX,
  LEGACY_PATH,
  PATH,
  succeeded,
} from '@backporch/kpt/function'
import { parseApiVersion } from '@backporch/kyaml/resource'
import {
  copyNode,
  isNull,
  itemsAt,
  keyOf,
  mapAt,
  resolved,
  textAt,
  type YamlMap,
} from '@backporch/kyaml/yaml'

/** Annotation of the resource in the config: the only file to search, and the file for a new resource. */
const TARGET_PATH = 'config.kubernetes.io/target-path'
/** Annotation by which kpt 0.x distinguished the config of a function from other objects. */
const FUNCTION_MARKS = ['config.kubernetes.io/function', 'config.k8s.io/function']

/** The annotations by which a release knows the file of a resource. */
interface FileAnnotations {
  readonly path: string
  readonly index: string
}

/** v0.2.4. The config is the resource, or a `List` of resources. */
export const upsertResource = upsertWith({ path: PATH, index: INDEX })

/**
 * v0.2.0, which knows the older annotations only. kpt goes by the newer ones, and a replaced resource has those of the config: where a resource
 * of the package matches beside the config itself, kpt refuses the two in one place.
 */
export const upsertResourceByOlderPath = upsertWith({ path: LEGACY_PATH, index: LEGACY_INDEX })

function upsertWith(annotations: FileAnnotations): KrmFunction {
  return ({ items, config }) => upsert(items, config, annotations)
}

function upsert(
  items: readonly YamlMap[],
  config: YamlMap | undefined,
  annotations: FileAnnotations,
): FunctionOutput {
  if (config === undefined)
    return failed(items, 'failed to upsert resource: functionConfig is missing')
  const wanted =
    textAt(config, 'kind') === 'List'
      ? itemsAt(config, 'items').map((item) => resolved(item))
      : [config]
  const locations = new Map<string, number[]>()
  const all: YamlMap[] = []
  const add = (item: YamlMap): void => {
    const key = resourceKey(item)
    const found = locations.get(key)
    if (found === undefined) locations.set(key, [all.length])
    else found.push(all.length)
    all.push(item)
  }
  for (const item of items) add(item)
  for (const resource of wanted) {
    if (resource.kind !== 'map' || isBare(resource))
      return failed(items, 'failed to upsert resource: missing Resource metadata')
    const path = annotationOf(resource, TARGET_PATH) ?? ''
    const matches = (locations.get(resourceKey(resource)) ?? []).filter((index) => {
      const item = all[index]
      return (
        item !== undefined &&
        !isFunctionConfig(item) &&
        (path === '' || path === annotationOf(item, annotations.path))
      )
    })
    for (const position of matches)
      all[position] = replacement(resource, all[position], annotations)
    if (matches.length === 0) add(addition(resource, path, annotations))
  }
  return succeeded(all)
}

/** Version is no part of it. */
function resourceKey(item: YamlMap): string {
  const text = (...path: readonly string[]): string => textAt(item, ...path) ?? ''
  return JSON.stringify([
    parseApiVersion(text('apiVersion')).group,
    text('kind'),
    text('metadata', 'namespace'),
    text('metadata', 'name'),
  ])
}

/** No part that identifies a resource. */
function isBare(resource: YamlMap): boolean {
  const fields = [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']]
  const maps = [mapAt(resource, 'metadata', 'labels'), mapAt(resource, 'metadata', 'annotations')]
  return (
    fields.every((path) => textAt(resource, ...path) === undefined) &&
    maps.every((map) => map === undefined || map.entries.length === 0)
  )
}

function isFunctionConfig(item: YamlMap): boolean {
  return FUNCTION_MARKS.some((name) => (annotationOf(item, name) ?? '') !== '')
}

/**
 * The resource in place of a match, in the file of the match. A match that was added a moment ago has no file: kpt refuses the empty texts. The
 * SDK of v0.2.4 writes the older annotations as the newer ones are.
 */
function replacement(
  resource: YamlMap,
  match: YamlMap | undefined,
  { path, index }: FileAnnotations,
): YamlMap {
  const copy = copyNode(resource)
  const annotations = readAnnotations(resource)
  if (path === PATH) for (const name of [LEGACY_PATH, LEGACY_INDEX]) annotations.delete(name)
  for (const name of [path, index])
    annotations.set(name, (match === undefined ? undefined : annotationOf(match, name)) ?? '')
  for (const name of [...FUNCTION_MARKS, TARGET_PATH]) annotations.delete(name)
  replaceAnnotations(copy, annotations)
  return copy
}

/** As kyaml's `GetMeta` reads them, to which null is an empty text. */
function readAnnotations(resource: YamlMap): Map<string, string> {
  const annotations = annotationsOf(resource)
  for (const { key, value } of mapAt(resource, 'metadata', 'annotations')?.entries ?? [])
    if (isNull(value)) annotations.set(keyOf(key), '')
  return annotations
}

function addition(resource: YamlMap, target: string, { path, index }: FileAnnotations): YamlMap {
  const copy = copyNode(resource)
  const annotations = readAnnotations(resource)
  for (const name of [...FUNCTION_MARKS, TARGET_PATH, path, index]) annotations.delete(name)
  if (target !== '') annotations.set(path, target)
  replaceAnnotations(copy, annotations)
  return copy
}
