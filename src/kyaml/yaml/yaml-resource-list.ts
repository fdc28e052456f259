/**
 * kpt writes the objects into a `ResourceList`, and restores comments and key order in the answer
 * (kyaml `fn/runtime/runtimeutil`, `comments`, `order`).
 */
import { getYamlKey, isNull, type YamlEntry, type YamlMap, type YamlNode } from './yaml-node.ts'

/** kpt writes only the object into a `ResourceList`. `copyLostComments` restores the comments. */
export function removeDocumentComments(root: YamlMap): YamlMap {
  const [own] = splitHead(root.headComment)
  return { ...root, headComment: own, footComment: '' }
}

function splitHead(head: string): readonly [own: string, ofDocument: string] {
  const at = head.lastIndexOf('\n\n')
  return at === -1 ? [head, ''] : [head.slice(at + 2), head.slice(0, at)]
}

/**
 * In maps by key, in lists by index and only for equal scalars. A folded block becomes double
 * quoted, as in kyaml `comments.go`. The document's head comment moves directly above the object.
 */
export function copyLostComments(from: YamlMap, to: YamlMap): void {
  const [own, ofDocument] = splitHead(from.headComment)
  copyBelow({ ...from, headComment: ofDocument === '' ? own : ofDocument }, to)
}

function copyBelow(from: YamlNode, to: YamlNode): void {
  copyComments(from, to)
  walk(from, to)
}

/** kyaml skips aliases below a map. */
function copyAtKey(from: YamlNode, to: YamlNode): void {
  if ((isNull(from) ? to : from).kind !== 'alias') copyBelow(from, to)
}

function walk(from: YamlNode, to: YamlNode): void {
  if (from.kind === 'map' && to.kind === 'map') {
    const entries = indexFirstEntries(from)
    for (const { key, value } of indexFirstEntries(to).values()) {
      unfold(key)
      const before = entries.get(getYamlKey(key))
      if (before === undefined) unfoldBelow(value)
      else {
        copyComments(before.key, key)
        copyAtKey(before.value, value)
      }
    }
  } else if (from.kind === 'list' && to.kind === 'list') {
    for (const [index, item] of to.items.entries()) {
      const before = from.items[index]
      if (before !== undefined && getNodeText(before) === getNodeText(item)) copyBelow(before, item)
    }
  } else unfoldBelow(to)
}

/** kyaml also walks nodes without a counterpart, except lists. */
function unfoldBelow(node: YamlNode): void {
  unfold(node)
  if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      unfold(key)
      unfoldBelow(value)
    }
}

function unfold(node: YamlNode): void {
  if (node.kind === 'scalar' && node.style === 'folded') node.style = 'double'
}

function getNodeText(node: YamlNode): string {
  return node.kind === 'scalar' ? node.value : node.kind === 'alias' ? node.name : ''
}

function copyComments(from: YamlNode, to: YamlNode): void {
  to.lineComment ||= from.lineComment
  to.headComment ||= from.headComment
  to.footComment ||= from.footComment
}

function indexFirstEntries(map: YamlMap): Map<string, YamlEntry> {
  const entries = new Map<string, YamlEntry>()
  for (const entry of map.entries) {
    const name = getYamlKey(entry.key)
    if (!entries.has(name)) entries.set(name, entry)
  }
  return entries
}

/**
 * New keys come last (kyaml `order/syncorder.go`). List items correspond by index and get their
 * first key's head comment.
 */
export function syncKeyOrder(from: YamlMap, to: YamlMap): void {
  syncBelow(from, to)
  liftHeadComments(to)
}

function syncBelow(from: YamlNode, to: YamlNode): void {
  if (from.kind === 'map' && to.kind === 'map') {
    const before = indexFirstEntries(from)
    const after = indexFirstEntries(to)
    if (before.size > 0) to.entries = orderEntriesLike(from, to, after)
    for (const [name, { value }] of before) {
      const other = after.get(name)
      if (other !== undefined) syncBelow(value, other.value)
    }
  } else if (from.kind === 'list' && to.kind === 'list')
    for (const [index, item] of from.items.entries()) {
      const other = to.items[index]
      if (other !== undefined) syncBelow(item, other)
    }
}

/** kyaml uses the first entry of a duplicate key for both. */
function orderEntriesLike(
  from: YamlMap,
  to: YamlMap,
  first: ReadonlyMap<string, YamlEntry>,
): YamlEntry[] {
  const left = to.entries.map(({ key }) => getYamlKey(key))
  const ordered: string[] = []
  for (const { key } of from.entries) {
    const at = left.indexOf(getYamlKey(key))
    if (at !== -1) ordered.push(...left.splice(at, 1))
  }
  const taken = new Set<YamlEntry>()
  return [...ordered, ...left].flatMap((name) => {
    const entry = first.get(name)
    if (entry === undefined) return []
    if (taken.has(entry)) return [{ ...entry }]
    taken.add(entry)
    return [entry]
  })
}

function liftHeadComments(node: YamlNode): void {
  if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      liftHeadComments(key)
      liftHeadComments(value)
    }
  else if (node.kind === 'list')
    for (const item of node.items) {
      const first =
        item.kind === 'map'
          ? item.entries[0]?.key
          : item.kind === 'list'
            ? item.items[0]
            : undefined
      if (first?.kind !== 'scalar') continue
      if (item.headComment === '') item.headComment = first.headComment
      else if (first.headComment !== '') {
        item.headComment += `\n${first.headComment}`
        first.headComment = ''
      }
    }
}
