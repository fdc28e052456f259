import { type FieldPath, indexOfStep } from '../../krm/field-path.ts'
import { readGoValue } from '../read/go-yaml-values.ts'
import type { YamlDocument } from '../read/read-yaml-node.ts'
import {
  readGoKey,
  type YamlAlias,
  type YamlList,
  type YamlMap,
  type YamlNode,
} from '../yaml-node.ts'
import { EditRefusal } from './edit-yaml-value.ts'

export type Collection = YamlMap | YamlList

/** `end` is exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

export interface Splice extends TextRange {
  readonly text: string
}

export interface Entry extends TextRange {
  /** After `:` or `-`; undefined in brackets, and without a colon. */
  readonly indicatorEnd: number | undefined
  readonly anchor: TextRange | undefined
  readonly tag: TextRange | undefined
  readonly written: TextRange | undefined
  readonly node: YamlNode
  /** Undefined for an item. */
  readonly key: YamlNode | undefined
}

export interface Slot {
  readonly node: YamlNode
  /** Undefined for the root. */
  readonly parent: SlotParent | undefined
}

/** Or the future location of a value to be added. */
export interface SlotParent {
  readonly collection: Collection
  readonly index: number
}

/** Without anchor, tag, and comments and blank lines after it. */
export function getRange({ source }: YamlNode): TextRange {
  if (source === undefined) throw new TypeError('the node was not read')
  return source
}

/** @throws EditRefusal for `[key: value]`, a map without braces */
export function listCollectionEntries(text: string, collection: Collection): readonly Entry[] {
  const { start } = getRange(collection)
  const inFlow = isFlow(collection)
  if (inFlow && text[start] !== '{' && text[start] !== '[')
    throw new EditRefusal('a key is in a list without braces', start)
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
  const range = getRange(value)
  const indicator = key === undefined ? start : skipGap(text, getRange(key).end)
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
  /** From the root to the deepest one that exists. */
  readonly slots: readonly Slot[]
  /** Absent, or below an alias. */
  readonly rest: FieldPath
}

/**
 * An alias ends the walk.
 * @throws EditRefusal if the key occurs twice
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
      index = indexOfStep(readGoValue(collection), step)
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
    readGoKey(key) === name ? [{ key, index }] : [],
  )
  const [first, second] = matches
  if (second !== undefined)
    throw new EditRefusal('the key appears twice', getRange(second.key).start)
  return first?.index ?? -1
}

function collectSubtree(
  node: YamlNode | undefined,
  into: Set<YamlNode> = new Set(),
): Set<YamlNode> {
  if (node === undefined) return into
  into.add(node)
  if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      collectSubtree(key, into)
      collectSubtree(value, into)
    }
  else if (node.kind === 'list') for (const item of node.items) collectSubtree(item, into)
  return into
}

/**
 * An alias would show the change elsewhere.
 * @param changed from the root to the changed location
 * @param removed with everything in it
 */
export function checkAnchors(
  { aliases }: YamlDocument,
  changed: readonly YamlNode[],
  removed: YamlNode | undefined,
  removedKey: YamlNode | undefined,
): void {
  if (aliases.length === 0) return
  const gone = collectSubtree(removedKey, collectSubtree(removed))
  for (const alias of aliases) {
    const { target, name } = alias
    if (gone.has(alias) || (!changed.includes(target) && !gone.has(target))) continue
    throw new EditRefusal(
      `the anchor &${name} is used elsewhere in the document, which would change with it`,
      getRange(alias).start,
    )
  }
}

export function isAliasSlot(slot: Slot): slot is Slot & { readonly node: YamlAlias } {
  return slot.node.kind === 'alias'
}
