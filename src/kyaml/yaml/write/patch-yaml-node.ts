/** For functions that know objects only as JSON (npm package `kpt-functions`). */
import {
  formatCanonicalJson,
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../text/json.ts'
import {
  convertJsonToYaml,
  convertYamlToJson,
  copyNode,
  createYamlText,
  getYamlKey,
  isMergeKey,
  resolveAlias,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '../yaml-node.ts'

/**
 * Equal parts keep their nodes; keys keep their order and new ones come last. Returns a new node if
 * the value has another kind. A change first expands all aliases and merge keys, because a change
 * to an anchor would also affect other locations.
 */
export function patchYamlNode(node: YamlNode, value: Json): YamlNode {
  if (isAlready(node, value)) return node
  return patchNode(hasAlias(node) ? expandAliases(node) : node, value)
}

/** False also for a node whose value has no JSON form. */
function isAlready(node: YamlNode, value: Json): boolean {
  const json = findNodeValue(node)
  return json !== undefined && isJsonEqual(json, value)
}

function findNodeValue(node: YamlNode): Json | undefined {
  try {
    return convertYamlToJson(node)
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined
    throw thrown
  }
}

function patchNode(node: YamlNode, value: Json): YamlNode {
  if (isAlready(node, value)) return node
  if (node.kind === 'map' && isJsonObject(value)) return patchMap(node, value)
  if (node.kind === 'list' && isJsonArray(value)) return patchList(node, value)
  if (node.kind === 'scalar' && !isJsonObject(value) && !isJsonArray(value))
    return patchScalar(node, value)
  return copyComments(node, convertJsonToYaml(value))
}

function patchScalar(
  node: YamlScalar,
  value: null | boolean | number | bigint | string,
): YamlScalar {
  node.tag = ''
  if (typeof value !== 'string') {
    node.style = 'plain'
    node.value = String(value)
    return node
  }
  node.value = value
  // The writer quotes a text with this tag if it would read as something else.
  if (!isAlready(node, value)) node.tag = '!!str'
  return node
}

function patchMap(map: YamlMap, value: JsonObject): YamlMap {
  const last = new Map(map.entries.map((entry) => [getYamlKey(entry.key), entry]))
  const retained = map.entries.filter(
    (entry) =>
      last.get(getYamlKey(entry.key)) === entry && Object.hasOwn(value, getYamlKey(entry.key)),
  )
  for (const entry of retained)
    entry.value = patchNode(entry.value, getKey(value, getYamlKey(entry.key)) as Json)
  const added = Object.entries(value).filter(([key]) => !last.has(key))
  map.entries = [
    ...retained,
    ...added.map(([key, below]) => ({ key: createYamlText(key), value: convertJsonToYaml(below) })),
  ]
  return map
}

const IDENTITIES = [
  'name',
  'key',
  'mountPath',
  'containerPort',
  'port',
  'ip',
  'host',
  'id',
] as const

/** By equality, else by identity, else by index. */
function patchList(list: YamlList, values: readonly Json[]): YamlList {
  const items = list.items
  const free = new Set(items.keys())
  const taken: (YamlNode | undefined)[] = values.map(() => undefined)
  const take = (at: number, from: number | undefined, value: Json): void => {
    const item = from === undefined || !free.delete(from) ? undefined : items[from]
    if (item !== undefined) taken[at] = patchNode(item, value)
  }
  const open = (): readonly (readonly [number, Json])[] =>
    [...values.entries()].filter(([at]) => taken[at] === undefined)

  for (const [at, value] of values.entries()) {
    const item = items[at]
    if (item !== undefined && isAlready(item, value)) take(at, at, value)
  }
  const equals = groupLocations(items, free, formatCanonicalJson)
  for (const [at, value] of open()) take(at, equals.get(formatCanonicalJson(value))?.shift(), value)
  const sames = groupLocations(items, free, findIdentity)
  for (const [at, value] of open()) take(at, sames.get(findIdentity(value) ?? '')?.shift(), value)
  for (const [at, value] of open())
    if (findIdentity(value) === undefined && free.has(at)) take(at, at, value)
  list.items = values.map((value, at) => taken[at] ?? convertJsonToYaml(value))
  return list
}

function groupLocations(
  items: readonly YamlNode[],
  free: ReadonlySet<number>,
  textOf: (json: Json) => string | undefined,
): ReadonlyMap<string, number[]> {
  const locations = new Map<string, number[]>()
  for (const index of free) {
    const item = items[index]
    const json = item === undefined ? undefined : findNodeValue(item)
    const text = json === undefined ? undefined : textOf(json)
    if (text === undefined) continue
    const known = locations.get(text)
    if (known === undefined) locations.set(text, [index])
    else known.push(index)
  }
  return locations
}

function findIdentity(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined
  const field = IDENTITIES.find((name) => Object.hasOwn(value, name))
  return field === undefined
    ? undefined
    : formatCanonicalJson([field, getKey(value, field) as Json])
}

function hasAlias(node: YamlNode): boolean {
  if (node.kind === 'alias') return true
  if (node.kind === 'list') return node.items.some(hasAlias)
  return (
    node.kind === 'map' &&
    node.entries.some(
      (entry) => isMergeKey(entry.key) || hasAlias(entry.key) || hasAlias(entry.value),
    )
  )
}

function expandAliases(node: YamlNode): Exclude<YamlNode, { kind: 'alias' }> {
  const target = resolveAlias(node)
  const own = target === node ? target : copyComments(node, copyNode(target))
  if (own.kind === 'list') own.items = own.items.map(expandAliases)
  if (own.kind === 'map') own.entries = own.entries.flatMap(expandMerge)
  own.anchor = ''
  return own
}

/** The last one of duplicate keys counts. */
function expandMerge(entry: YamlEntry): YamlEntry[] {
  if (!isMergeKey(entry.key))
    return [{ key: expandAliases(entry.key), value: expandAliases(entry.value) }]
  const from = resolveAlias(entry.value)
  const maps = (from.kind === 'list' ? from.items.toReversed() : [from]).map((each) =>
    expandAliases(copyNode(each)),
  )
  return maps.flatMap((map) => (map.kind === 'map' ? map.entries : []))
}

function copyComments<T extends YamlNode>(from: YamlNode, node: T): T {
  const { headComment, lineComment, footComment } = from
  return Object.assign(node, { headComment, lineComment, footComment })
}
