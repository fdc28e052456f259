/** KRM function `upsert-resource` (kptdev/krm-functions-catalog `functions/go/upsert-resource/upsertresource/upsert_resource.go`). */
import { parseApiVersion } from '../../src/krm/resource-id.ts'
import { annotationOf, INDEX, LEGACY_INDEX, LEGACY_PATH, PATH } from '../../src/render/kpt/item-annotations.ts'
import { failed, type KrmFunction, succeeded } from '../../src/render/kpt/krm-function.ts'
import { annotationsOf, replaceAnnotations } from '../../src/render/kpt/kyaml-text.ts'
import { copyNode, isNull, itemsAt, keyOf, mapAt, resolved, textAt, type YamlMap } from '../../src/yaml/yaml-node.ts'

/** Annotation of the resource in the config: the only file to search, and the file for a new resource. */
const TARGET_PATH = 'config.kubernetes.io/target-path'
/** Annotation by which kpt 0.x distinguished the config of a function from other objects. */
const FUNCTION_MARKS = ['config.kubernetes.io/function', 'config.k8s.io/function']

/** v0.2. The config is the resource, or a `List` of resources. */
export const upsertResource: KrmFunction = ({ items, config }) => {
  if (config === undefined) return failed(items, 'failed to upsert resource: functionConfig is missing')
  const wanted = textAt(config, 'kind') === 'List' ? itemsAt(config, 'items').map((item) => resolved(item)) : [config]
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
    if (resource.kind !== 'map' || isBare(resource)) return failed(items, 'failed to upsert resource: missing Resource metadata')
    const path = annotationOf(resource, TARGET_PATH) ?? ''
    const matches = (locations.get(resourceKey(resource)) ?? []).filter((index) => {
      const item = all[index]
      return item !== undefined && !isFunctionConfig(item) && (path === '' || path === annotationOf(item, PATH))
    })
    for (const position of matches) all[position] = replacement(resource, all[position])
    if (matches.length === 0) add(addition(resource, path))
  }
  return succeeded(all)
}

/** Version is no part of it. */
function resourceKey(item: YamlMap): string {
  const text = (...path: readonly string[]): string => textAt(item, ...path) ?? ''
  return JSON.stringify([parseApiVersion(text('apiVersion')).group, text('kind'), text('metadata', 'namespace'), text('metadata', 'name')])
}

/** No part that identifies a resource. */
function isBare(resource: YamlMap): boolean {
  const fields = [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']]
  const maps = [mapAt(resource, 'metadata', 'labels'), mapAt(resource, 'metadata', 'annotations')]
  return (
    fields.every((path) => textAt(resource, ...path) === undefined) && maps.every((map) => map === undefined || map.entries.length === 0)
  )
}

function isFunctionConfig(item: YamlMap): boolean {
  return FUNCTION_MARKS.some((name) => (annotationOf(item, name) ?? '') !== '')
}

/**
 * The resource in place of a match, in the file of the match. The older annotations of a file are removed: kpt adds some to the config, and
 * the original fails where they differ from those of the match.
 */
function replacement(resource: YamlMap, match: YamlMap | undefined): YamlMap {
  const copy = copyNode(resource)
  const annotations = readAnnotations(resource)
  for (const name of [PATH, INDEX]) {
    const own = match === undefined ? undefined : annotationOf(match, name)
    if (own === undefined) annotations.delete(name)
    else annotations.set(name, own)
  }
  for (const name of [...FUNCTION_MARKS, TARGET_PATH, LEGACY_PATH, LEGACY_INDEX]) annotations.delete(name)
  replaceAnnotations(copy, annotations)
  return copy
}

/** As kyaml's `GetMeta` reads them, to which null is an empty text. */
function readAnnotations(resource: YamlMap): Map<string, string> {
  const annotations = annotationsOf(resource)
  for (const { key, value } of mapAt(resource, 'metadata', 'annotations')?.entries ?? []) if (isNull(value)) annotations.set(keyOf(key), '')
  return annotations
}

function addition(resource: YamlMap, path: string): YamlMap {
  const copy = copyNode(resource)
  const annotations = readAnnotations(resource)
  for (const name of [...FUNCTION_MARKS, TARGET_PATH, PATH, INDEX]) annotations.delete(name)
  if (path !== '') annotations.set(PATH, path)
  replaceAnnotations(copy, annotations)
  return copy
}
