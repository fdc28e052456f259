/**
 * Scalars as text. What is written reads the same for kubectl (go-yaml, YAML 1.1 by half), for kpt and for readers of YAML
 * 1.2: a text that any of them could take for something else is quoted.
 */

import type { Json } from '../../text/json.ts'
import { isTextToAll } from '../go-scalar.ts'

export type QuoteStyle = 'plain' | 'single' | 'double'

const ESCAPES: { readonly [character: string]: string } = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' }
/** Not printable, or a line break to some reader, or a byte order mark. */
const NEEDS_ESCAPE = /[\p{Cc}\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/u
const TO_ESCAPE = /["\\\p{Cc}\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu

/** A text in double quotes, on one line. */
export function doubleQuoted(text: string): string {
  const escaped = text.replace(TO_ESCAPE, (character) => {
    const code = character.charCodeAt(0)
    return ESCAPES[character] ?? `\\u${code.toString(16).padStart(4, '0')}`
  })
  return `"${escaped}"`
}

function canBeSingle(text: string): boolean {
  return !NEEDS_ESCAPE.test(text)
}

/** Whether a text can stand without quotes; `inFlow` inside brackets, where more characters have a meaning. */
export function canBePlain(text: string, inFlow: boolean): boolean {
  if (text === '' || text !== text.trim() || NEEDS_ESCAPE.test(text)) return false
  if (/^[,[\]{}#&*!|>'"%@`]/.test(text) || /^[-?:](\s|$)/.test(text) || /^(---|\.\.\.)/.test(text)) return false
  if (/:(\s|$)/.test(text) || /\s#/.test(text)) return false
  if (inFlow && (/[,[\]{}?]/.test(text) || text.startsWith(':'))) return false
  return isTextToAll(text)
}

/**
 * A text on one line.
 * @param wished the style of the value it replaces or of its neighbours; taken where it can hold the text
 * @param quote the quotes of the file, for a text that cannot be plain
 */
export function textOnOneLine(text: string, wished: QuoteStyle, quote: '"' | "'", inFlow: boolean): string {
  if (wished === 'plain' && canBePlain(text, inFlow)) return text
  const single = wished === 'single' || (wished === 'plain' && quote === "'")
  return single && canBeSingle(text) ? `'${text.replaceAll("'", "''")}'` : doubleQuoted(text)
}

/** A number, truth value or null. */
export function plainWord(value: Exclude<Json, string | object> | null): string {
  return Object.is(value, -0) ? '0' : String(value)
}

/** What a block scalar is made of: the header, and lines without indentation. */
export interface BlockText {
  readonly header: string
  readonly lines: readonly string[]
}

/** A text as a literal block, or undefined where a block cannot hold it. */
export function literalBlock(text: string, indicator = ''): BlockText | undefined {
  if (!fitsBlock(text) || (indicator === '' && /^\s/.test(text))) return undefined
  const body = text.replace(/\n+$/, '')
  const ends = text.length - body.length
  if (body === '') return undefined
  const chomping = ends === 0 ? '-' : ends === 1 ? '' : '+'
  return { header: `|${indicator}${chomping}`, lines: [...body.split('\n'), ...Array.from({ length: Math.max(0, ends - 1) }, () => '')] }
}

function fitsBlock(text: string): boolean {
  return !NEEDS_ESCAPE.test(text.replace(/[\n\t]/g, ''))
}

/**
 * A text as a folded block whose lines are at most `width` wide where they can be.
 * @returns undefined where folding could not give the text back
 */
export function foldedBlock(text: string, width: number): BlockText | undefined {
  const literal = literalBlock(text)
  if (literal === undefined || literal.header.endsWith('+') || /^[ \t]|[ \t]$/m.test(text) || /\n\n/.test(text.trimEnd())) return undefined
  const paragraphs = text.replace(/\n$/, '').split('\n')
  const lines = paragraphs.flatMap((paragraph, index) => [...(index === 0 ? [] : ['']), ...wrap(paragraph, width)])
  return { header: literal.header.replace('|', '>'), lines }
}

function wrap(paragraph: string, width: number): readonly string[] {
  const lines: string[] = []
  // Only a single space folds back into a single space.
  for (const word of paragraph.split(/(?<! ) (?! )/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
