/** Including JSON. */
import { findLineEnd, findLineStart, findNextLine, isOwnLine } from './edit-yaml-block.ts'
import {
  type Collection,
  type Entry,
  getRange,
  listCollectionEntries,
  type Slot,
  type SlotParent,
  type Splice,
} from './edit-yaml-location.ts'
import { getColumn, type YamlStyle } from './edit-yaml-style.ts'
import { EditRefusal } from './edit-yaml-value.ts'

export function replaceInFlow(
  text: string,
  slot: Slot,
  entry: Entry,
  value: string,
): readonly Splice[] {
  const { written, tag, anchor, indicatorEnd } = entry
  if (written !== undefined) {
    const keepsAnchor = anchor !== undefined && tag !== undefined && anchor.start > tag.start
    const start = tag === undefined || keepsAnchor ? written.start : tag.start
    const removed =
      keepsAnchor && tag !== undefined ? [{ start: tag.start, end: tag.end + 1, text: '' }] : []
    return [...removed, { start, end: entry.end, text: value }]
  }
  if (slot.parent?.collection.kind !== 'map')
    throw new EditRefusal('the item has no value', entry.start)
  const at = anchor === undefined ? (indicatorEnd ?? entry.end) : anchor.end
  const end = tag === undefined ? at : Math.max(at, tag.end)
  // Where the colon touches the next bracket or comma.
  return [
    {
      start: at,
      end: text[end] === ' ' && /[,}\]\s]/.test(text[end + 1] ?? '') ? end + 1 : end,
      text: indicatorEnd === undefined ? `: ${value}` : ` ${value}`,
    },
  ]
}

/** @param entryText without comma */
export function insertInFlow(
  text: string,
  { collection, index: at }: SlotParent,
  entryText: string,
  style: YamlStyle,
): readonly Splice[] {
  const entries = listCollectionEntries(text, collection)
  const before = entries[at - 1]
  const next = entries[at]
  if (before === undefined) {
    if (next === undefined)
      return insertIntoEmpty(collection, entryText, collection.kind === 'map' && style.padded)
    const gap = isOwnLine(text, next.start)
      ? style.lineBreak + ' '.repeat(getColumn(text, next.start))
      : ' '
    return [{ start: next.start, end: next.start, text: `${entryText},${gap}` }]
  }
  const comma = findCommaAfter(text, before.end)
  const behind = comma === undefined ? before.end : comma + 1
  const restOfLine = text.slice(behind, findLineEnd(text, behind))
  const isOnOwnLine = isOwnLine(text, before.start) && /^\s*(#.*)?$/.test(restOfLine)
  const gap = isOnOwnLine ? style.lineBreak + ' '.repeat(getColumn(text, before.start)) : ' '
  const index = isOnOwnLine ? findLineEnd(text, behind) : behind
  // A file with trailing commas keeps its style.
  if (comma !== undefined) return [{ start: index, end: index, text: `${gap}${entryText},` }]
  if (index === behind) return [{ start: index, end: index, text: `,${gap}${entryText}` }]
  return [
    { start: behind, end: behind, text: ',' },
    { start: index, end: index, text: gap + entryText },
  ]
}

function insertIntoEmpty(
  collection: Collection,
  entryText: string,
  padded: boolean,
): readonly Splice[] {
  const { start, end } = getRange(collection)
  const pad = padded ? ' ' : ''
  return [{ start: start + 1, end: end - 1, text: `${pad}${entryText}${pad}` }]
}

/** Comments and line breaks may be between. */
function findCommaAfter(text: string, offset: number): number | undefined {
  const comma = /(?:\s|#[^\n]*)*,/y
  comma.lastIndex = offset
  return comma.test(text) ? comma.lastIndex - 1 : undefined
}

export function deleteInFlow(text: string, { collection, index }: SlotParent): readonly Splice[] {
  const entries = listCollectionEntries(text, collection)
  const [previous, entry, next] = [entries[index - 1], entries[index], entries[index + 1]]
  if (entry === undefined) throw new EditRefusal('the entry is not there')
  const comma = findCommaAfter(text, entry.end)
  const behind = comma === undefined ? entry.end : comma + 1
  const hasOwnLines =
    isOwnLine(text, entry.start) &&
    /^\s*(#.*)?$/.test(text.slice(behind, findLineEnd(text, behind)))
  const removed = hasOwnLines
    ? { start: findCommentsAbove(text, entry.start), end: findNextLine(text, behind), text: '' }
    : next !== undefined
      ? { start: entry.start, end: next.start, text: '' }
      : { start: previous?.end ?? entry.start, end: entry.end, text: '' }
  if (!hasOwnLines || comma !== undefined || previous === undefined) return [removed]
  const before = findCommaAfter(text, previous.end)
  return before === undefined ? [removed] : [{ start: before, end: before + 1, text: '' }, removed]
}

function findCommentsAbove(text: string, offset: number): number {
  const column = getColumn(text, offset)
  let start = findLineStart(text, offset)
  while (start > 0) {
    const above = findLineStart(text, start - 1)
    const line = text.slice(above, start)
    if (!line.slice(column).startsWith('#') || line.slice(0, column).trim() !== '') break
    start = above
  }
  return start
}
