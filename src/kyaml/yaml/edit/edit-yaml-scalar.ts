/**
 * Quoted if kubectl (go-yaml, half YAML 1.1), kpt or a YAML 1.2 reader would read something else.
 */
import type { Json } from '../../text/json.ts'
import { isTextToAll } from '../go-scalar.ts'

export type QuoteStyle = 'plain' | 'single' | 'double'

const ESCAPES: { readonly [character: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
}
/** Unprintable, line breaks of some readers, and byte order marks. */
const NEEDS_ESCAPE = /[\p{Cc}\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/u
const TO_ESCAPE = /["\\\p{Cc}\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu

export function quoteDouble(text: string): string {
  const escaped = text.replace(TO_ESCAPE, (character) => {
    const code = character.charCodeAt(0)
    return ESCAPES[character] ?? `\\u${code.toString(16).padStart(4, '0')}`
  })
  return `"${escaped}"`
}

function canBeSingle(text: string): boolean {
  return !NEEDS_ESCAPE.test(text)
}

/** @param inFlow more characters have a meaning */
function canBePlain(text: string, inFlow: boolean): boolean {
  if (text === '' || text !== text.trim() || NEEDS_ESCAPE.test(text)) return false
  if (/^[,[\]{}#&*!|>'"%@`]/.test(text) || /^[-?:](\s|$)/.test(text) || /^(---|\.\.\.)/.test(text))
    return false
  if (/:(\s|$)/.test(text) || /\s#/.test(text)) return false
  if (inFlow && (/[,[\]{}?]/.test(text) || text.startsWith(':'))) return false
  return isTextToAll(text)
}

/**
 * @param preferred used if it can represent the text
 * @param quote of the file, for a text that cannot be plain
 */
export function formatOnOneLine(
  text: string,
  preferred: QuoteStyle,
  quote: '"' | "'",
  inFlow: boolean,
): string {
  if (preferred === 'plain' && canBePlain(text, inFlow)) return text
  const single = preferred === 'single' || (preferred === 'plain' && quote === "'")
  return single && canBeSingle(text) ? `'${text.replaceAll("'", "''")}'` : quoteDouble(text)
}

export function formatPlainWord(value: Exclude<Json, string | object> | null): string {
  return Object.is(value, -0) ? '0' : String(value)
}

export interface BlockText {
  readonly header: string
  readonly lines: readonly string[]
}

/** Undefined if a block cannot represent the text. */
export function formatLiteralBlock(text: string, indicator = ''): BlockText | undefined {
  if (!fitsBlock(text) || (indicator === '' && /^\s/.test(text))) return undefined
  const body = text.replace(/\n+$/, '')
  const ends = text.length - body.length
  if (body === '') return undefined
  const chomping = ends === 0 ? '-' : ends === 1 ? '' : '+'
  return {
    header: `|${indicator}${chomping}`,
    lines: [...body.split('\n'), ...Array.from({ length: Math.max(0, ends - 1) }, () => '')],
  }
}

function fitsBlock(text: string): boolean {
  return !NEEDS_ESCAPE.test(text.replace(/[\n\t]/g, ''))
}

/** @returns undefined if folding would not reproduce the text */
export function formatFoldedBlock(text: string, width: number): BlockText | undefined {
  const literal = formatLiteralBlock(text)
  if (
    literal === undefined ||
    literal.header.endsWith('+') ||
    /^[ \t]|[ \t]$/m.test(text) ||
    /\n\n/.test(text.trimEnd())
  )
    return undefined
  const paragraphs = text.replace(/\n$/, '').split('\n')
  const lines = paragraphs.flatMap((paragraph, index) => [
    ...(index === 0 ? [] : ['']),
    ...wrap(paragraph, width),
  ])
  return { header: literal.header.replace('|', '>'), lines }
}

function wrap(paragraph: string, width: number): readonly string[] {
  const lines: string[] = []
  // A fold reproduces only a single space.
  for (const word of paragraph.split(/(?<! ) (?! )/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
