/**
 * The only encoder for Markdown. External text becomes code, where forges make no mentions,
 * references, links, HTML or emphasis (GitHub Flavored Markdown §6.1 and §4.10;
 * docs/facts/markdown-encoding.md).
 */
import { convertToOneLine } from './one-line.ts'

/** Outside tables. */
export function formatMarkdownCode(text: string, limit = 120): string {
  const shown = convertToOneLine(text, limit)
  if (shown === '') return '(empty)'
  // Shorter and longer runs do not close the code.
  const fence = '`'.repeat(measureLongestRun(shown) + 1)
  // A reader drops one space at both ends.
  const pad = /^`|`$|^ .*[^ ].* $/.test(shown) ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}

/**
 * An unescaped pipe ends a cell even in code. Renderers disagree about a pipe behind two
 * backslashes, so it is `\u{7c}`.
 */
export function formatMarkdownCell(text: string, limit = 120): string {
  return formatMarkdownCode(
    convertToOneLine(text, limit).replaceAll('\\|', '\\\\u{7c}'),
    Number.POSITIVE_INFINITY,
  ).replaceAll('|', '\\|')
}

/** @param language a constant */
export function formatMarkdownBlock(text: string, language: string, limit = 2_000): string {
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => convertToOneLine(line, limit))
  const fence = '`'.repeat(Math.max(3, measureLongestRun(lines.join('\n')) + 1))
  return `${fence}${language}\n${lines.join('\n')}\n${fence}`
}

/** Names are at unknown positions: words of plain letters stay, the rest becomes code. */
export function formatMarkdownProse(text: string, limit = 400): string {
  return convertToOneLine(text.replaceAll(/\s+/g, ' ').trim(), limit)
    .split(' ')
    .map((word, index) => formatProseWord(word, index === 0))
    .join(' ')
}

const PLAIN_WORD = /^[A-Za-z]+(?:[-'][A-Za-z]+)*$/
const HEXADECIMAL = /^[0-9a-f]{7,}$/i

function formatProseWord(word: string, first: boolean): string {
  const [, before = '', core = '', after = ''] = /^(\(?)(.*?)([.,;:)]*)$/s.exec(word) ?? []
  if (core === '') return word === '' ? '' : formatMarkdownCell(word, Number.POSITIVE_INFINITY)
  const plain =
    (PLAIN_WORD.test(core) || (/^[0-9]{1,6}$/.test(core) && !first)) && !HEXADECIMAL.test(core)
  return plain ? word : `${before}${formatMarkdownCell(core, Number.POSITIVE_INFINITY)}${after}`
}

/**
 * Only the text for a non-web address, and for brackets or backticks in the code, which some
 * readers (marked) take for the link's end.
 */
export function formatMarkdownLink(encoded: string, url: string): string {
  if (!/^https?:\/\/[^/]/i.test(url) || url.length > 2_000 || /[[\]]|[^`]`+[^`]/.test(encoded))
    return encoded
  // These characters end an address, a cell or a line, or have a meaning.
  const safe = url.replaceAll(/[^A-Za-z0-9\-._~:/?#@!$&',;=%+]/gu, (character) =>
    encodeCharacter(character),
  )
  return `[${encoded}](${safe})`
}

function encodeCharacter(character: string): string {
  const bytes = new TextEncoder().encode(character)
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
    '',
  )
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For a folded block's summary, where forges read no Markdown. */
export function formatHtmlCode(text: string, limit = 120): string {
  return `<code>${(convertToOneLine(text, limit) || '(empty)').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')}</code>`
}

function measureLongestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
}
