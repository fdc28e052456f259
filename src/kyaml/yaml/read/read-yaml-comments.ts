/**
 * As in go-yaml's `scannerc.go`: a comment gets the offset of a token, and belongs to the node with
 * the first token at or after that offset.
 */
import {
  findLineEndAt,
  isBlank,
  isBlankOrEnd,
  isBreakOrEnd,
  type YamlCursor,
  type YamlMark,
} from './read-yaml-cursor.ts'
import { YamlRefusal } from './read-yaml-refusal.ts'
import { TextParts } from './text-parts.ts'

const LOOK_AHEAD = 512
const BREAK = 10
const HASH = 35

export interface YamlComment {
  readonly kind: 'head' | 'line' | 'foot'
  readonly text: string
  readonly scanAt: number
  readonly tokenAt: number
  /** Columns count from 1. Unused for a line comment. */
  readonly start: YamlMark
  readonly endAt: number
}

interface TokenBefore {
  readonly at: number
  readonly isValueMark: boolean
}

export function scanLineComment(cursor: YamlCursor, tokenAt: number): YamlComment | undefined {
  if (cursor.newlines > 0) return undefined
  let ahead = 0
  while (ahead < LOOK_AHEAD && isBlank(cursor.getCode(ahead))) ahead += 1
  if (ahead === LOOK_AHEAD || cursor.getCode(ahead) !== HASH) return undefined
  const at = cursor.at + ahead
  // go-yaml accepts it; YAML and other readers do not.
  if (!isBlankOrEnd(cursor.text.charCodeAt(at - 1)))
    throw new YamlRefusal(
      at,
      'a comment begins without a space before it',
      'put a space before the "#"',
    )
  const start = { at, line: cursor.line, column: at - cursor.lineStart }
  const text = cursor.text.slice(at, findLineEndAt(cursor.text, at))
  cursor.skipToBreak()
  return { kind: 'line', text, scanAt: 0, tokenAt, start, endAt: 0 }
}

export function scanComments(
  cursor: YamlCursor,
  scanned: YamlMark,
  before: TokenBefore,
): readonly YamlComment[] {
  const found: YamlComment[] = []
  const nextIndent = Math.max(cursor.indent, 0)
  let scanAt = scanned.at
  let tokenAt = before.at
  let start: YamlMark = { at: 0, line: 0, column: 0 }
  let recentEmpty = false
  let firstEmpty = cursor.newlines <= 1
  let { line, column } = cursor
  let text = new TextParts()
  // A comment directly below content may be its foot comment.
  const footLine = scanned.line > 0 ? line - cursor.newlines + 1 : -1
  const closeFoot = (at: number): void => {
    found.push({ kind: 'foot', text: String(text), scanAt, tokenAt, start, endAt: at })
    scanAt = at
    tokenAt = at
    text = new TextParts()
  }

  let current = 0
  for (; current < LOOK_AHEAD; current += 1) {
    column += 1
    const code = cursor.getCode(current)
    if (isBlank(code)) continue
    const closesFlow = cursor.flowLevel > 0 && (code === 93 || code === 125)
    if (closesFlow || isBreakOrEnd(code)) {
      if (closesFlow || !recentEmpty) {
        const isFoot =
          (start.line === footLine && !before.isValueMark) || start.column - 1 < nextIndent
        if (closesFlow || (firstEmpty && isFoot)) {
          if (!text.isEmpty) {
            // A dedented comment does not belong to the token before.
            if (start.column - 1 < nextIndent) tokenAt = start.at
            closeFoot(cursor.at + current)
          }
        } else if (!text.isEmpty && code !== 0) text.add('\n')
      }
      if (code !== BREAK) break
      firstEmpty = false
      recentEmpty = true
      column = 0
      line += 1
      continue
    }
    // A comment at another indentation is the foot of the node above, not the head of the next one.
    if (!text.isEmpty && column - 1 < nextIndent && column !== start.column)
      closeFoot(cursor.at + current)
    if (code !== HASH) break
    if (text.isEmpty) start = { at: cursor.at + current, line, column }
    else text.add('\n')
    recentEmpty = false
    for (const at = cursor.at + current; cursor.at < at; ) {
      if (cursor.getCode() === BREAK) cursor.skipBreak()
      else cursor.at += 1
    }
    text.add(cursor.text.slice(cursor.at, findLineEndAt(cursor.text, cursor.at)))
    cursor.skipToBreak()
    current = 0
    column = 0
    line = cursor.line
  }

  if (!text.isEmpty)
    found.push({
      kind: 'head',
      text: String(text),
      scanAt,
      tokenAt: start.at,
      start,
      endAt: cursor.at + current - 1,
    })
  return found
}
