/**
 * YAML as a tree that functions change in place: values with style, comments and source. The shape is that of go-yaml's `Node` (yaml.v3
 * `yaml.go`), on which kpt and its functions work, so that a rendered package looks as with kpt.
 */
import { emptyObject, isJsonArray, isJsonObject, type Json, setKey } from '../text/json.ts'
import {
  type GoScalar,
  resolveCoreScalar,
  resolveGoKey,
  resolveGoScalar,
  resolveKptScalar,
} from './go-scalar.ts'

export type YamlNode = YamlScalar | YamlMap | YamlList | YamlAlias

/** The source of a node. Offsets are UTF-16 code units from the start of the file; `end` is behind the last one. */
export interface YamlSource {
  /** Path of the file, as given to the reader. */
  readonly path: string
  /** Number of the document in the file, from 0, empty ones not counted. */
  readonly document: number
  readonly start: number
  readonly end: number
  /** Set for a `|` or `>` block at the end of a text without a final line break: kubectl reads a line break there, kpt does not. */
  readonly unended?: true
}

interface YamlNodeBase {
  /** The short form (`!!str`); empty where there is none. */
  tag: string
  anchor: string
  /** Lines above the node, each with its `#`, joined by `\n`; empty where there is none. The other two have the same form. */
  headComment: string
  /** The comment at the end of the node's line. */
  lineComment: string
  /** Lines below the node. */
  footComment: string
  /** Undefined for a created node. */
  source?: YamlSource | undefined
  /** Indexes of the pipeline steps that created the node or changed its value, in order; undefined where none did. */
  writes?: number[] | undefined
}

export interface YamlScalar extends YamlNodeBase {
  kind: 'scalar'
  /** The text, without quotes and escapes. */
  value: string
  style: 'plain' | 'single' | 'double' | 'literal' | 'folded'
}

export interface YamlEntry {
  key: YamlNode
  value: YamlNode
}

export interface YamlMap extends YamlNodeBase {
  kind: 'map'
  style: 'block' | 'flow'
  /** A duplicate key has two entries. */
  entries: YamlEntry[]
}

export interface YamlList extends YamlNodeBase {
  kind: 'list'
  style: 'block' | 'flow'
  items: YamlNode[]
}

export interface YamlAlias extends YamlNodeBase {
  kind: 'alias'
  /** The anchor it names. */
  name: string
  target: YamlNode
}

const noComments = () => ({
  tag: '',
  anchor: '',
  headComment: '',
  lineComment: '',
  footComment: '',
})

/** A text as the Go functions create it: plain, with the tag `!!str`. The writer quotes it where it would read as something else. */
export function yamlText(value: string): YamlScalar {
  return { kind: 'scalar', ...noComments(), tag: '!!str', value, style: 'plain' }
}

/** A scalar whose text decides its type: `3` is a number. */
export function yamlPlain(value: string): YamlScalar {
  return { kind: 'scalar', ...noComments(), value, style: 'plain' }
}

export function yamlMap(entries: readonly (readonly [string, YamlNode])[] = []): YamlMap {
  return {
    kind: 'map',
    ...noComments(),
    style: 'block',
    entries: entries.map(([key, value]) => ({ key: yamlPlain(key), value })),
  }
}

export function yamlList(items: readonly YamlNode[] = []): YamlList {
  return { kind: 'list', ...noComments(), style: 'block', items: [...items] }
}

/** A tree for a value, in block style. */
export function yamlOf(value: Json): YamlNode {
  if (isJsonArray(value)) return yamlList(value.map(yamlOf))
  if (typeof value === 'string') return yamlText(value)
  if (!isJsonObject(value)) return yamlPlain(String(value))
  const entries = Object.entries(value).map(([key, below]) => ({
    key: yamlText(key),
    value: yamlOf(below),
  }))
  return { ...yamlMap(), entries }
}

/** The target of an alias; any other node itself. */
export function resolved(node: YamlNode): Exclude<YamlNode, YamlAlias> {
  let at = node
  while (at.kind === 'alias') at = at.target
  return at
}

/**
 * The value for kpt and its functions: scalars and merge keys as kubectl reads them, keys as they are written.
 * @throws TypeError for a value that JSON does not have
 */
export function jsonOf(node: YamlNode): Json {
  return jsonWith(node, keyOf)
}

/** The value that kubectl reads: as `jsonOf`, and the key `on` is `true` to it. @throws TypeError for a value that JSON does not have */
export function kubectlJsonOf(node: YamlNode): Json {
  return jsonWith(node, (key) => goKeyOf(key) ?? keyOf(key))
}

/** The value that `kpt live apply` sends: keys as they are written. @throws TypeError for a value that JSON does not have */
export function kptJsonOf(node: YamlNode): Json {
  // Written again in a flow collection, a text with a colon gets quotes (go-yaml `emitterc.go`), and is no time any more.
  return jsonWith(node, keyOf, (text, isPlain, tag, inFlow) =>
    resolveKptScalar(text, isPlain && !(inFlow && text.includes(':')), tag),
  )
}

type ReadScalar = (
  text: string,
  isPlain: boolean,
  tag: string | undefined,
  inFlow: boolean,
) => GoScalar

function jsonWith(
  node: YamlNode,
  nameOf: (key: YamlNode) => string,
  readScalar: ReadScalar = resolveGoScalar,
  inFlow = false,
): Json {
  const target = resolved(node)
  if (target.kind === 'scalar') {
    const read = readScalar(target.value, target.style === 'plain', longTag(target.tag), inFlow)
    if (read.is !== 'value') throw new TypeError('the scalar has no form in JSON')
    return read.value
  }
  const below = (value: YamlNode): Json =>
    jsonWith(value, nameOf, readScalar, inFlow || target.style === 'flow')
  if (target.kind === 'list') return target.items.map(below)
  const object = emptyObject()
  for (const { key, value } of target.entries) {
    if (isMergeKey(key)) {
      const from = resolved(value)
      for (const each of from.kind === 'list' ? from.items.toReversed() : [from])
        for (const [name, merged] of Object.entries(
          below(each) as { readonly [name: string]: Json },
        ))
          setKey(object, name, merged)
    } else setKey(object, nameOf(key), below(value))
  }
  return object
}

/** The text that a key is to kubectl, or undefined for a merge key. */
export function goKeyOf(key: YamlNode): string | undefined {
  const target = resolved(key)
  if (target.kind !== 'scalar' || isMergeKey(key)) return undefined
  const read = resolveGoKey(target.value, target.style === 'plain', longTag(target.tag))
  return 'key' in read ? read.key : undefined
}

/** The value by YAML 1.2's core schema, for files that no other program reads: `Off` is a text, and `<<` is an ordinary key. */
export function coreJsonOf(node: YamlNode): Json {
  const target = resolved(node)
  if (target.kind === 'list') return target.items.map(coreJsonOf)
  if (target.kind === 'scalar')
    return target.style === 'plain' && target.tag === ''
      ? resolveCoreScalar(target.value)
      : jsonOf(target)
  const object = emptyObject()
  for (const { key, value } of target.entries) setKey(object, keyOf(key), coreJsonOf(value))
  return object
}

/** The long form of a tag, as `resolveGoScalar` takes it; undefined where there is none. */
export function longTag(tag: string): string | undefined {
  if (tag === '') return undefined
  return tag.startsWith('!!') ? `tag:yaml.org,2002:${tag.slice(2)}` : tag
}

/** Whether go-yaml takes the key for a merge key: a plain `<<`, or one with the tag `!!merge`. */
export function isMergeKey(key: YamlNode): boolean {
  return (
    key.kind === 'scalar' &&
    key.value === '<<' &&
    ((key.style === 'plain' && /^!?$/.test(key.tag)) || key.tag === '!!merge')
  )
}

/** The text of a key as written; aliases are followed. */
export function keyOf(key: YamlNode): string {
  if (key.kind === 'scalar') return key.value
  const target = resolved(key)
  return target.kind === 'scalar' ? target.value : ''
}

/** The entry of the key, or undefined. A duplicate key has its first entry, as in kyaml. */
export function entryOf(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  const target = node === undefined ? undefined : resolved(node)
  if (target?.kind !== 'map') return undefined
  for (const entry of target.entries) if (keyOf(entry.key) === key) return entry
  return undefined
}

/** The node at a chain of keys, or undefined where one is missing or no map is on the way. */
export function nodeAt(
  node: YamlNode | undefined,
  ...keys: readonly string[]
): YamlNode | undefined {
  let at = node
  for (const key of keys) at = entryOf(at, key)?.value
  return at === undefined ? undefined : resolved(at)
}

/** The text of the scalar at a chain of keys, whatever its type; undefined for none and for null. */
export function textAt(node: YamlNode | undefined, ...keys: readonly string[]): string | undefined {
  const found = nodeAt(node, ...keys)
  return found?.kind !== 'scalar' || isNull(found) ? undefined : found.value
}

/** The map at a chain of keys, or undefined. */
export function mapAt(node: YamlNode | undefined, ...keys: readonly string[]): YamlMap | undefined {
  const found = nodeAt(node, ...keys)
  return found?.kind === 'map' ? found : undefined
}

/** The items of the list at a chain of keys; empty where there is no list. */
export function itemsAt(
  node: YamlNode | undefined,
  ...keys: readonly string[]
): readonly YamlNode[] {
  const found = nodeAt(node, ...keys)
  return found?.kind === 'list' ? found.items : []
}

/** Whether the scalar is a null: `null`, `~` or nothing. */
export function isNull(node: YamlNode): boolean {
  const target = resolved(node)
  return (
    target.kind === 'scalar' &&
    target.style === 'plain' &&
    (target.tag === '!!null' || (target.tag === '' && /^(|~|null|Null|NULL)$/.test(target.value)))
  )
}

/** Replaces the value of a key, with its comments where the new one has none, or adds the key as the last entry (kyaml `FieldSetter`). */
export function setEntry(map: YamlMap, key: string, value: YamlNode): void {
  const entry = entryOf(map, key)
  if (entry === undefined) {
    map.entries.push({ key: yamlPlain(key), value })
    return
  }
  if (value !== entry.value) {
    value.headComment ||= entry.value.headComment
    value.lineComment ||= entry.value.lineComment
    value.footComment ||= entry.value.footComment
  }
  entry.value = value
}

/** @returns whether there was such an entry */
export function removeEntry(map: YamlMap, key: string): boolean {
  const at = map.entries.findIndex((entry) => keyOf(entry.key) === key)
  if (at !== -1) map.entries.splice(at, 1)
  return at !== -1
}

/** The map at a chain of keys; a missing one is created. @throws TypeError where a value on the path is no map */
export function mapCreatedAt(node: YamlMap, ...keys: readonly string[]): YamlMap {
  let at = node
  for (const key of keys) {
    const found = nodeAt(at, key)
    if (found?.kind === 'map') at = found
    else if (found === undefined || isNull(found)) {
      const created = yamlMap()
      setEntry(at, key, created)
      at = created
    } else throw new TypeError(`${key} is not a map`)
  }
  return at
}

/** A deep copy that shares only sources. An alias into the tree refers to the copy. */
export function copyNode<T extends YamlNode>(node: T): T {
  return copyOf(node, new Map()) as T
}

/** A node with two parents, or the target of an alias, is one node in the copy too. */
function copyOf(node: YamlNode, copies: Map<YamlNode, YamlNode>): YamlNode {
  const known = copies.get(node)
  if (known !== undefined) return known
  const copy = { ...node }
  copies.set(node, copy)
  if (copy.writes !== undefined) copy.writes = [...copy.writes]
  if (copy.kind === 'map')
    copy.entries = copy.entries.map(({ key, value }) => ({
      key: copyOf(key, copies),
      value: copyOf(value, copies),
    }))
  else if (copy.kind === 'list') copy.items = copy.items.map((item) => copyOf(item, copies))
  else if (copy.kind === 'alias') copy.target = copyOf(copy.target, copies)
  return copy
}
