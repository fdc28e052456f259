/** For functions that know objects only as JSON (npm package `kpt-functions`). */
import {
  canonicalJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
} from '../../text/json.ts'
import {
  copyNode,
  isMergeKey,
  jsonOf,
  keyOf,
  resolved,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  yamlOf,
  yamlText,
} from '../yaml-node.ts'

/**
 * Equal parts keep their nodes; keys keep their order and new ones come last. Returns a new node if
 * the value has another kind. A change first expands all aliases and merge keys, because a change
 * to an anchor would also affect other locations.
 */
export function patchYamlNode(node: YamlNode, value: Json): YamlNode {
  if (isAlready(node, value)) return node
  return patched(hasAlias(node) ? withoutAliases(node) : node, value)
}

/** False also for a node whose value has no JSON form. */
function isAlready(node: YamlNode, value: Json): boolean {
  const json = valueOfNode(node)
  return json !== undefined && jsonEquals(json, value)
}

function valueOfNode(node: YamlNode): Json | undefined {
  try {
    return jsonOf(node)
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined
    throw thrown
  }
}

function patched(node: YamlNode, value: Json): YamlNode {
  if (isAlready(node, value)) return node
  if (node.kind === 'map' && isJsonObject(value)) return patchedMap(node, value)
  if (node.kind === 'list' && isJsonArray(value)) return patchedList(node, value)
  if (node.kind === 'scalar' && !isJsonObject(value) && !isJsonArray(value))
    return patchedScalar(node, value)
  return withCommentsOf(node, yamlOf(value))
}

function patchedScalar(
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

function patchedMap(map: YamlMap, value: JsonObject): YamlMap {
  const last = new Map(map.entries.map((entry) => [keyOf(entry.key), entry]))
  const retained = map.entries.filter(
    (entry) => last.get(keyOf(entry.key)) === entry && Object.hasOwn(value, keyOf(entry.key)),
  )
  for (const entry of retained)
    entry.value = patched(entry.value, getKey(value, keyOf(entry.key)) as Json)
  const added = Object.entries(value).filter(([key]) => !last.has(key))
  map.entries = [
    ...retained,
    ...added.map(([key, below]) => ({ key: yamlText(key), value: yamlOf(below) })),
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
function patchedList(list: YamlList, values: readonly Json[]): YamlList {
  const items = list.items
  const free = new Set(items.keys())
  const taken: (YamlNode | undefined)[] = values.map(() => undefined)
  const take = (at: number, from: number | undefined, value: Json): void => {
    const item = from === undefined || !free.delete(from) ? undefined : items[from]
    if (item !== undefined) taken[at] = patched(item, value)
  }
  const open = (): readonly (readonly [number, Json])[] =>
    [...values.entries()].filter(([at]) => taken[at] === undefined)

  for (const [at, value] of values.entries()) {
    const item = items[at]
    if (item !== undefined && isAlready(item, value)) take(at, at, value)
  }
  const equals = locationsBy(items, free, canonicalJson)
  for (const [at, value] of open()) take(at, equals.get(canonicalJson(value))?.shift(), value)
  const sames = locationsBy(items, free, identityOf)
  for (const [at, value] of open()) take(at, sames.get(identityOf(value) ?? '')?.shift(), value)
  for (const [at, value] of open())
    if (identityOf(value) === undefined && free.has(at)) take(at, at, value)
  list.items = values.map((value, at) => taken[at] ?? yamlOf(value))
  return list
}

function locationsBy(
  items: readonly YamlNode[],
  free: ReadonlySet<number>,
  textOf: (json: Json) => string | undefined,
): ReadonlyMap<string, number[]> {
  const locations = new Map<string, number[]>()
  for (const index of free) {
    const item = items[index]
    const json = item === undefined ? undefined : valueOfNode(item)
    const text = json === undefined ? undefined : textOf(json)
    if (text === undefined) continue
    const known = locations.get(text)
    if (known === undefined) locations.set(text, [index])
    else known.push(index)
  }
  return locations
}

function identityOf(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined
  const field = IDENTITIES.find((name) => Object.hasOwn(value, name))
  return field === undefined ? undefined : canonicalJson([field, getKey(value, field) as Json])
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

function withoutAliases(node: YamlNode): Exclude<YamlNode, { kind: 'alias' }> {
  const target = resolved(node)
  const own = target === node ? target : withCommentsOf(node, copyNode(target))
  if (own.kind === 'list') own.items = own.items.map(withoutAliases)
  if (own.kind === 'map') own.entries = own.entries.flatMap(withoutMerge)
  own.anchor = ''
  return own
}

/** The last one of duplicate keys counts. */
function withoutMerge(entry: YamlEntry): YamlEntry[] {
  if (!isMergeKey(entry.key))
    return [{ key: withoutAliases(entry.key), value: withoutAliases(entry.value) }]
  const from = resolved(entry.value)
  const maps = (from.kind === 'list' ? from.items.toReversed() : [from]).map((each) =>
    withoutAliases(copyNode(each)),
  )
  return maps.flatMap((map) => (map.kind === 'map' ? map.entries : []))
}

function withCommentsOf<T extends YamlNode>(from: YamlNode, node: T): T {
  const { headComment, lineComment, footComment } = from
  return Object.assign(node, { headComment, lineComment, footComment })
}
