/**
 * An unknown tag, which kubectl guesses about, is refused. A merge key takes effect at its
 * position, as in go-yaml, and is expanded only if the result is small.
 */
import { emptyObject, isJsonArray, isJsonObject, type Json, setKey } from '../../text/json.ts'
import { type GoScalar, readsAlike, resolveGoKey, resolveGoScalar } from '../go-scalar.ts'
import {
  formatLongTag,
  isMergeKey,
  resolveAlias,
  type YamlAlias,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '../yaml-node.ts'
import { createTooDeepRefusal, MAX_YAML_DEPTH, YamlRefusal } from './read-yaml-refusal.ts'

/** Nodes that aliases and merge keys of one document add. */
const MAX_YAML_EXPANSION = 100_000

/**
 * Values that kubectl reads differently from most people, grouped by message. The message never
 * contains a value, which may be a secret.
 */
export interface ValueNote {
  readonly kind: 'value' | 'key' | 'duplicate-key' | 'precision'
  /** Offset of the first one. */
  readonly offset: number
  readonly count: number
  /** Offset of the first one of duplicate keys. */
  readonly earlier?: number
  readonly message: string
}

export function noteOnce<Note extends Pick<ValueNote, 'message' | 'count'>>(
  noted: Map<string, Note>,
  note: Note,
): void {
  const first = noted.get(note.message)
  noted.set(
    note.message,
    first === undefined ? note : { ...first, count: first.count + note.count },
  )
}

/** ` (and 12 more)`; empty for a single one. */
export function describeOthers({ count }: Pick<ValueNote, 'count'>): string {
  return count === 1 ? '' : ` (and ${(count - 1).toLocaleString('en')} more)`
}

export interface GoValues {
  readonly value: Json
  readonly notes: readonly ValueNote[]
  readonly aliases: readonly YamlAlias[]
}

/** @throws YamlRefusal with the offset of the node's source */
export function readGoValues(root: YamlNode): GoValues {
  const reader = new ValueReader()
  const value = reader.read(root, 1)
  return { value, notes: reader.notes, aliases: reader.aliases }
}

/** The value of a node in a tree that `readGoValues` has accepted. */
export function readGoValue(node: YamlNode): Json {
  return new ValueReader().read(node, 1)
}

class ValueReader {
  private readonly noted = new Map<string, ValueNote>()
  readonly aliases: YamlAlias[] = []
  private readonly anchored = new Map<YamlNode, Json>()
  /** With aliases expanded. */
  private readonly extents = new Map<YamlNode, { readonly size: number; readonly depth: number }>()
  private expanded = 0

  get notes(): readonly ValueNote[] {
    return [...this.noted.values()]
  }

  private note(note: Omit<ValueNote, 'count'>): void {
    noteOnce(this.noted, { ...note, count: 1 })
  }

  read(node: YamlNode, depth: number): Json {
    if (depth > MAX_YAML_DEPTH + 1) throw createTooDeepRefusal(getOffset(node))
    if (node.kind === 'alias') return this.readAlias(node, depth)
    const value =
      node.kind === 'scalar'
        ? this.readScalar(node)
        : node.kind === 'map'
          ? this.readMap(node, depth)
          : this.readList(node, depth)
    if (node.anchor !== '') this.anchored.set(node, value)
    return value
  }

  private readAlias(node: YamlAlias, depth: number): Json {
    const { target } = node
    const { size, depth: below } = this.measureExtent(target)
    this.expand(size, node)
    if (depth + below > MAX_YAML_DEPTH + 1) throw createTooDeepRefusal(getOffset(node))
    this.aliases.push(node)
    return this.anchored.get(target) ?? this.read(target, depth)
  }

  private expand(nodes: number, at: YamlNode): void {
    this.expanded += nodes
    if (this.expanded > MAX_YAML_EXPANSION)
      throw new YamlRefusal(
        getOffset(at),
        `aliases and merge keys add more than ${MAX_YAML_EXPANSION} values`,
        'write the values out',
        'BP1111',
      )
  }

  private measureExtent(node: YamlNode): { readonly size: number; readonly depth: number } {
    const target = resolveAlias(node)
    if (target.kind === 'scalar') return { size: 1, depth: 0 }
    const known = this.extents.get(target)
    if (known !== undefined) return known
    let size = 1
    let depth = 0
    for (const child of target.kind === 'list'
      ? target.items
      : target.entries.map(({ value }) => value)) {
      const extent = this.measureExtent(child)
      size += extent.size
      depth = Math.max(depth, extent.depth)
    }
    const extent = { size, depth: depth + 1 }
    this.extents.set(target, extent)
    return extent
  }

  private readList(node: YamlList, depth: number): Json {
    checkCollectionTag(node, '!!seq')
    return node.items.map((item) => this.read(item, depth + 1))
  }

  private readMap(node: YamlMap, depth: number): Json {
    checkCollectionTag(node, '!!map')
    const value = emptyObject()
    const observed = new Map<string, number>()
    for (const entry of node.entries) {
      if (isMergeKey(entry.key)) {
        this.merge(value, entry, depth)
        continue
      }
      const key = this.readKey(entry.key)
      const offset = getOffset(entry.key)
      const earlier = observed.get(key)
      if (earlier !== undefined)
        this.note({
          kind: 'duplicate-key',
          offset,
          earlier,
          message: 'the key appears twice; kubectl takes the last one',
        })
      observed.set(key, offset)
      setKey(value, key, this.read(entry.value, depth + 1))
    }
    return value
  }

  private readKey(node: YamlNode): string {
    if (node.kind === 'alias') this.readAlias(node, 1)
    const target = resolveAlias(node)
    if (target.kind !== 'scalar')
      throw new YamlRefusal(getOffset(target), 'a key is not a text', 'use a plain or quoted key')
    const { value, tag } = target
    const plain = target.style === 'plain'
    const read = resolveGoKey(value, plain, formatLongTag(tag))
    if ('why' in read) throw new YamlRefusal(getOffset(target), read.why, 'put the key in quotes')
    if (plain && tag === '' && read.key !== value)
      this.note({
        kind: 'key',
        offset: getOffset(target),
        message: 'kubectl reads this key as another text; put it in quotes',
      })
    return read.key
  }

  /**
   * As in go-yaml: merged keys replace those above the merge key, and the first map of a list wins.
   */
  private merge(into: { [key: string]: Json }, { key, value }: YamlEntry, depth: number): void {
    const read = this.read(value, depth + 1)
    const sources =
      value.kind === 'list' && isJsonArray(read)
        ? value.items.map((item, index) => ({ item, from: read[index] }))
        : [{ item: value, from: read }]
    for (const { item, from } of sources.toReversed()) {
      if (!isJsonObject(from)) {
        const at = item.kind === 'scalar' && item.value === '' ? key : item
        throw new YamlRefusal(
          getOffset(at),
          'a merge key "<<" wants a map, or a list of maps',
          'name a map',
        )
      }
      const entries = Object.entries(from)
      this.expand(entries.length, item)
      for (const [name, below] of entries) setKey(into, name, below)
    }
  }

  private readScalar(node: YamlScalar): Json {
    const plain = node.style === 'plain'
    const scalar: GoScalar = resolveGoScalar(node.value, plain, formatLongTag(node.tag))
    if (scalar.is === 'refused')
      throw new YamlRefusal(getOffset(node), scalar.why, 'remove the tag')
    if (scalar.is === 'no-json')
      throw new YamlRefusal(
        getOffset(node),
        'infinity and "not a number" have no form in JSON',
        'put the value in quotes',
      )
    if (plain && node.tag === '') this.noteScalar(node, scalar.value)
    return node.source?.unended === true && typeof scalar.value === 'string'
      ? `${scalar.value}\n`
      : scalar.value
  }

  private noteScalar(node: YamlScalar, value: Json): void {
    const { value: text } = node
    if (!readsAlike(text))
      this.note({
        kind: 'value',
        offset: getOffset(node),
        message: `kubectl reads this as ${describe(value)}, other readers do not; write it out, or put it in quotes`,
      })
    else if (
      /^[-+]?[0-9]{17,}$/.test(text) &&
      BigInt(text.replace('+', '')) !== (typeof value === 'number' ? BigInt(value) : value)
    )
      this.note({
        kind: 'precision',
        offset: getOffset(node),
        message: 'the number does not fit 64 bits, so kubectl rounds it',
      })
  }
}

function describe(value: Json): string {
  return typeof value === 'boolean'
    ? String(value)
    : typeof value === 'string'
      ? 'text'
      : 'another number'
}

function checkCollectionTag(node: YamlMap | YamlList, own: string): void {
  if (node.tag !== '' && node.tag !== own && node.tag !== '!')
    throw new YamlRefusal(
      getOffset(node),
      'the tag is not one that kubectl knows for a map or list',
      'remove the tag',
    )
}

function getOffset(node: YamlNode): number {
  return node.source?.start ?? 0
}
