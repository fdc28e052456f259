/** As in go-yaml's `emitterc.go`. */
import { isYamlBreak } from '../yaml-scalar-form.ts'

export const YAML_INDENT = 2

export class YamlOutput {
  text = ''
  column = 0
  /** -1 outside of all blocks and brackets. */
  indent = -1
  /** Whether the last character is a space, or counts as one. */
  whitespace = true
  /** Whether the line has only indentation and `-`, `?` and `:`. */
  indention = true
  /** Of a foot comment directly above; following text with this indentation gets an empty line. */
  footIndent = -1

  put(text: string): void {
    this.text += text
    this.column += text.length
  }

  putBreak(): void {
    this.writeBreak('\n')
  }

  writeBreak(character: string): void {
    this.text += character
    this.column = 0
    this.indention = true
  }

  writeIndent(): void {
    const indent = Math.max(this.indent, 0)
    if (!this.indention || this.column > indent || (this.column === indent && !this.whitespace))
      this.putBreak()
    if (this.footIndent === indent) this.putBreak()
    if (this.column < indent) this.put(' '.repeat(indent - this.column))
    this.whitespace = true
    this.footIndent = -1
  }

  writeIndicator(
    text: string,
    needsSpace: boolean,
    isWhitespace: boolean,
    isIndention: boolean,
  ): void {
    if (needsSpace && !this.whitespace) this.put(' ')
    this.put(text)
    this.whitespace = isWhitespace
    this.indention &&= isIndention
  }

  writeComment(text: string): void {
    let breaks = false
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) {
        this.putBreak()
        breaks = true
      }
      if (line === '') continue
      if (breaks) this.writeIndent()
      this.put(line.startsWith('#') ? line : `# ${line}`)
      this.indention = false
      breaks = false
    }
    if (!breaks) this.putBreak()
    this.whitespace = true
  }

  writeLineComment(text: string): void {
    if (!this.whitespace) this.put(' ')
    this.writeComment(text)
  }

  writePlain(value: string): void {
    if (value !== '') {
      if (!this.whitespace) this.put(' ')
      this.put(value)
      this.whitespace = false
    }
    this.indention = false
  }

  writeSingleQuoted(value: string): void {
    this.writeIndicator("'", true, false, false)
    let breaks = false
    for (const character of value)
      if (isYamlBreak(character)) {
        if (!breaks && character === '\n') this.putBreak()
        this.writeBreak(character)
        breaks = true
      } else {
        if (breaks) this.writeIndent()
        this.put(character === "'" ? "''" : character)
        this.indention = false
        breaks = false
      }
    this.writeIndicator("'", false, false, false)
  }

  block(value: string, style: 'literal' | 'folded', lineComment: string): void {
    this.writeIndicator(style === 'literal' ? '|' : '>', true, false, false)
    const hint = value.startsWith(' ') || isYamlBreak(value[0]) ? String(YAML_INDENT) : ''
    const chomp = !isYamlBreak(value.at(-1))
      ? '-'
      : value.length === 1 || isYamlBreak(value.at(-2))
        ? '+'
        : ''
    if (hint !== '') this.writeIndicator(hint, false, false, false)
    if (chomp !== '') this.writeIndicator(chomp, false, false, false)
    if (lineComment === '') this.putBreak()
    else this.writeLineComment(lineComment)
    this.whitespace = true
    // go-yaml doubles a break between two lines of a folded block that begin without a space, also
    // judging by the first line.
    const doubled = style === 'folded' && /^[\n\u2028\u2029]*[^ \t\n\u2028\u2029]/.test(value)
    let lineHasSpace = true
    let atStart = true
    let from = 0
    for (let at = 0; at <= value.length; at += 1) {
      const character = value[at]
      if (character !== undefined && !isYamlBreak(character)) continue
      if (at > from) {
        this.writeIndent()
        lineHasSpace = value[from] === ' ' || value[from] === '\t'
        this.put(value.slice(from, at))
        this.indention = false
        atStart = false
      }
      if (character !== undefined) {
        if (doubled && !atStart && !lineHasSpace && character === '\n') this.putBreak()
        this.writeBreak(character)
        atStart = true
      }
      from = at + 1
    }
  }
}
