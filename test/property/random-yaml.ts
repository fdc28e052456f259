/** Random manifests printed in random styles, with the lines that each field takes. */
import { formatOnOneLine } from '@backporch/kyaml/edit-yaml'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'

export interface PrintStyle {
  readonly seed: number
  readonly step: number
  readonly dashOffset: number
  readonly dashWidth: number
  readonly lineBreak: '\n' | '\r\n'
  readonly finalBreak: boolean
  readonly byteOrderMark: boolean
  /** Of ten: how many comments, and how many maps and lists in brackets. */
  readonly comments: number
  readonly flow: number
  /** Further documents before and after. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export type PlainPath = readonly (string | number)[]

/** Lines of a field, counted from 0, its own comments included. */
export interface LineRange {
  readonly from: number
  readonly to: number
  readonly isFlow: boolean
}

export interface Printed {
  readonly text: string
  readonly document: number
  readonly ranges: ReadonlyMap<string, LineRange>
}

export function pathKey(path: PlainPath): string {
  return JSON.stringify(path)
}

class Printer {
  readonly lines: string[] = []
  readonly ranges = new Map<string, LineRange>()
  private readonly style: PrintStyle
  private state: number

  constructor(style: PrintStyle) {
    this.style = style
    this.state = style.seed
  }

  /** A number below `limit`; the same style gives the same numbers. */
  private roll(limit: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.state / 2 ** 32) * limit)
  }

  private chance(ofTen: number): boolean {
    return this.roll(10) < ofTen
  }

  private trailing(): string {
    return this.chance(this.style.comments) ? ` # kpt-set: \${v${this.lines.length}}` : ''
  }

  map(value: { readonly [key: string]: Json }, column: number, path: PlainPath): void {
    for (const [index, [key, below]] of Object.entries(value).entries()) {
      const name = this.key(key)
      const before = this.lines.length
      if (index > 0 && this.chance(this.style.comments))
        this.lines.push('', `${' '.repeat(column)}# about # this: "key" ${this.lines.length}`)
      const from = before === this.lines.length ? before : before + 1
      this.entry(`${' '.repeat(column)}${name}:`, below, column, [...path, key], from, false)
    }
  }

  private key(key: string): string {
    return formatOnOneLine(key, this.chance(8) ? 'plain' : 'double', '"', false)
  }

  private list(value: readonly Json[], column: number, path: PlainPath): void {
    for (const [index, item] of value.entries()) {
      const from = this.lines.length
      if (index > 0 && this.chance(this.style.comments))
        this.lines.push(`${' '.repeat(column)}# an item ${this.lines.length}`)
      this.entry(`${' '.repeat(column)}-`, item, column, [...path, index], from, true)
    }
  }

  /** Puts a value behind `head`, on its line or below it. */
  private entry(
    head: string,
    value: Json,
    column: number,
    path: PlainPath,
    from: number,
    isItem: boolean,
  ): void {
    const isFlow = this.value(head, value, column, path, isItem)
    this.ranges.set(pathKey(path), { from, to: this.lines.length - 1, isFlow })
  }

  private value(
    head: string,
    value: Json,
    column: number,
    path: PlainPath,
    isItem: boolean,
  ): boolean {
    const isFull =
      (isJsonArray(value) && value.length > 0) ||
      (isJsonObject(value) && Object.keys(value).length > 0)
    if (!isFull) {
      if (typeof value === 'string' && isBlockText(value) && this.chance(7))
        this.block(head, value, column)
      else this.lines.push(`${head}${this.scalar(value, false)}${this.trailing()}`)
      return false
    }
    if (this.chance(this.style.flow)) {
      this.flow(head, value, column, path)
      return true
    }
    if (isItem && this.chance(8)) this.onDashLine(head, value, column, path)
    else {
      this.lines.push(head + this.trailing())
      if (isJsonArray(value))
        this.list(value, column + (isItem ? this.style.dashWidth : this.style.dashOffset), path)
      else
        this.map(
          value as { [key: string]: Json },
          column + (isItem ? this.style.dashWidth : this.style.step),
          path,
        )
    }
    return false
  }

  private onDashLine(head: string, value: Json, column: number, path: PlainPath): void {
    const at = this.lines.length
    const below = column + this.style.dashWidth
    if (isJsonArray(value)) this.list(value, below, path)
    else this.map(value as { [key: string]: Json }, below, path)
    this.lines[at] = head.padEnd(below) + (this.lines[at] ?? '').slice(below)
  }

  private block(head: string, value: string, column: number): void {
    const body = value.replace(/\n$/, '')
    const header = `|${body === value ? '-' : ''}`
    this.lines.push(`${head} ${header}${this.trailing()}`)
    const indentation = ' '.repeat(column + this.style.step)
    for (const line of body.split('\n'))
      this.lines.push(line === '' ? (this.chance(3) ? indentation : '') : indentation + line)
  }

  private scalar(value: Json, inFlow: boolean): string {
    if (value === null) return [' null', ' ~', inFlow ? ' null' : ''][this.roll(3)] ?? ''
    if (isJsonArray(value)) return this.chance(5) ? ' []' : ' [ ]'
    if (typeof value === 'object') return ' {}'
    if (typeof value !== 'string') return ` ${value}`
    const style = (['plain', 'plain', 'single', 'double'] as const)[this.roll(4)] ?? 'plain'
    return ` ${formatOnOneLine(value, style, this.chance(5) ? '"' : "'", inFlow)}`
  }

  private flow(head: string, value: Json, column: number, path: PlainPath): void {
    if (this.chance(6)) {
      this.lines.push(`${head} ${this.flowText(value)}${this.trailing()}`)
      return
    }
    // One entry a line, with comments and perhaps a comma behind the last one.
    const [open, close] = isJsonArray(value) ? ['[', ']'] : ['{', '}']
    this.lines.push(`${head} ${open}`)
    const entries = isJsonArray(value)
      ? value.map((item, index) => [index, this.flowText(item)] as const)
      : Object.entries(value as { [key: string]: Json }).map(
          ([key, below]) =>
            [key, `${formatOnOneLine(key, 'plain', '"', true)}: ${this.flowText(below)}`] as const,
        )
    const comma = this.chance(5) ? ',' : ''
    const indentation = ' '.repeat(column + this.style.step + 2)
    for (const [index, [name, text]] of entries.entries()) {
      this.ranges.set(pathKey([...path, name]), {
        from: this.lines.length,
        to: this.lines.length,
        isFlow: true,
      })
      this.lines.push(
        `${indentation}${text}${index === entries.length - 1 ? comma : ','}${this.trailing()}`,
      )
    }
    this.lines.push(' '.repeat(column + this.style.step) + close)
  }

  private flowText(value: Json): string {
    if (isJsonArray(value) && value.length > 0)
      return `[${value.map((item) => this.flowText(item)).join(', ')}]`
    if (isJsonObject(value) && Object.keys(value).length > 0) {
      const pad = this.chance(3) ? ' ' : ''
      return `{${pad}${Object.entries(value)
        .map(
          ([key, below]) => `${formatOnOneLine(key, 'plain', '"', true)}: ${this.flowText(below)}`,
        )
        .join(', ')}${pad}}`
    }
    return this.scalar(value, true).trim()
  }
}

function isBlockText(value: string): boolean {
  return (
    /^[^\s][^\r\t]*[^\n\r\t]\n?$/.test(value) &&
    value.includes('\n') &&
    !/[\p{Cc}--\n]/v.test(value)
  )
}

export function printYaml(value: { readonly [key: string]: Json }, style: PrintStyle): Printed {
  const printer = new Printer(style)
  for (const document of style.before) printer.lines.push(...document.split('\n'), '---')
  if (style.comments > 0) printer.lines.push('# a licence', '')
  printer.map(value, 0, [])
  for (const document of style.after) printer.lines.push('--- # next', ...document.split('\n'))
  const text =
    (style.byteOrderMark ? '\uFEFF' : '') +
    printer.lines.join(style.lineBreak) +
    (style.finalBreak ? style.lineBreak : '')
  return {
    text,
    document: style.before.filter((each) => !each.startsWith('#')).length,
    ranges: printer.ranges,
  }
}
