/**
 * Where in the text of one document a value stands: the entries of maps and lists with their exact offsets, taken from
 * the library's concrete syntax tree, and the walk along a field path.
 */
import { type Alias, type CST, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import { type FieldPath, indexOfStep } from '../../krm/field-path.ts'
import { type GoTree, keyText } from '../read/go-yaml-tree.ts'
import { EditRefusal } from './edit-yaml-value.ts'

export type Collection = YAMLMap | YAMLSeq

/** A piece of the text to replace. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A key with its value, or an item with its dash. */
export interface Entry {
  /** First character: of the key, the dash, the item. */
  readonly start: number
  /** Behind the last character of the content; comments behind it do not count. */
  readonly end: number
  /** Behind the `:` or `-`; undefined for items in brackets, and for a key without a colon. */
  readonly indicatorEnd: number | undefined
  readonly anchor: CST.SourceToken | undefined
  readonly tag: CST.SourceToken | undefined
  /** Undefined where no value is written. */
  readonly token: CST.Token | undefined
  readonly node: Node | null
  readonly key: Node | null
}

/** A value that can be replaced, with its way up. */
export interface Slot {
  readonly node: Node | null
  /** Undefined for the root. */
  readonly parent: { readonly collection: Collection; readonly index: number } | undefined
}

function isMeaningful(token: CST.SourceToken): boolean {
  return token.type !== 'space' && token.type !== 'newline' && token.type !== 'comment' && token.type !== 'comma'
}

function isWritten(token: CST.Token | null | undefined): token is CST.Token {
  return token !== undefined && token !== null && !(token.type === 'scalar' && token.source === '')
}

/** Offset behind the last character of what a token holds; trailing comments and blank lines are not part of it. */
export function tokenEnd(token: CST.Token): number {
  switch (token.type) {
    case 'block-scalar':
      return blockScalarEnd(token)
    case 'flow-collection': {
      const close = token.end.find((each) => each.type === 'flow-map-end' || each.type === 'flow-seq-end')
      return close === undefined ? token.offset : close.offset + close.source.length
    }
    case 'block-map':
    case 'block-seq':
      return token.items.reduce((end, item) => itemEnd(item) ?? end, token.offset)
    case 'document':
      return token.value === undefined ? token.offset : tokenEnd(token.value)
    default:
      return token.offset + token.source.length
  }
}

function blockScalarEnd(token: CST.BlockScalar): number {
  const header = token.props.find((each) => each.type === 'block-scalar-header')
  const source = header?.type === 'block-scalar-header' ? header.source : ''
  const content = token.props.reduce((end, each) => ('source' in each ? each.offset + each.source.length : end), token.offset)
  // With "+" the blank lines at the end are content, up to the last line break.
  if (source.includes('+')) return content + token.source.replace(/\r?\n$/, '').length
  const length = contentLength(token.source, indentOf(token, source))
  return length === 0 ? token.offset + source.length : content + length
}

/** Columns of indentation that are not part of the text of a block. */
function indentOf(token: CST.BlockScalar, header: string): number {
  const digit = /[1-9]/.exec(header)?.[0]
  return digit === undefined ? (/^ *(?=[^ \r\n])/m.exec(token.source)?.[0].length ?? 0) : token.indent + Number(digit)
}

/** Length up to the end of the last line with content; spaces beyond the indentation are content. */
function contentLength(source: string, indentation: number): number {
  let end = 0
  for (let from = 0; from < source.length; ) {
    const next = source.indexOf('\n', from)
    const line = source.slice(from, next === -1 ? source.length : next).replace(/\r$/, '')
    if (line.trim() !== '' || line.length > indentation) end = from + line.length
    from = next === -1 ? source.length : next + 1
  }
  return end
}

function itemEnd(item: CST.CollectionItem): number | undefined {
  if (isWritten(item.value)) return tokenEnd(item.value)
  const last = item.sep?.findLast(isMeaningful)
  if (last !== undefined) return last.offset + last.source.length
  if (isWritten(item.key)) return tokenEnd(item.key)
  const first = item.start.findLast(isMeaningful)
  return first === undefined ? undefined : first.offset + first.source.length
}

/**
 * The entries of a map or list, in order.
 * @throws EditRefusal for `[key: value]`, a map without braces of its own
 */
export function entriesOf(collection: Collection): readonly Entry[] {
  const token = collection.srcToken
  if (token === undefined || !('items' in token)) throw new EditRefusal('a key stands in a list without braces', collection.range?.[0])
  const items = token.items as readonly CST.CollectionItem[]
  const written = items.filter(
    (item) => item.key !== undefined || item.sep !== undefined || item.value !== undefined || item.start.some(isMeaningful),
  )
  if (written.length !== collection.items.length) throw new EditRefusal('the layout of the list or map is not understood', token.offset)
  return written.map((item, index) => entryOf(item, collection, index))
}

function entryOf(item: CST.CollectionItem, collection: Collection, index: number): Entry {
  const isPair = isMap(collection)
  const pair = isPair ? (collection.items[index] as Pair<Node | null, Node | null>) : undefined
  const node = pair === undefined ? (collection.items[index] as Node) : pair.value
  const first = item.start.find(isMeaningful) ?? item.key ?? item.sep?.find(isMeaningful) ?? item.value
  const props = (isPair ? item.sep : item.start) ?? []
  const indicator = props.find((each) => each.type === (isPair ? 'map-value-ind' : 'seq-item-ind'))
  const start = first?.offset ?? 0
  return {
    start: isWritten(first) && 'items' in first ? firstOffset(first) : start,
    end: itemEnd(item) ?? start,
    indicatorEnd: indicator === undefined ? undefined : indicator.offset + indicator.source.length,
    anchor: props.find((each) => each.type === 'anchor'),
    tag: props.find((each) => each.type === 'tag'),
    token: isWritten(item.value) ? item.value : undefined,
    node,
    key: pair?.key ?? null,
  }
}

/** Where a collection begins: at its bracket, or at its first key or dash. */
export function firstOffset(token: CST.Token): number {
  if (token.type !== 'block-map' && token.type !== 'block-seq') return token.offset
  const [item] = token.items
  return item?.start.find(isMeaningful)?.offset ?? item?.key?.offset ?? token.offset
}

export function isFlow(collection: Collection): boolean {
  return collection.srcToken?.type === 'flow-collection'
}

export interface Walk {
  /** From the root to the deepest value that is there. */
  readonly slots: readonly Slot[]
  /** Steps that lead further: not there, or behind an alias. */
  readonly rest: FieldPath
}

/**
 * Follows a path as far as the text of the document goes; an alias ends the walk.
 * @throws EditRefusal where the key is there twice
 */
export function walk(tree: GoTree, path: FieldPath): Walk {
  const slots: Slot[] = [{ node: tree.contents, parent: undefined }]
  let at = 0
  for (const step of path) {
    const collection = slots[at]?.node
    let index = -1
    if (step.kind === 'field' && isMap(collection)) index = pairIndex(collection, step.name, tree)
    else if (step.kind !== 'field' && isSeq(collection)) index = indexOfStep(tree.values.get(collection) ?? null, step)
    if (index === -1) break
    const parent = { collection: collection as Collection, index }
    slots.push({ node: childNode(parent.collection, index), parent })
    at += 1
  }
  return { slots, rest: path.slice(at) }
}

function childNode(collection: Collection, index: number): Node | null {
  return isMap(collection) ? (collection.items[index] as Pair<Node | null, Node | null>).value : (collection.items[index] as Node)
}

function pairIndex(map: YAMLMap, name: string, tree: GoTree): number {
  const matches = map.items.flatMap((pair, index) => (keyText(pair.key as Node | null, tree.aliases) === name ? [index] : []))
  const second = matches[1] === undefined ? undefined : (map.items[matches[1]]?.key as Node | null | undefined)
  if (matches.length > 1) throw new EditRefusal('the key is there twice', second?.range?.[0] ?? map.range?.[0])
  return matches[0] ?? -1
}

/** Nodes at and below a node, keys included. */
function subtree(node: Node | null, into: Set<Node> = new Set()): Set<Node> {
  if (node === null || node === undefined) return into
  into.add(node)
  if (isMap(node))
    for (const pair of node.items as readonly Pair<Node | null, Node | null>[]) {
      subtree(pair.key, into)
      subtree(pair.value, into)
    }
  else if (isSeq(node)) for (const item of node.items as readonly Node[]) subtree(item, into)
  return into
}

/**
 * Refuses a change that would show elsewhere through an alias.
 * @param changed the values whose content changes: the way from the root to the place
 * @param removed the value that goes, with everything in it
 */
export function checkAnchors(
  tree: GoTree,
  changed: readonly (Node | null)[],
  removed: Node | null | undefined,
  removedKey: Node | null,
): void {
  if (tree.aliases.size === 0) return
  const gone = subtree(removedKey, subtree(removed ?? null))
  for (const [alias, target] of tree.aliases) {
    if (gone.has(alias) || (!changed.includes(target) && !gone.has(target))) continue
    const name = isScalar(target) || isMap(target) || isSeq(target) ? target.anchor : undefined
    throw new EditRefusal(
      `the anchor &${name ?? alias.source} is used elsewhere in the document, which would change with it`,
      alias.range?.[0],
    )
  }
}

export function isAliasSlot(slot: Slot): slot is Slot & { readonly node: Alias } {
  return isAlias(slot.node)
}
