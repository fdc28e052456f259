/** kptdev/krm-functions-catalog `functions/go/upsert-resource/upsertresource/upsert_resource.go` */
import { readItemAnnotations, replaceAnnotations } from '@backporch/kpt/field'
import {
  createFailedOutput,
  createSuccess,
  type FunctionOutput,
  findAnnotation,
  INDEX,
  type KrmFunction,
  LEGACY_INDEX,
  LEGACY_PATH,
  PATH,
} from '@backporch/kpt/function'
import { parseApiVersion } from '@backporch/kyaml/resource'
import {
  copyNode,
  findTextAt,
  getYamlKey,
  isNull,
  listItemsAt,
  mapAt,
  resolveAlias,
  type YamlMap,
} from '@backporch/kyaml/yaml'

/** The only file to search, and the file for a new resource. */
const TARGET_PATH = 'config.kubernetes.io/target-path'
/** Of kpt 0.x. */
const FUNCTION_MARKS = ['config.kubernetes.io/function', 'config.k8s.io/function']

interface FileAnnotations {
  readonly path: string
  readonly index: string
}

/** v0.2.4. The config is the resource, or a `List`. */
export const upsertResource = upsertWith({ path: PATH, index: INDEX })

/**
 * v0.2.0 knows only the older annotations. kpt uses the newer ones, and a replaced resource has
 * those of the config: if a package resource other than the config matches, kpt rejects two in one
 * place.
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
    return createFailedOutput(items, 'failed to upsert resource: functionConfig is missing')
  const wanted =
    findTextAt(config, 'kind') === 'List'
      ? listItemsAt(config, 'items').map((item) => resolveAlias(item))
      : [config]
  const locations = new Map<string, number[]>()
  const all: YamlMap[] = []
  const add = (item: YamlMap): void => {
    const key = getResourceKey(item)
    const found = locations.get(key)
    if (found === undefined) locations.set(key, [all.length])
    else found.push(all.length)
    all.push(item)
  }
  for (const item of items) add(item)
  for (const resource of wanted) {
    if (resource.kind !== 'map' || isBare(resource))
      return createFailedOutput(items, 'failed to upsert resource: missing Resource metadata')
    const path = findAnnotation(resource, TARGET_PATH) || undefined
    const matches = (locations.get(getResourceKey(resource)) ?? []).filter((index) => {
      const item = all[index]
      return (
        item !== undefined &&
        !isFunctionConfig(item) &&
        (path === undefined || path === findAnnotation(item, annotations.path))
      )
    })
    for (const position of matches)
      all[position] = buildReplacement(resource, all[position], annotations)
    if (matches.length === 0) add(buildAddition(resource, path, annotations))
  }
  return createSuccess(all)
}

/** The version is not part of the key. */
function getResourceKey(item: YamlMap): string {
  const text = (...path: readonly string[]): string => findTextAt(item, ...path) ?? ''
  return JSON.stringify([
    parseApiVersion(text('apiVersion')).group,
    text('kind'),
    text('metadata', 'namespace'),
    text('metadata', 'name'),
  ])
}

function isBare(resource: YamlMap): boolean {
  const fields = [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']]
  const maps = [mapAt(resource, 'metadata', 'labels'), mapAt(resource, 'metadata', 'annotations')]
  return (
    fields.every((path) => findTextAt(resource, ...path) === undefined) &&
    maps.every((map) => map === undefined || map.entries.length === 0)
  )
}

function isFunctionConfig(item: YamlMap): boolean {
  return FUNCTION_MARKS.some((name) => (findAnnotation(item, name) ?? '') !== '')
}

/**
 * Stays in the match's file. A match that was just added has none: kpt rejects the empty texts. The
 * SDK of v0.2.4 copies the newer annotations to the older ones.
 */
function buildReplacement(
  resource: YamlMap,
  match: YamlMap | undefined,
  { path, index }: FileAnnotations,
): YamlMap {
  const copy = copyNode(resource)
  const annotations = readAnnotations(resource)
  if (path === PATH) for (const name of [LEGACY_PATH, LEGACY_INDEX]) annotations.delete(name)
  for (const name of [path, index])
    annotations.set(name, (match === undefined ? undefined : findAnnotation(match, name)) ?? '')
  for (const name of [...FUNCTION_MARKS, TARGET_PATH]) annotations.delete(name)
  replaceAnnotations(copy, annotations)
  return copy
}

/** Like kyaml's `GetMeta`: null is empty text. */
function readAnnotations(resource: YamlMap): Map<string, string> {
  const annotations = readItemAnnotations(resource)
  for (const { key, value } of mapAt(resource, 'metadata', 'annotations')?.entries ?? [])
    if (isNull(value)) annotations.set(getYamlKey(key), '')
  return annotations
}

function buildAddition(
  resource: YamlMap,
  target: string | undefined,
  { path, index }: FileAnnotations,
): YamlMap {
  const copy = copyNode(resource)
  const annotations = readAnnotations(resource)
  for (const name of [...FUNCTION_MARKS, TARGET_PATH, path, index]) annotations.delete(name)
  if (target !== undefined) annotations.set(path, target)
  replaceAnnotations(copy, annotations)
  return copy
}
