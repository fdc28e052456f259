import { isJsonArray, isJsonObject, type Json } from '../../text/json.ts'
import {
  formatLiteralBlock,
  formatOnOneLine,
  formatPlainWord,
  type QuoteStyle,
  quoteDouble,
} from './edit-yaml-scalar.ts'
import type { YamlStyle } from './edit-yaml-style.ts'

/** `head` is empty for a map or list in a block; lines have no line ends. */
export interface Written {
  readonly head: string
  readonly lines: readonly string[]
}

/** For brackets, or an empty map or list. */
export function writeFlow(value: Json, style: YamlStyle, preferred: QuoteStyle = 'plain'): string {
  const pad = style.padded ? ' ' : ''
  if (isJsonArray(value)) return `[${value.map((item) => writeFlow(item, style)).join(', ')}]`
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(
      ([key, below]) => `${writeKey(key, style, true)}: ${writeFlow(below, style)}`,
    )
    return entries.length === 0 ? '{}' : `{${pad}${entries.join(', ')}${pad}}`
  }
  if (typeof value !== 'string') return formatPlainWord(value)
  return style.json ? quoteDouble(value) : formatOnOneLine(value, preferred, style.quote, true)
}

export function writeKey(key: string, style: YamlStyle, inFlow: boolean): string {
  return style.json ? quoteDouble(key) : formatOnOneLine(key, 'plain', style.quote, inFlow)
}

export interface WriteLocation {
  readonly column: number
  readonly behind: 'key' | 'dash'
}

/** Multi-line texts become literal blocks if possible. */
export function writeBlock(
  value: Json,
  location: WriteLocation,
  style: YamlStyle,
  preferred: QuoteStyle = 'plain',
): Written {
  if (isJsonArray(value) && value.length > 0) {
    const column =
      location.column + (location.behind === 'key' ? style.dashOffset : style.dashWidth)
    return { head: '', lines: value.flatMap((item) => writeItem(item, column, style)) }
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    const column = location.column + (location.behind === 'key' ? style.step : style.dashWidth)
    return {
      head: '',
      lines: Object.entries(value).flatMap(([key, below]) => writePair(key, below, column, style)),
    }
  }
  if (typeof value !== 'string') return { head: writeFlow(value, style), lines: [] }
  // A block loses trailing blank lines at the end of the file.
  const isBlock = value.includes('\n') && !value.endsWith('\n\n')
  // After a dash, readers count the indentation from different columns.
  const step = location.behind === 'key' && value.startsWith(' ') ? String(style.step) : ''
  const block = isBlock ? formatLiteralBlock(value, step) : undefined
  if (block === undefined)
    return { head: formatOnOneLine(value, preferred, style.quote, false), lines: [] }
  return { head: block.header, lines: indent(block.lines, location.column + style.step) }
}

export function blockHeader(text: string, start: number): string {
  return /^[|>][-+1-9]*/.exec(text.slice(start, start + 3))?.[0] ?? ''
}

export function indent(lines: readonly string[], column: number): readonly string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line))
}

/** `column` is the key's. */
export function writePair(
  key: string,
  value: Json,
  column: number,
  style: YamlStyle,
): readonly string[] {
  const { head, lines } = writeBlock(value, { column, behind: 'key' }, style)
  return [
    `${' '.repeat(column)}${writeKey(key, style, false)}:${head === '' ? '' : ` ${head}`}`,
    ...lines,
  ]
}

/** `column` is the dash's. */
export function writeItem(value: Json, column: number, style: YamlStyle): readonly string[] {
  const { head, lines } = writeBlock(value, { column, behind: 'dash' }, style)
  const dash = `${' '.repeat(column)}-`.padEnd(column + style.dashWidth)
  if (head !== '') return [dash + head, ...lines]
  const [first = '', ...rest] = lines
  return [dash + first.slice(column + style.dashWidth), ...rest]
}

const NEW_FILE_STYLE: YamlStyle = {
  lineBreak: '\n',
  step: 2,
  dashOffset: 0,
  dashWidth: 2,
  quote: '"',
  json: false,
  padded: false,
}

/** kubectl, kpt and YAML 1.2 readers read it alike. */
export function writeDocument(value: Json): string {
  const style = NEW_FILE_STYLE
  const lines = isJsonObject(value)
    ? Object.entries(value).flatMap(([key, below]) => writePair(key, below, 0, style))
    : isJsonArray(value)
      ? value.flatMap((item) => writeItem(item, 0, style))
      : []
  return (lines.length === 0 ? [writeFlow(value, style)] : lines)
    .map((line) => `${line}\n`)
    .join('')
}
