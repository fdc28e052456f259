/** Line breaks are LF; `checkYamlText` refuses the others. */

const TAB = 9
const BREAK = 10
const SPACE = 32

export interface YamlMark {
  readonly at: number
  readonly line: number
  /** Counts from 0. */
  readonly column: number
}

export class YamlCursor {
  readonly text: string
  at = 0
  line = 0
  lineStart = 0
  /** Since the last non-blank character. */
  newlines = 0
  /** -1 outside of all blocks. */
  indent = -1
  flowLevel = 0
  private json: boolean | undefined

  constructor(text: string) {
    this.text = text
  }

  get column(): number {
    return this.at - this.lineStart
  }

  /**
   * kubectl reads a JSON document with a JSON parser, which knows more escapes than its YAML
   * parser.
   */
  isJson(): boolean {
    this.json ??= isJsonText(this.text)
    return this.json
  }

  mark(): YamlMark {
    return { at: this.at, line: this.line, column: this.column }
  }

  /** Character code; 0 after the end. */
  getCode(ahead = 0): number {
    const at = this.at + ahead
    return at < this.text.length ? this.text.charCodeAt(at) : 0
  }

  /** Skips characters of one line. The last one must not be blank. */
  skip(count: number): void {
    this.at += count
    this.newlines = 0
  }

  skipBlanks(): void {
    let { at } = this
    while (isBlank(at < this.text.length ? this.text.charCodeAt(at) : 0)) at += 1
    this.at = at
  }

  skipBreak(): void {
    this.at += 1
    this.line += 1
    this.lineStart = this.at
    this.newlines += 1
  }

  skipToBreak(): void {
    const end = findLineEndAt(this.text, this.at)
    for (let at = end; at > this.at; at -= 1)
      if (!isBlank(this.text.charCodeAt(at - 1))) {
        this.newlines = 0
        break
      }
    this.at = end
  }

  isDocumentMark(): boolean {
    if (this.at !== this.lineStart) return false
    const code = this.getCode()
    return (
      (code === 45 || code === 46) &&
      this.getCode(1) === code &&
      this.getCode(2) === code &&
      isBlankOrEnd(this.getCode(3))
    )
  }
}

export function findLineEndAt(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

export function isBreakOrEnd(code: number): boolean {
  return code === BREAK || code === 0
}

export function isBlankOrEnd(code: number): boolean {
  return code === SPACE || code === TAB || code === BREAK || code === 0
}

function isJsonText(text: string): boolean {
  const document = text.replace(/^---[^\n]*\n/, '')
  if (!/^\s*\{/.test(document)) return false
  try {
    JSON.parse(document)
    return true
  } catch {
    return false
  }
}
