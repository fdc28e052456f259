/** Locations of values in the text of one document: entries of maps and lists with their offsets, and the walk along a field path. */
import { type FieldPath, indexOfStep } from '../../krm/field-path.ts'
import { goValueOf } from '../read/go-yaml-values.ts'
import type { YamlDocument } from '../read/read-yaml-node.ts'
import {
  goKeyOf,
  type YamlAlias,
  type YamlList,
  type YamlMap,
  type YamlNode,
} from '../yaml-node.ts'
import { EditRefusal } from './edit-yaml-value.ts'

export type Collection = YamlMap | YamlList

/** Offsets in the text; `end` is behind the last character. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** A piece of the text to replace. */
export interface Splice extends TextRange {
  readonly text: string
}

/** A key with its value, or an item with its dash. */
export interface Entry extends TextRange {
  /** Offset behind the `:` or `-`; undefined for items in brackets, and for a key without a colon. */
  readonly indicatorEnd: number | undefined
  readonly anchor: TextRange | undefined
  readonly tag: TextRange | undefined
  /** The value without its anchor and tag; undefined where no value is written. */
  readonly written: TextRange | undefined
  readonly node: YamlNode
  /** Undefined for an item. */
  readonly key: YamlNode | undefined
}

/** A value that can be replaced, with its way up. */
export interface Slot {
  readonly node: YamlNode
  /** Undefined for the root. */
  readonly parent: SlotParent | undefined
}

/** A place in a map or list; of what is to be added, the place that it will have. */
export interface SlotParent {
  readonly collection: Collection
  readonly index: number
}

/** The range of a node, without its anchor and tag, and without comments and blank lines behind it. */
export function rangeOf({ source }: YamlNode): TextRange {
  if (source === undefined) throw new TypeError('the node was not read')
  return source
}

/**
 * The entries of a map or list, in order.
 * @throws EditRefusal for `[key: value]`, a map without braces of its own
 */
export function entriesOf(text: string, collection: Collection): readonly Entry[] {
  const { start } = rangeOf(collection)
  const inFlow = isFlow(collection)
  if (inFlow && text[start] !== '{' && text[start] !== '[')
    throw new EditRefusal('a key stands in a list without braces', start)
  let at = inFlow ? start + 1 : start
  const entries: Entry[] = []
  for (const pair of collection.kind === 'map'
    ? collection.entries
    : collection.items.map((value) => ({ key: undefined, value }))) {
    const entry = readEntry(text, skipGap(text, at), pair, inFlow)
    entries.push(entry)
    at = entry.end
  }
  return entries
}

function readEntry(
  text: string,
  start: number,
  { key, value }: { readonly key: YamlNode | undefined; readonly value: YamlNode },
  inFlow: boolean,
): Entry {
  const range = rangeOf(value)
  const indicator = key === undefined ? start : skipGap(text, rangeOf(key).end)
  const hasIndicator = key === undefined ? !inFlow : text[indicator] === ':'
  const indicatorEnd = hasIndicator ? indicator + 1 : undefined
  const properties: { anchor?: TextRange; tag?: TextRange } = {}
  for (let at = skipGap(text, indicatorEnd ?? indicator); at < range.start; ) {
    const property = /!<[^>]*>|[^\s,\]}]+/y
    property.lastIndex = at
    if (!property.test(text)) break
    properties[text[at] === '&' ? 'anchor' : 'tag'] = { start: at, end: property.lastIndex }
    at = skipGap(text, property.lastIndex)
  }
  const { anchor, tag } = properties
  return {
    start,
    end: range.end,
    indicatorEnd,
    anchor,
    tag,
    written: range.end > range.start ? range : undefined,
    node: value,
    key,
  }
}

/** Offset behind spaces, line breaks, commas and comments. */
function skipGap(text: string, at: number): number {
  const gap = /(?:[\s,]|#[^\n]*)*/y
  gap.lastIndex = at
  gap.test(text)
  return gap.lastIndex
}

export function isFlow(collection: Collection): boolean {
  return collection.style === 'flow'
}

export function isCollection(node: YamlNode): node is Collection {
  return node.kind === 'map' || node.kind === 'list'
}

interface Walk {
  /** The values on the path, from the root to the deepest one that exists. */
  readonly slots: readonly Slot[]
  /** The steps below that value: they do not exist, or are behind an alias. */
  readonly rest: FieldPath
}

/**
 * Follows a path as far as it exists in the text; an alias ends the walk.
 * @throws EditRefusal where the key is there twice
 */
export function walk(document: YamlDocument, path: FieldPath): Walk {
  const slots: Slot[] = [{ node: document.node, parent: undefined }]
  let at = 0
  for (const step of path) {
    const collection = slots[at]?.node
    let index = -1
    if (step.kind === 'field' && collection?.kind === 'map')
      index = pairIndex(collection, step.name)
    else if (step.kind !== 'field' && collection?.kind === 'list')
      index = indexOfStep(goValueOf(collection), step)
    if (index === -1) break
    const parent = { collection: collection as Collection, index }
    const node =
      parent.collection.kind === 'map'
        ? parent.collection.entries[index]?.value
        : parent.collection.items[index]
    slots.push({ node: node as YamlNode, parent })
    at += 1
  }
  return { slots, rest: path.slice(at) }
}

function pairIndex(map: YamlMap, name: string): number {
  const matches = map.entries.flatMap(({ key }, index) =>
    goKeyOf(key) === name ? [{ key, index }] : [],
  )
  const [first, second] = matches
  if (second !== undefined)
    throw new EditRefusal('the key is there twice', rangeOf(second.key).start)
  return first?.index ?? -1
}

/** Nodes at and below a node, keys included. */
function subtree(node: YamlNode | undefined, into: Set<YamlNode> = new Set()): Set<YamlNode> {
  if (node === undefined) return into
  into.add(node)
  if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      subtree(key, into)
      subtree(value, into)
    }
  else if (node.kind === 'list') for (const item of node.items) subtree(item, into)
  return into
}

/**
 * Refuses a change that an alias would show elsewhere.
 * @param changed the values whose content changes: from the root to the changed location
 * @param removed the deleted value, with everything in it
 */
export function checkAnchors(
  { aliases }: YamlDocument,
  changed: readonly YamlNode[],
  removed: YamlNode | undefined,
  removedKey: YamlNode | undefined,
): void {
  if (aliases.length === 0) return
  const gone = subtree(removedKey, subtree(removed))
  for (const alias of aliases) {
    const { target, name } = alias
    if (gone.has(alias) || (!changed.includes(target) && !gone.has(target))) continue
    throw new EditRefusal(
      `the anchor &${name} is used elsewhere in the document, which would change with it`,
      rangeOf(alias).start,
    )
  }
}

export function isAliasSlot(slot: Slot): slot is Slot & { readonly node: YamlAlias } {
  return slot.node.kind === 'alias'
}
