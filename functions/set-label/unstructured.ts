/**
 * Like kustomize before it had YAML trees: values as kubectl reads them (kustomize api v0.7
 * `k8sdeps/kunstruct/factory.go`, `resource/factory.go`; sigs.k8s.io/yaml `JSONToYAML`).
 */
import { getKey, isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import {
  formatGoFloat,
  goKeyOf,
  isMergeKey,
  jsonOf,
  keyOf,
  kubectlJsonOf,
  nodeAt,
  resolved,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  yamlList,
  yamlMap,
  yamlOf,
  yamlPlain,
  yamlText,
} from '@backporch/kyaml/yaml'
import { compareGoKeys } from '../../src/sources/kustomize/files/go-key-order.ts'
import { goText } from '../../src/sources/kustomize/files/through-json.ts'

const LOCAL_CONFIG = 'config.kubernetes.io/local-config'
const INT64 = 2n ** 63n

/**
 * A local object gives none. The items of a list are in no file. @returns the problem if kustomize
 * rejects the item
 */
export function readObjects(item: YamlMap): readonly YamlMap[] | string {
  const objects: YamlMap[] = []
  const left = [valueNodeOf(item)]
  for (const object of left) {
    if (object?.kind !== 'map') return 'an object is no map'
    const value = jsonOf(object)
    const kind = textAt(value, 'kind')
    if (kind === '') return 'missing kind in object'
    const isList = kind.endsWith('List')
    if (!isList && textAt(fieldOf(value, 'metadata'), 'name') === '')
      return 'missing metadata.name in object'
    if (!isList && hasEmptyItem(value)) return 'empty item in object'
    if (isLocal(value)) continue
    const items = nodeAt(object, 'items')
    if (!isList) objects.push({ ...object, writes: item.writes })
    else if (items?.kind === 'list') left.push(...items.items)
    else if ((fieldOf(value, 'items') ?? null) !== null) return 'items in List is no list'
  }
  return objects
}

function valueNodeOf(item: YamlMap): YamlNode | undefined {
  try {
    return copyOf(item)
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined
    throw thrown
  }
}

function copyOf(from: YamlNode): YamlNode {
  const node = resolved(from)
  const copy =
    node.kind === 'list'
      ? yamlList(node.items.map(copyOf))
      : node.kind === 'map'
        ? mapCopyOf(node)
        : yamlOf(kubectlJsonOf(node))
  return Object.assign(copy, { source: node.source })
}

function mapCopyOf(map: YamlMap): YamlMap {
  const entries = new Map<string, YamlEntry>()
  for (const { key, value } of map.entries) {
    const copy = isMergeKey(key) ? undefined : copyOf(value)
    if (copy === undefined)
      for (const merged of mergedBy(value)) entries.set(keyOf(merged.key), merged)
    else {
      const name = goKeyOf(key) ?? keyOf(key)
      entries.set(name, { key: { ...yamlText(name), source: key.source }, value: copy })
    }
  }
  return { ...yamlMap(), entries: [...entries.values()] }
}

/** The first map wins. */
function mergedBy(value: YamlNode): readonly YamlEntry[] {
  const from = resolved(value)
  const maps = from.kind === 'list' ? from.items.toReversed().map(resolved) : [from]
  return maps.flatMap((map) => (map.kind === 'map' ? mapCopyOf(map).entries : []))
}

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? getKey(value, name) : undefined
}

function textAt(value: Json | undefined, name: string): string {
  const text = fieldOf(value, name)
  return typeof text === 'string' ? text : ''
}

function hasEmptyItem(value: Json): boolean {
  if (isJsonArray(value)) return value.some((each) => each === null || hasEmptyItem(each))
  return isJsonObject(value) && Object.values(value).some(hasEmptyItem)
}

/** The value does not matter. If one annotation is not text, the object has no annotations. */
function isLocal(value: Json): boolean {
  const annotations = fieldOf(fieldOf(value, 'metadata'), 'annotations')
  if (
    !isJsonObject(annotations) ||
    Object.values(annotations).some((each) => typeof each !== 'string')
  )
    return false
  return getKey(annotations, LOCAL_CONFIG) !== undefined
}

export function writtenAnew(object: YamlMap): YamlMap {
  const entries = object.entries.map(({ key, value }) => ({
    key: { ...goText(keyOf(key)), source: key.source },
    value: nodeOf(value),
  }))
  entries.sort((one, other) => compareGoKeys(one.key.value, other.key.value))
  return { ...object, entries }
}

function nodeOf(node: YamlNode): YamlNode {
  if (node.kind === 'map') return writtenAnew(node)
  if (node.kind === 'list') return { ...node, items: node.items.map(nodeOf) }
  const value = jsonOf(node)
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  const copy =
    typeof value === 'string'
      ? goText(value)
      : yamlPlain(isNumber ? numberText(value) : String(value))
  return { ...copy, source: node.source }
}

/** 64-bit integers keep their digits. */
function numberText(value: number | bigint): string {
  const whole = typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value) : undefined
  if (whole !== undefined && whole >= -INT64 && whole < INT64) return String(whole)
  const double = Number(value)
  return whole !== undefined && whole > 0n && BigInt(double) < 2n * INT64
    ? String(double)
    : formatGoFloat(double)
}
