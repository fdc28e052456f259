/**
 * Reads ahead exactly as far as go-yaml's scanner (`scannerc.go`), because that decides which node
 * gets some comments.
 */
import { scanComments, scanLineComment, type YamlComment } from './read-yaml-comments.ts'
import { isBlankOrEnd, YamlCursor, type YamlMark } from './read-yaml-cursor.ts'
import { SimpleKeys } from './read-yaml-keys.ts'
import type { NodeMeter } from './read-yaml-limits.ts'
import { canStartPlain } from './read-yaml-plain-start.ts'
import {
  createQuestionMarkRefusal,
  createTabRefusal,
  UnclosedYaml,
  YamlRefusal,
} from './read-yaml-refusal.ts'
import {
  type ScalarText,
  scanBlock,
  scanName,
  scanPlain,
  scanQuoted,
  scanTag,
} from './read-yaml-scalar.ts'
import type { TokenKind, YamlToken } from './read-yaml-token.ts'

/** As in go-yaml. */
const LOOK_AHEAD = 2
const MOST_TAKEN = 1024
const MOST_SEARCHED = 100_000

const BRACKETS: { readonly [character: string]: '[' | ']' | '{' | '}' } = {
  '[': '[',
  ']': ']',
  '{': '{',
  '}': '}',
}

export class YamlTokens {
  head = ''
  line = ''
  foot = ''
  lastEnd = 0
  private readonly cursor: YamlCursor
  private readonly keys: SimpleKeys
  private readonly meter: NodeMeter
  /** Without the first `dropped` tokens, which were taken. */
  private readonly tokens: YamlToken[] = [{ kind: 'stream-start', start: 0, end: 0 }]
  private dropped = 0
  private next = 0
  /** Comments from `commentsFrom` on have no node yet. */
  private readonly comments: YamlComment[] = []
  private commentsFrom = 0
  private readonly indents: number[] = []
  private readonly openBrackets: number[] = []

  constructor(text: string, meter: NodeMeter) {
    this.cursor = new YamlCursor(text)
    this.keys = new SimpleKeys(this.cursor)
    this.meter = meter
    this.take()
  }

  readCurrent(): YamlToken {
    while (this.next >= this.count - LOOK_AHEAD || this.keys.mayBecomeKey(this.next)) this.fetch()
    const token = this.tokens[this.next - this.dropped]
    if (token === undefined)
      throw new YamlRefusal(this.cursor.at, 'something is in a place where it is not allowed')
    this.handOver(token)
    return token
  }

  take(): YamlToken {
    const token = this.readCurrent()
    this.next += 1
    if (token.end > token.start) this.lastEnd = token.end
    if (this.next - this.dropped > MOST_TAKEN) this.dropTaken()
    return token
  }

  private get count(): number {
    return this.dropped + this.tokens.length
  }

  private dropTaken(): void {
    this.tokens.splice(0, this.next - this.dropped)
    this.dropped = this.next
    this.comments.splice(0, this.commentsFrom)
    this.commentsFrom = 0
  }

  findUnclosed(): UnclosedYaml | undefined {
    const { cursor } = this
    try {
      const end = this.count + MOST_SEARCHED
      while (cursor.flowLevel > 0 && this.tokens.at(-1)?.kind !== 'stream-end') {
        if (this.count > end) return undefined
        this.fetch()
      }
    } catch (thrown) {
      if (thrown instanceof YamlRefusal) return thrown instanceof UnclosedYaml ? thrown : undefined
      throw thrown
    }
    const open = this.openBrackets.at(-1)
    return open === undefined ? undefined : new UnclosedYaml(open, 'bracket')
  }

  private handOver(token: YamlToken): void {
    for (
      let comment = this.comments[this.commentsFrom];
      comment !== undefined;
      comment = this.comments[this.commentsFrom]
    ) {
      if (token.start < comment.tokenAt) return
      if (comment.kind === 'head' && token.kind === 'block-end') return
      const before = this[comment.kind]
      this[comment.kind] = before === '' ? comment.text : `${before}\n${comment.text}`
      this.commentsFrom += 1
    }
  }

  private fetch(): void {
    const { cursor } = this
    const scanned = cursor.mark()
    this.skipToToken(scanned)
    this.closeBlocks(cursor.column, scanned)
    if (cursor.at >= cursor.text.length) {
      this.endStream()
      return
    }
    if (cursor.isDocumentMark()) {
      this.closeBlocks(-1, cursor.mark())
      this.keys.drop()
      this.keys.allowed = false
      this.push(cursor.text[cursor.at] === '-' ? 'document-start' : 'document-end', 3)
      return
    }
    const character = cursor.text.charAt(cursor.at)
    // A comment after ":" or "," belongs to the token before.
    const withBefore = cursor.flowLevel === 0 ? character === ':' : character === ','
    const commentAt = withBefore ? (this.tokens.at(-1)?.start ?? 0) : cursor.at
    this.fetchToken(character)
    // A comment after a "-" belongs to what follows.
    if (this.tokens.at(-1)?.kind !== '-') this.addLineComment(commentAt)
  }

  private addLineComment(tokenAt: number): void {
    const comment = scanLineComment(this.cursor, tokenAt)
    if (comment !== undefined) this.keepComment(comment)
  }

  private keepComment(comment: YamlComment): void {
    this.meter.count(comment.start.at)
    this.comments.push(comment)
  }

  private fetchToken(character: string): void {
    const { cursor } = this
    const bracket = Object.hasOwn(BRACKETS, character) ? BRACKETS[character] : undefined
    const inFlow = cursor.flowLevel > 0
    const alone = isBlankOrEnd(cursor.getCode(1))
    if (bracket === '[' || bracket === '{') this.openFlow(bracket)
    else if (bracket !== undefined) this.closeFlow(bracket)
    else if (character === ',') {
      this.keys.drop()
      this.keys.allowed = true
      this.push(',', 1)
    } else if (character === '-' && alone) this.fetchDash()
    else if (character === '?' && (inFlow || alone)) this.fetchQuestionMark()
    else if (character === ':' && (inFlow || alone)) this.fetchColon()
    else if (character === '*' || character === '&')
      this.fetchProperty(character === '*' ? 'alias' : 'anchor', scanName)
    else if (character === '!') this.fetchProperty('tag', scanTag)
    else if ((character === '|' || character === '>') && !inFlow) {
      this.keys.drop()
      this.keys.allowed = true
      const { at } = cursor
      this.pushScalar(scanBlock(cursor, () => this.addLineComment(at)))
    } else if (character === "'" || character === '"') {
      this.beginValue()
      this.pushScalar(scanQuoted(cursor))
    } else if (canStartPlain(cursor, character)) {
      this.beginValue()
      const scalar = scanPlain(cursor)
      if (scalar.endsLine) this.keys.allowed = true
      this.pushScalar(scalar)
    } else if (character === '\t') throw createTabRefusal(cursor.at)
    else
      throw new YamlRefusal(
        cursor.at,
        'a value without quotes cannot start with this character',
        'put the value in quotes',
      )
  }

  private push(kind: TokenKind, length: number): void {
    const start = this.cursor.at
    this.cursor.skip(length)
    this.tokens.push({ kind, start, end: start + length })
  }

  private pushScalar(scalar: ScalarText): void {
    this.tokens.push({ kind: 'scalar', start: scalar.start, end: scalar.end, scalar })
  }

  private beginValue(): void {
    this.keys.save(this.count)
    this.keys.allowed = false
  }

  private openFlow(bracket: '[' | '{'): void {
    this.keys.save(this.count)
    this.keys.open(this.count)
    this.openBrackets.push(this.cursor.at)
    this.cursor.flowLevel += 1
    this.keys.allowed = true
    this.push(bracket, 1)
  }

  private closeFlow(bracket: ']' | '}'): void {
    this.keys.drop()
    if (this.cursor.flowLevel > 0) {
      this.cursor.flowLevel -= 1
      this.keys.close()
      this.openBrackets.pop()
    }
    this.keys.allowed = false
    this.push(bracket, 1)
  }

  private fetchDash(): void {
    if (this.cursor.flowLevel > 0)
      throw new YamlRefusal(
        this.cursor.at,
        'a block is inside brackets',
        'write a list inside brackets with brackets of its own',
      )
    this.openBlock('list-start')
    this.keys.drop()
    this.keys.allowed = true
    this.push('-', 1)
  }

  private fetchQuestionMark(): void {
    const inFlow = this.cursor.flowLevel > 0
    if (!inFlow) this.openBlock('map-start')
    else if (!isBlankOrEnd(this.cursor.getCode(1))) throw createQuestionMarkRefusal(this.cursor.at)
    this.keys.drop()
    this.keys.allowed = !inFlow
    this.push('key', 1)
  }

  private fetchColon(): void {
    const key = this.keys.confirm()
    if (key !== undefined) {
      this.tokens.splice(key.token - this.dropped, 0, {
        kind: 'key',
        start: key.mark.at,
        end: key.mark.at,
      })
      this.rollIndent(key.mark, 'map-start', key.token)
      this.keys.allowed = false
    } else {
      const inFlow = this.cursor.flowLevel > 0
      if (!inFlow) this.openBlock('map-start')
      this.keys.allowed = !inFlow
    }
    this.push('value', 1)
  }

  private fetchProperty(
    kind: 'alias' | 'anchor' | 'tag',
    scan: (cursor: YamlCursor) => string,
  ): void {
    this.beginValue()
    const start = this.cursor.at
    const name = scan(this.cursor)
    this.tokens.push({ kind, start, end: this.cursor.at, name })
  }

  private openBlock(kind: 'list-start' | 'map-start'): void {
    if (!this.keys.allowed)
      throw new YamlRefusal(
        this.cursor.at,
        'a nested map or list starts on the line of its key, or a text goes on over lines',
        'begin the map or list on the next line, or put the text in quotes',
      )
    this.rollIndent(this.cursor.mark(), kind, this.count)
  }

  private rollIndent(mark: YamlMark, kind: 'list-start' | 'map-start', before: number): void {
    const { cursor } = this
    if (cursor.flowLevel > 0 || cursor.indent >= mark.column) return
    this.indents.push(cursor.indent)
    cursor.indent = mark.column
    this.tokens.splice(before - this.dropped, 0, { kind, start: mark.at, end: mark.at })
  }

  /** Before the comments with a smaller indentation. */
  private closeBlocks(column: number, scanned: YamlMark): void {
    const { cursor } = this
    if (cursor.flowLevel > 0) return
    let at = scanned.at - 1
    while (cursor.indent > column) {
      let stop = at
      for (let index = this.comments.length - 1; index >= this.commentsFrom; index -= 1) {
        const comment = this.comments[index]
        if (comment === undefined || comment.endAt < stop) break
        if (comment.start.column === cursor.indent + 1) at = comment.start.at
        stop = comment.scanAt
      }
      this.tokens.push({ kind: 'block-end', start: at, end: at })
      cursor.indent = this.indents.pop() ?? -1
    }
  }

  private endStream(): void {
    const { cursor } = this
    const { at } = cursor
    if (cursor.column > 0) {
      // A new line ends possible keys in brackets that stay open.
      cursor.line += 1
      cursor.lineStart = at
    }
    this.closeBlocks(-1, cursor.mark())
    this.keys.drop()
    this.keys.allowed = false
    this.tokens.push({ kind: 'stream-end', start: at, end: at })
  }

  private skipToToken(scanned: YamlMark): void {
    const { cursor } = this
    for (;;) {
      for (
        let code = cursor.getCode();
        code === 32 || (code === 9 && (cursor.flowLevel > 0 || !this.keys.allowed));
        code = cursor.getCode()
      )
        cursor.at += 1
      this.turnLineCommentIntoHead()
      if (cursor.getCode() === 35) {
        const before = this.findTokenBeforeComment()
        for (const comment of scanComments(cursor, scanned, {
          at: before?.start ?? 0,
          isValueMark: before?.kind === 'value',
        }))
          this.keepComment(comment)
      }
      if (cursor.getCode() !== 10) return
      cursor.skipBreak()
      if (cursor.flowLevel === 0) this.keys.allowed = true
    }
  }

  private findTokenBeforeComment(): YamlToken | undefined {
    const last = this.tokens.at(-1)
    return last?.kind === ',' && this.tokens.length > 1 ? this.tokens.at(-2) : last
  }

  /** If the item's value begins below the dash. */
  private turnLineCommentIntoHead(): void {
    const index = this.comments.length - 1
    const comment = this.comments[index]
    if (comment?.kind !== 'line' || index < this.commentsFrom) return
    if (this.tokens.at(-2)?.kind !== 'list-start' || this.tokens.at(-1)?.kind !== '-') return
    const { cursor } = this
    if (cursor.getCode() === 10) return
    const tokenAt = comment.start.line === cursor.line - 1 ? cursor.at : comment.tokenAt
    this.comments[index] = { ...comment, kind: 'head', tokenAt }
  }
}
