/**
 * The shape is that of go-yaml's `Node` (yaml.v3 `yaml.go`), on which kpt and its functions work,
 * so that a rendered package looks like kpt's.
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

/** UTF-16 code units from the start of the file; `end` is exclusive. */
export interface YamlSource {
  readonly path: string
  /** From 0, without empty documents. */
  readonly document: number
  readonly start: number
  readonly end: number
  /**
   * A `|` or `>` block at the end of a text without a final line break: kubectl reads a line break
   * there, kpt does not.
   */
  readonly unended?: true
}

interface YamlNodeBase {
  /** Short form (`!!str`), or empty. */
  tag: string
  anchor: string
  /** Lines with their `#`, joined by `\n`, or empty, like the other two. */
  headComment: string
  lineComment: string
  footComment: string
  /** Undefined for a created node. */
  source?: YamlSource | undefined
  /** Ascending indexes of the pipeline steps that created the node or changed its value. */
  writes?: number[] | undefined
}

export interface YamlScalar extends YamlNodeBase {
  kind: 'scalar'
  /** Without quotes and escapes. */
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
  name: string
  target: YamlNode
}

const createEmptyComments = () => ({
  tag: '',
  anchor: '',
  headComment: '',
  lineComment: '',
  footComment: '',
})

/** Plain with the tag `!!str`, as the Go functions create it. The writer quotes it if needed. */
export function createYamlText(value: string): YamlScalar {
  return { kind: 'scalar', ...createEmptyComments(), tag: '!!str', value, style: 'plain' }
}

/** The text decides the type: `3` is a number. */
export function createYamlPlain(value: string): YamlScalar {
  return { kind: 'scalar', ...createEmptyComments(), value, style: 'plain' }
}

export function createYamlMap(entries: readonly (readonly [string, YamlNode])[] = []): YamlMap {
  return {
    kind: 'map',
    ...createEmptyComments(),
    style: 'block',
    entries: entries.map(([key, value]) => ({ key: createYamlPlain(key), value })),
  }
}

export function createYamlList(items: readonly YamlNode[] = []): YamlList {
  return { kind: 'list', ...createEmptyComments(), style: 'block', items: [...items] }
}

export function convertJsonToYaml(value: Json): YamlNode {
  if (isJsonArray(value)) return createYamlList(value.map(convertJsonToYaml))
  if (typeof value === 'string') return createYamlText(value)
  if (!isJsonObject(value)) return createYamlPlain(String(value))
  const entries = Object.entries(value).map(([key, below]) => ({
    key: createYamlText(key),
    value: convertJsonToYaml(below),
  }))
  return { ...createYamlMap(), entries }
}

export function resolveAlias(node: YamlNode): Exclude<YamlNode, YamlAlias> {
  let at = node
  while (at.kind === 'alias') at = at.target
  return at
}

/**
 * Scalars and merge keys as kubectl reads them, keys as written.
 * @throws TypeError for a value that JSON cannot represent
 */
export function convertYamlToJson(node: YamlNode): Json {
  return convertNodeToJson(node, getYamlKey)
}

/**
 * Like `jsonOf`, but the key `on` is `true`.
 * @throws TypeError for a value that JSON cannot represent
 */
export function convertToKubectlJson(node: YamlNode): Json {
  return convertNodeToJson(node, (key) => readGoKey(key) ?? getYamlKey(key))
}

/**
 * The value that `kpt live apply` sends, with keys as written.
 * @throws TypeError for a value that JSON cannot represent
 */
export function convertToKptJson(node: YamlNode): Json {
  // When rewritten in a flow collection, a text with a colon gets quotes (go-yaml `emitterc.go`),
  // and is no longer a time.
  return convertNodeToJson(node, getYamlKey, (text, isPlain, tag, inFlow) =>
    resolveKptScalar(text, isPlain && !(inFlow && text.includes(':')), tag),
  )
}

type ReadScalar = (
  text: string,
  isPlain: boolean,
  tag: string | undefined,
  inFlow: boolean,
) => GoScalar

function convertNodeToJson(
  node: YamlNode,
  nameOf: (key: YamlNode) => string,
  readScalar: ReadScalar = resolveGoScalar,
  inFlow = false,
): Json {
  const target = resolveAlias(node)
  if (target.kind === 'scalar') {
    const read = readScalar(
      target.value,
      target.style === 'plain',
      formatLongTag(target.tag),
      inFlow,
    )
    if (read.is !== 'value') throw new TypeError('the scalar has no form in JSON')
    return read.value
  }
  const below = (value: YamlNode): Json =>
    convertNodeToJson(value, nameOf, readScalar, inFlow || target.style === 'flow')
  if (target.kind === 'list') return target.items.map(below)
  const object = emptyObject()
  for (const { key, value } of target.entries) {
    if (isMergeKey(key)) {
      const from = resolveAlias(value)
      for (const each of from.kind === 'list' ? from.items.toReversed() : [from])
        for (const [name, merged] of Object.entries(
          below(each) as { readonly [name: string]: Json },
        ))
          setKey(object, name, merged)
    } else setKey(object, nameOf(key), below(value))
  }
  return object
}

/** A key's text to kubectl; undefined for a merge key. */
export function readGoKey(key: YamlNode): string | undefined {
  const target = resolveAlias(key)
  if (target.kind !== 'scalar' || isMergeKey(key)) return undefined
  const read = resolveGoKey(target.value, target.style === 'plain', formatLongTag(target.tag))
  return 'key' in read ? read.key : undefined
}

/**
 * By YAML 1.2's core schema, for files that no other program reads: `Off` is text, and `<<` is an
 * ordinary key.
 */
export function convertToCoreJson(node: YamlNode): Json {
  const target = resolveAlias(node)
  if (target.kind === 'list') return target.items.map(convertToCoreJson)
  if (target.kind === 'scalar')
    return target.style === 'plain' && target.tag === ''
      ? resolveCoreScalar(target.value)
      : convertYamlToJson(target)
  const object = emptyObject()
  for (const { key, value } of target.entries)
    setKey(object, getYamlKey(key), convertToCoreJson(value))
  return object
}

export function formatLongTag(tag: string): string | undefined {
  if (tag === '') return undefined
  return tag.startsWith('!!') ? `tag:yaml.org,2002:${tag.slice(2)}` : tag
}

export function isMergeKey(key: YamlNode): boolean {
  return (
    key.kind === 'scalar' &&
    key.value === '<<' &&
    ((key.style === 'plain' && /^!?$/.test(key.tag)) || key.tag === '!!merge')
  )
}

export function getYamlKey(key: YamlNode): string {
  if (key.kind === 'scalar') return key.value
  const target = resolveAlias(key)
  return target.kind === 'scalar' ? target.value : ''
}

/** The first entry for a duplicate key, as in kyaml. */
export function findEntry(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  const target = node === undefined ? undefined : resolveAlias(node)
  if (target?.kind !== 'map') return undefined
  for (const entry of target.entries) if (getYamlKey(entry.key) === key) return entry
  return undefined
}

export function findNodeAt(
  node: YamlNode | undefined,
  ...keys: readonly string[]
): YamlNode | undefined {
  let at = node
  for (const key of keys) at = findEntry(at, key)?.value
  return at === undefined ? undefined : resolveAlias(at)
}

/** Of any scalar type; undefined for none and for null. */
export function findTextAt(
  node: YamlNode | undefined,
  ...keys: readonly string[]
): string | undefined {
  const found = findNodeAt(node, ...keys)
  return found?.kind !== 'scalar' || isNull(found) ? undefined : found.value
}

export function mapAt(node: YamlNode | undefined, ...keys: readonly string[]): YamlMap | undefined {
  const found = findNodeAt(node, ...keys)
  return found?.kind === 'map' ? found : undefined
}

export function listItemsAt(
  node: YamlNode | undefined,
  ...keys: readonly string[]
): readonly YamlNode[] {
  const found = findNodeAt(node, ...keys)
  return found?.kind === 'list' ? found.items : []
}

export function isNull(node: YamlNode): boolean {
  const target = resolveAlias(node)
  return (
    target.kind === 'scalar' &&
    target.style === 'plain' &&
    (target.tag === '!!null' || (target.tag === '' && /^(|~|null|Null|NULL)$/.test(target.value)))
  )
}

/** Keeps the key's comments if the new value has none (kyaml `FieldSetter`). */
export function setEntry(map: YamlMap, key: string, value: YamlNode): void {
  const entry = findEntry(map, key)
  if (entry === undefined) {
    map.entries.push({ key: createYamlPlain(key), value })
    return
  }
  if (value !== entry.value) {
    value.headComment ||= entry.value.headComment
    value.lineComment ||= entry.value.lineComment
    value.footComment ||= entry.value.footComment
  }
  entry.value = value
}

/** @returns whether the entry existed */
export function removeEntry(map: YamlMap, key: string): boolean {
  const at = map.entries.findIndex((entry) => getYamlKey(entry.key) === key)
  if (at !== -1) map.entries.splice(at, 1)
  return at !== -1
}

/** @throws TypeError if a value on the path is not a map */
export function mapCreatedAt(node: YamlMap, ...keys: readonly string[]): YamlMap {
  let at = node
  for (const key of keys) {
    const found = findNodeAt(at, key)
    if (found?.kind === 'map') at = found
    else if (found === undefined || isNull(found)) {
      const created = createYamlMap()
      setEntry(at, key, created)
      at = created
    } else throw new TypeError(`${key} is not a map`)
  }
  return at
}

/** Shares only sources. An alias into the tree refers to the copy. */
export function copyNode<T extends YamlNode>(node: T): T {
  return makeCopy(node, new Map()) as T
}

function makeCopy(node: YamlNode, copies: Map<YamlNode, YamlNode>): YamlNode {
  const known = copies.get(node)
  if (known !== undefined) return known
  const copy = { ...node }
  copies.set(node, copy)
  if (copy.writes !== undefined) copy.writes = [...copy.writes]
  if (copy.kind === 'map')
    copy.entries = copy.entries.map(({ key, value }) => ({
      key: makeCopy(key, copies),
      value: makeCopy(value, copies),
    }))
  else if (copy.kind === 'list') copy.items = copy.items.map((item) => makeCopy(item, copies))
  else if (copy.kind === 'alias') copy.target = makeCopy(copy.target, copies)
  return copy
}
