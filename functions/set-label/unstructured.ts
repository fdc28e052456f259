/**
 * Like kustomize before it had YAML trees: values as kubectl reads them (kustomize api v0.7
 * `k8sdeps/kunstruct/factory.go`, `resource/factory.go`; sigs.k8s.io/yaml `JSONToYAML`).
 */
import { getKey, isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import {
  convertJsonToYaml,
  convertToKubectlJson,
  convertYamlToJson,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  createYamlText,
  findNodeAt,
  formatGoFloat,
  getYamlKey,
  isMergeKey,
  readGoKey,
  resolveAlias,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
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
  const left = [copyValueNode(item)]
  for (const object of left) {
    if (object?.kind !== 'map') return 'an object is not a map'
    const value = convertYamlToJson(object)
    const kind = findText(value, 'kind')
    if (kind === undefined) return 'missing kind in object'
    const isList = kind.endsWith('List')
    if (!isList && findText(findField(value, 'metadata'), 'name') === undefined)
      return 'missing metadata.name in object'
    if (!isList && hasEmptyItem(value)) return 'empty item in object'
    if (isLocal(value)) continue
    const items = findNodeAt(object, 'items')
    if (!isList) objects.push({ ...object, writes: item.writes })
    else if (items?.kind === 'list') left.push(...items.items)
    else if ((findField(value, 'items') ?? null) !== null) return 'items in List is not a list'
  }
  return objects
}

function copyValueNode(item: YamlMap): YamlNode | undefined {
  try {
    return makeCopy(item)
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined
    throw thrown
  }
}

function makeCopy(from: YamlNode): YamlNode {
  const node = resolveAlias(from)
  const copy =
    node.kind === 'list'
      ? createYamlList(node.items.map(makeCopy))
      : node.kind === 'map'
        ? mapCopyOf(node)
        : convertJsonToYaml(convertToKubectlJson(node))
  return Object.assign(copy, { source: node.source })
}

function mapCopyOf(map: YamlMap): YamlMap {
  const entries = new Map<string, YamlEntry>()
  for (const { key, value } of map.entries) {
    const copy = isMergeKey(key) ? undefined : makeCopy(value)
    if (copy === undefined)
      for (const merged of listMergedEntries(value)) entries.set(getYamlKey(merged.key), merged)
    else {
      const name = readGoKey(key) ?? getYamlKey(key)
      entries.set(name, { key: { ...createYamlText(name), source: key.source }, value: copy })
    }
  }
  return { ...createYamlMap(), entries: [...entries.values()] }
}

/** The first map wins. */
function listMergedEntries(value: YamlNode): readonly YamlEntry[] {
  const from = resolveAlias(value)
  const maps = from.kind === 'list' ? from.items.toReversed().map(resolveAlias) : [from]
  return maps.flatMap((map) => (map.kind === 'map' ? mapCopyOf(map).entries : []))
}

function findField(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? getKey(value, name) : undefined
}

function findText(value: Json | undefined, name: string): string | undefined {
  const text = findField(value, name)
  return (typeof text === 'string' && text) || undefined
}

function hasEmptyItem(value: Json): boolean {
  if (isJsonArray(value)) return value.some((each) => each === null || hasEmptyItem(each))
  return isJsonObject(value) && Object.values(value).some(hasEmptyItem)
}

/** The value does not matter. If one annotation is not text, the object has no annotations. */
function isLocal(value: Json): boolean {
  const annotations = findField(findField(value, 'metadata'), 'annotations')
  if (
    !isJsonObject(annotations) ||
    Object.values(annotations).some((each) => typeof each !== 'string')
  )
    return false
  return getKey(annotations, LOCAL_CONFIG) !== undefined
}

export function rewriteObject(object: YamlMap): YamlMap {
  const entries = object.entries.map(({ key, value }) => ({
    key: { ...goText(getYamlKey(key)), source: key.source },
    value: rewriteNode(value),
  }))
  entries.sort((one, other) => compareGoKeys(one.key.value, other.key.value))
  return { ...object, entries }
}

function rewriteNode(node: YamlNode): YamlNode {
  if (node.kind === 'map') return rewriteObject(node)
  if (node.kind === 'list') return { ...node, items: node.items.map(rewriteNode) }
  const value = convertYamlToJson(node)
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  const copy =
    typeof value === 'string'
      ? goText(value)
      : createYamlPlain(isNumber ? numberText(value) : String(value))
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
