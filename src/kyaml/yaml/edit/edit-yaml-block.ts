/**
 * Outside brackets. A comment behind a value stays when the value is replaced, and is deleted with
 * its key. A key owns the comment lines directly above it with its indentation, and deeper ones
 * directly below. A comment that begins the document (a licence) belongs to the file.
 */
import {
  type Entry,
  getRange,
  isCollection,
  isFlow,
  listCollectionEntries,
  type Slot,
  type SlotParent,
  type Splice,
  type TextRange,
} from './edit-yaml-location.ts'
import { getColumn, type YamlStyle } from './edit-yaml-style.ts'
import { EditRefusal } from './edit-yaml-value.ts'
import { blockHeader, type Written } from './edit-yaml-write.ts'

export function findLineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Before CR or LF. */
export function findLineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  if (end === -1) return text.length
  return end > offset && text[end - 1] === '\r' ? end - 1 : end
}

/** Or the text's length. */
export function findNextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end === -1 ? text.length : end + 1
}

export function isOwnLine(text: string, offset: number): boolean {
  return /^ *$/.test(text.slice(findLineStart(text, offset), offset))
}

/** `lines` begin with their line break. */
interface Rendered {
  readonly head: string
  readonly below: string
}

export function findSlotEntry(text: string, slot: Slot): Entry | undefined {
  return slot.parent === undefined
    ? undefined
    : listCollectionEntries(text, slot.parent.collection)[slot.parent.index]
}

export function replaceInBlock(
  text: string,
  slot: Slot,
  written: Written,
  { lineBreak }: YamlStyle,
): readonly Splice[] {
  const rendered = ({ head, lines }: Written): Rendered => ({
    head,
    below: lines.map((line) => lineBreak + line).join(''),
  })
  const entry = findSlotEntry(text, slot)
  if (entry === undefined) return replaceRoot(text, slot, rendered(written))
  const { indicatorEnd, written: old, node } = entry
  if (indicatorEnd === undefined) throw new EditRefusal('the key has no colon', entry.start)
  const anchor =
    entry.anchor !== undefined && (entry.tag === undefined || entry.anchor.start < entry.tag.start)
      ? entry.anchor
      : undefined
  const behind = anchor === undefined ? indicatorEnd : anchor.end
  const isItem = text[indicatorEnd - 1] === '-'
  // A first key behind an anchor would take the anchor.
  const content = rendered(
    isItem && written.head === '' && anchor === undefined ? moveHeadBehindDash(written) : written,
  )
  if (old === undefined) return fillEmpty(text, entry, behind, content)
  const start = findValueStart(text, entry, old, behind)
  if (node.kind === 'scalar' && (node.style === 'literal' || node.style === 'folded'))
    return replaceBlockScalar(text, old, start, content)
  const isBelow = text.slice(behind, start).includes('\n')
  const isBlock = isCollection(node) && !isFlow(node)
  if (isBelow && (isBlock || written.lines.length > 0)) {
    const keyLine = findLineEnd(text, behind)
    return [
      ...(content.head === '' ? [] : [{ start: behind, end: behind, text: ` ${content.head}` }]),
      ...(entry.tag === undefined ? [] : [removeWithSpace(text, entry.tag)]),
      { start: keyLine, end: findLineEnd(text, old.end), text: content.below },
    ]
  }
  return replaceInline(text, { start, end: old.end }, behind, content)
}

/** The first line goes behind the dash. */
function moveHeadBehindDash({ lines }: Written): Written {
  const [first = '', ...rest] = lines
  return { head: first.trimStart(), lines: rest }
}

function findValueStart(text: string, { tag }: Entry, old: TextRange, behind: number): number {
  return tag !== undefined &&
    tag.start >= behind &&
    !text.slice(tag.start, old.start).includes('\n')
    ? tag.start
    : old.start
}

function removeWithSpace(text: string, { start, end }: TextRange): Splice {
  return { start: text[start - 1] === ' ' ? start - 1 : start, end, text: '' }
}

function replaceInline(
  text: string,
  { start, end }: TextRange,
  behind: number,
  { head, below }: Rendered,
): readonly Splice[] {
  if (head !== '' && below === '') return [{ start, end, text: head }]
  const line = findLineEnd(text, end)
  return [
    { start: head === '' ? behind : start, end, text: head },
    { start: line, end: line, text: below },
  ]
}

function fillEmpty(
  text: string,
  { tag }: Entry,
  behind: number,
  { head, below }: Rendered,
): readonly Splice[] {
  const line = findLineEnd(text, behind)
  const tagEnd = tag === undefined ? behind : Math.max(behind, tag.end)
  const end = text.slice(tagEnd, line).trim() === '' ? line : tagEnd
  const first = head === '' ? '' : ` ${head}`
  if (below === '' || end === line) return [{ start: behind, end, text: first + below }]
  return [
    { start: behind, end, text: first },
    { start: line, end: line, text: below },
  ]
}

function replaceBlockScalar(
  text: string,
  old: TextRange,
  start: number,
  { head, below }: Rendered,
): readonly Splice[] {
  const headerEnd = old.start + blockHeader(text, old.start).length
  const line = findLineEnd(text, headerEnd)
  const from = head === '' && text[start - 1] === ' ' ? start - 1 : start
  return [
    { start: from, end: headerEnd, text: head },
    { start: line, end: Math.max(line, old.end), text: below },
  ]
}

function replaceRoot(text: string, { node }: Slot, { head, below }: Rendered): readonly Splice[] {
  const { start, end } = getRange(node)
  if (below === '') return [{ start, end, text: head }]
  const line = findLineEnd(text, end)
  const comment = text.slice(end, line).trimStart()
  if (comment === '') return [{ start, end: line, text: below.replace(/^\r?\n/, '') }]
  return [
    { start, end: line - comment.length, text: '' },
    { start: line, end: line, text: below },
  ]
}

export function insertLines(
  text: string,
  { collection, index }: SlotParent,
  lines: readonly string[],
  style: YamlStyle,
): readonly Splice[] {
  const entries = listCollectionEntries(text, collection)
  const before = entries[index - 1]
  const { lineBreak } = style
  if (before !== undefined) {
    const isLast = index === entries.length && isRootMap(text, collection)
    const end = isLast ? skipComments(text, before.end) : findLineEnd(text, before.end)
    return [{ start: end, end, text: lines.map((line) => lineBreak + line).join('') }]
  }
  const [first] = entries
  if (first === undefined) throw new EditRefusal('the list has no item to follow')
  const { start } = first
  const column = getColumn(text, start)
  return [
    {
      start,
      end: start,
      text: `${lines.join(lineBreak).slice(column)}${lineBreak}${' '.repeat(column)}`,
    },
  ]
}

function isRootMap(text: string, collection: SlotParent['collection']): boolean {
  const [first] = listCollectionEntries(text, collection)
  return collection.kind === 'map' && first !== undefined && getColumn(text, first.start) === 0
}

/** Comments directly below the last value are often items of it that are switched off. */
function skipComments(text: string, offset: number): number {
  let end = findLineEnd(text, offset)
  for (;;) {
    const next = findNextLine(text, end)
    if (!/^[ \t]*#/.test(text.slice(next, findLineEnd(text, next)))) return end
    end = findLineEnd(text, next)
  }
}

export function deleteEntry(
  text: string,
  { collection, index }: SlotParent,
  isRoot: boolean,
): readonly Splice[] {
  if (isFlow(collection)) throw new EditRefusal('not a block')
  const entries = listCollectionEntries(text, collection)
  const entry = entries[index]
  if (entry === undefined) throw new EditRefusal('the entry is not there')
  if (!isOwnLine(text, entry.start)) return deleteOnDashLine(text, entry, entries[index + 1])
  const previous = entries[index - 1]
  const floor = previous === undefined ? undefined : findNextLine(text, previous.end)
  const start = findOwnCommentStart(text, entry.start, floor, isRoot)
  const end = endWithComments(text, entry)
  if (end < text.length || text.endsWith('\n') || start === 0) return [{ start, end, text: '' }]
  // The break before the last line is deleted.
  return [{ start: findLineEnd(text, findLineStart(text, start - 1)), end, text: '' }]
}

function deleteOnDashLine(text: string, entry: Entry, next: Entry | undefined): readonly Splice[] {
  if (next === undefined)
    throw new EditRefusal('the layout of the item is not understood', entry.start)
  const between = text.slice(findNextLine(text, entry.end), next.start)
  const comment = between.indexOf('#')
  return [
    {
      start: entry.start,
      end: comment === -1 ? next.start : findNextLine(text, entry.end) + comment,
      text: '',
    },
  ]
}

function findOwnCommentStart(
  text: string,
  offset: number,
  floor: number | undefined,
  isRoot: boolean,
): number {
  const column = getColumn(text, offset)
  const own = findLineStart(text, offset)
  let start = own
  while (start > (floor ?? 0)) {
    const above = findLineStart(text, start - 1)
    const line = text.slice(above, start)
    if (!line.slice(column).startsWith('#') || line.slice(0, column).trim() !== '') break
    start = above
  }
  return isRoot && start === 0 ? own : start
}

function endWithComments(text: string, entry: Entry): number {
  const column = getColumn(text, entry.start)
  let end = findNextLine(text, entry.end)
  while (end < text.length) {
    const line = text.slice(end, findNextLine(text, end))
    const comment = line.length - line.trimStart().length
    if (!line.trimStart().startsWith('#') || comment <= column) break
    end = findNextLine(text, end)
  }
  return end
}
