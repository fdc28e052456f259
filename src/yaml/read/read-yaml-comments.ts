/**
 * Which comment belongs to what, as go-yaml's scanner has it (`scannerc.go`, `scan_comments`, `scan_line_comment`): a
 * comment gets the place of a token when it is read, and goes to the node whose token is the first one there or behind.
 */
import { isBlank, isBlankOrEnd, isBreakOrEnd, lineEndAt, type YamlCursor, type YamlMark } from './read-yaml-cursor.ts'
import { YamlRefusal } from './read-yaml-refusal.ts'

/** How far go-yaml looks for the next comment line. */
const LOOK_AHEAD = 512
const BREAK = 10
const HASH = 35

export interface YamlComment {
  readonly kind: 'head' | 'line' | 'foot'
  readonly text: string
  /** Where the scan for tokens began in which it was found. */
  readonly scanAt: number
  /** Of the token it goes with. */
  readonly tokenAt: number
  /** Columns from 1 here; of a line comment nothing counts. */
  readonly start: YamlMark
  readonly endAt: number
}

/** What the scan needs to know of the tokens before. */
export interface TokenBefore {
  readonly at: number
  readonly isValueMark: boolean
}

/** A comment behind a token, on its line. */
export function scanLineComment(cursor: YamlCursor, tokenAt: number): YamlComment | undefined {
  if (cursor.newlines > 0) return undefined
  let ahead = 0
  while (ahead < LOOK_AHEAD && isBlank(cursor.code(ahead))) ahead += 1
  if (ahead === LOOK_AHEAD || cursor.code(ahead) !== HASH) return undefined
  const at = cursor.at + ahead
  // go-yaml takes it, YAML and other readers do not.
  if (!isBlankOrEnd(cursor.text.charCodeAt(at - 1)))
    throw new YamlRefusal(at, 'a comment begins without a space before it', 'put a space before the "#"')
  const start = { at, line: cursor.line, column: at - cursor.lineStart }
  const text = cursor.text.slice(at, lineEndAt(cursor.text, at))
  cursor.skipToBreak()
  return { kind: 'line', text, scanAt: 0, tokenAt, start, endAt: 0 }
}

/**
 * The comment lines at the cursor, which stands at the first one's `#`.
 * @param scanned where the scan for the next token began
 */
export function scanComments(cursor: YamlCursor, scanned: YamlMark, before: TokenBefore): readonly YamlComment[] {
  const found: YamlComment[] = []
  const nextIndent = Math.max(cursor.indent, 0)
  let scanAt = scanned.at
  let tokenAt = before.at
  let start: YamlMark = { at: 0, line: 0, column: 0 }
  let recentEmpty = false
  let firstEmpty = cursor.newlines <= 1
  let { line, column } = cursor
  let text = ''
  // A comment that starts right below content may still be that content's foot.
  const footLine = scanned.line > 0 ? line - cursor.newlines + 1 : -1
  const closeFoot = (at: number): void => {
    found.push({ kind: 'foot', text, scanAt, tokenAt, start, endAt: at })
    scanAt = at
    tokenAt = at
    text = ''
  }

  let current = 0
  for (; current < LOOK_AHEAD; current += 1) {
    column += 1
    const code = cursor.code(current)
    if (isBlank(code)) continue
    const closesFlow = cursor.flowLevel > 0 && (code === 93 || code === 125)
    if (closesFlow || isBreakOrEnd(code)) {
      if (closesFlow || !recentEmpty) {
        const isFoot = (start.line === footLine && !before.isValueMark) || start.column - 1 < nextIndent
        if (closesFlow || (firstEmpty && isFoot)) {
          if (text !== '') {
            // Dedented, it has nothing to do with the token before.
            if (start.column - 1 < nextIndent) tokenAt = start.at
            closeFoot(cursor.at + current)
          }
        } else if (text !== '' && code !== 0) text += '\n'
      }
      if (code !== BREAK) break
      firstEmpty = false
      recentEmpty = true
      column = 0
      line += 1
      continue
    }
    // At another indentation it is the foot of what is above, not the head of what comes.
    if (text !== '' && column - 1 < nextIndent && column !== start.column) closeFoot(cursor.at + current)
    if (code !== HASH) break
    if (text === '') start = { at: cursor.at + current, line, column }
    else text += '\n'
    recentEmpty = false
    for (const at = cursor.at + current; cursor.at < at; ) {
      if (cursor.code() === BREAK) cursor.skipBreak()
      else cursor.at += 1
    }
    text += cursor.text.slice(cursor.at, lineEndAt(cursor.text, cursor.at))
    cursor.skipToBreak()
    current = 0
    column = 0
    line = cursor.line
  }

  if (text !== '') found.push({ kind: 'head', text, scanAt, tokenAt: start.at, start, endAt: cursor.at + current - 1 })
  return found
}
