/** As in go-yaml's `scannerc.go`. */
import type { YamlScalar } from '../yaml-node.ts'
import { findLineEndAt, isBlank, isBlankOrEnd, type YamlCursor } from './read-yaml-cursor.ts'
import {
  createQuestionMarkRefusal,
  createTabRefusal,
  UnclosedYaml,
  YamlRefusal,
} from './read-yaml-refusal.ts'
import { TextParts } from './text-parts.ts'

export interface ScalarText {
  readonly value: string
  readonly style: YamlScalar['style']
  readonly start: number
  /** Blank lines count if the block keeps them. */
  readonly end: number
  /** Set for a block that keeps its last line break, in a text that ends without one. */
  readonly unended?: true
}

const TAB = 9
const BREAK = 10
const SPACE = 32
const QUOTE = 34
const HASH = 35
const APOSTROPHE = 39
const COLON = 58
const QUESTION_MARK = 63
const BACKSLASH = 92

/** Line breaks between two parts of a scalar: one is a space; the first of several is dropped. */
function foldBreaks(breaks: number): string {
  return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)
}

interface PlainText extends ScalarText {
  readonly endsLine: boolean
}

export function scanPlain(cursor: YamlCursor): PlainText {
  const start = cursor.at
  const indent = cursor.indent + 1
  const value = new TextParts()
  let end = start
  let blanks = ''
  let breaks = 0
  for (;;) {
    if (cursor.isDocumentMark() || cursor.getCode() === HASH) break
    const stop = findPlainEnd(cursor)
    if (stop > cursor.at) {
      value.add(breaks > 0 ? foldBreaks(breaks) : blanks)
      value.add(cursor.text.slice(cursor.at, stop))
      blanks = ''
      breaks = 0
      cursor.skip(stop - cursor.at)
      end = stop
    }
    const code = cursor.getCode()
    if (!isBlank(code) && code !== BREAK) break
    const from = cursor.at
    for (let next = code; isBlank(next) || next === BREAK; next = cursor.getCode())
      if (next === BREAK) {
        cursor.skipBreak()
        breaks += 1
      } else if (breaks > 0 && cursor.column < indent && next === TAB)
        throw createTabRefusal(cursor.at)
      else cursor.at += 1
    if (breaks === 0) blanks = cursor.text.slice(from, cursor.at)
    if (cursor.flowLevel === 0 && cursor.column < indent) break
  }
  if (cursor.flowLevel > 0 && cursor.getCode() === QUESTION_MARK)
    throw createQuestionMarkRefusal(start)
  return { value: String(value), style: 'plain', start, end, endsLine: breaks > 0 }
}

function findPlainEnd(cursor: YamlCursor): number {
  const { text } = cursor
  const inFlow = cursor.flowLevel > 0
  let { at } = cursor
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === SPACE || code === TAB || code === BREAK) break
    if (code === COLON && isBlankOrEnd(at + 1 < text.length ? text.charCodeAt(at + 1) : 0)) break
    if (inFlow && isFlowEnd(code)) break
  }
  return at
}

/** `,`, `?`, `[`, `]`, `{` or `}` */
function isFlowEnd(code: number): boolean {
  return code === 44 || code === 63 || code === 91 || code === 93 || code === 123 || code === 125
}

export function scanQuoted(cursor: YamlCursor): ScalarText {
  const start = cursor.at
  const quote = cursor.getCode()
  const style = quote === APOSTROPHE ? 'single' : 'double'
  cursor.skip(1)
  const value = new TextParts()
  for (;;) {
    if (cursor.at >= cursor.text.length || cursor.isDocumentMark())
      throw new UnclosedYaml(start, 'quote')
    let breaks = 0
    let escapedBreak = false
    for (let code = cursor.getCode(); !isBlankOrEnd(code); code = cursor.getCode()) {
      if (code === quote) {
        if (style === 'double' || cursor.getCode(1) !== APOSTROPHE) break
        value.add("'")
        cursor.skip(2)
      } else if (style === 'double' && code === BACKSLASH) {
        if (cursor.getCode(1) === BREAK) {
          cursor.skip(1)
          cursor.skipBreak()
          escapedBreak = true
          break
        }
        value.add(scanEscape(cursor))
      } else {
        const stop = findQuotedEnd(cursor, quote)
        value.add(cursor.text.slice(cursor.at, stop))
        cursor.skip(stop - cursor.at)
      }
    }
    if (cursor.getCode() === quote) break
    const from = cursor.at
    for (let code = cursor.getCode(); isBlank(code) || code === BREAK; code = cursor.getCode())
      if (code === BREAK) {
        cursor.skipBreak()
        breaks += 1
      } else cursor.at += 1
    // go-yaml keeps every break after an escaped one.
    if (escapedBreak) value.add('\n'.repeat(breaks))
    else value.add(breaks > 0 ? foldBreaks(breaks) : cursor.text.slice(from, cursor.at))
  }
  cursor.skip(1)
  return { value: String(value), style, start, end: cursor.at }
}

function findQuotedEnd(cursor: YamlCursor, quote: number): number {
  const { text } = cursor
  let { at } = cursor
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (
      code === quote ||
      code === SPACE ||
      code === TAB ||
      code === BREAK ||
      (quote === QUOTE && code === BACKSLASH)
    )
      break
  }
  return at
}

const ESCAPES: { readonly [letter: string]: string } = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1B',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\u0085',
  _: '\u00A0',
  L: '\u2028',
  P: '\u2029',
}
const CODE_LENGTHS: { readonly [letter: string]: number } = { x: 2, u: 4, U: 8 }

function scanEscape(cursor: YamlCursor): string {
  const letter = cursor.text.charAt(cursor.at + 1)
  const length = Object.hasOwn(CODE_LENGTHS, letter) ? CODE_LENGTHS[letter] : undefined
  if (length !== undefined) {
    const digits = cursor.text.slice(cursor.at + 2, cursor.at + 2 + length)
    const code =
      /^[0-9A-Fa-f]+$/.test(digits) && digits.length === length
        ? Number.parseInt(digits, 16)
        : Number.NaN
    if (!(code <= 0x10ffff)) throw createBadEscapeRefusal(cursor)
    if (code >= 0xd800 && code <= 0xdfff && !cursor.isJson()) throw createJsonEscapeRefusal(cursor)
    cursor.skip(2 + length)
    // JSON writes a surrogate pair as two escapes.
    return code <= 0xffff ? String.fromCharCode(code) : String.fromCodePoint(code)
  }
  const character = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
  if (character === undefined) throw createBadEscapeRefusal(cursor)
  if (letter === '/' && !cursor.isJson()) throw createJsonEscapeRefusal(cursor)
  cursor.skip(2)
  return character
}

function createBadEscapeRefusal({ at }: YamlCursor): YamlRefusal {
  return new YamlRefusal(at, 'the escape sequence is not one of YAML', 'write the character itself')
}

function createJsonEscapeRefusal({ at }: YamlCursor): YamlRefusal {
  return new YamlRefusal(
    at,
    'kubectl does not read this escape sequence in YAML',
    'write the character itself',
  )
}

/** The cursor is at its `|` or `>`. */
export function scanBlock(cursor: YamlCursor, onComment: () => void): ScalarText {
  const start = cursor.at
  const literal = cursor.text[start] === '|'
  cursor.skip(1)
  const header = /(?:([-+])([1-9])?|([1-9])([-+])?)?/y
  header.lastIndex = cursor.at
  const [indicators = '', chompFirst, digitSecond, digitFirst, chompSecond] =
    header.exec(cursor.text) ?? []
  if (indicators !== '') cursor.skip(indicators.length)
  const chomp = chompFirst ?? chompSecond
  const digit = Number(digitFirst ?? digitSecond ?? 0)
  cursor.skipBlanks()
  if (cursor.getCode() === HASH) onComment()
  if (cursor.getCode() === BREAK) cursor.skipBreak()
  else if (cursor.at < cursor.text.length)
    throw new YamlRefusal(
      cursor.at,
      'text follows the "|" or ">" of a block',
      'put it on the next line',
    )

  const begins = cursor.text[cursor.at - 1] === '\n'
  let end = begins ? cursor.at - 1 : cursor.at
  const given = digit === 0 ? 0 : Math.max(cursor.indent, 0) + digit
  const first = skipIndentation(cursor, given)
  const { indent } = first
  let trailing = first.breaks
  let leading = ''
  let leadingBlank = false
  const lines = new TextParts()
  while (cursor.column === indent && cursor.at < cursor.text.length) {
    const blank = isBlank(cursor.getCode())
    if (!literal && leading !== '' && !leadingBlank && !blank)
      lines.add(trailing === 0 ? ' ' : '\n'.repeat(trailing))
    else lines.add(leading + '\n'.repeat(trailing))
    leadingBlank = blank
    const stop = findLineEndAt(cursor.text, cursor.at)
    lines.add(cursor.text.slice(cursor.at, stop))
    cursor.skipToBreak()
    end = stop
    leading = ''
    if (cursor.getCode() === BREAK) {
      leading = '\n'
      cursor.skipBreak()
    }
    trailing = skipIndentation(cursor, indent).breaks
  }
  if (chomp !== '-') lines.add(leading)
  if (chomp === '+') lines.add('\n'.repeat(trailing))
  if (chomp === '+' && trailing > 0) end = cursor.lineStart - 1
  const value = String(lines)
  const text: ScalarText = { value, style: literal ? 'literal' : 'folded', start, end }
  if (cursor.at < cursor.text.length || cursor.text.endsWith('\n') || chomp === '-') return text
  return (chomp === '+' && begins) || (value !== '' && leading === '')
    ? { ...text, unended: true }
    : text
}

/** @param given 0 to detect it */
function skipIndentation(
  cursor: YamlCursor,
  given: number,
): { readonly indent: number; readonly breaks: number } {
  let deepest = 0
  let breaks = 0
  for (;;) {
    while ((given === 0 || cursor.column < given) && cursor.getCode() === SPACE) cursor.at += 1
    deepest = Math.max(deepest, cursor.column)
    if ((given === 0 || cursor.column < given) && cursor.getCode() === TAB)
      throw new YamlRefusal(
        cursor.at,
        'a tab is used where kubectl expects the indentation of a block',
        'indent with spaces',
      )
    if (cursor.getCode() !== BREAK) break
    cursor.skipBreak()
    breaks += 1
  }
  return { indent: given === 0 ? Math.max(deepest, cursor.indent + 1, 1) : given, breaks }
}

/** The cursor is at its `&` or `*`. */
export function scanName(cursor: YamlCursor): string {
  const name = /[-0-9A-Za-z_]+(?=[\s,\]}]|$)/y
  name.lastIndex = cursor.at + 1
  const [found] = name.exec(cursor.text) ?? []
  if (found === undefined)
    throw new YamlRefusal(
      cursor.at,
      'the anchor or alias has no name that kubectl reads',
      'use letters, digits, "_" and "-"',
    )
  cursor.skip(1 + found.length)
  return found
}

export function scanTag(cursor: YamlCursor): string {
  // Readers disagree about a bracket or comma after a tag.
  const tag = /!(?:<([^>\s]+)>|[-\w;/?:@&=+$.~*'()%!]*)(?!\S)/y
  tag.lastIndex = cursor.at
  const match = tag.exec(cursor.text)
  if (match === null)
    throw new YamlRefusal(
      cursor.at,
      'the tag has a form that some readers do not accept',
      'put a space after the tag, or remove it',
    )
  const [found, verbatim] = match
  cursor.skip(found.length)
  return verbatim?.replace(/^tag:yaml\.org,2002:/, '!!') ?? found
}
