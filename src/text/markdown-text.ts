/**
 * The one encoder for Markdown: text from a cluster or from git on its way into a pull request, an issue, a step summary or a
 * web page of a forge. It stands in code: there forges make no mentions, no references, no links, no HTML and no emphasis
 * of it (GitHub Flavored Markdown §6.1 and §4.10; tried against two renderers, docs/facts/markdown-encoding.md).
 * Control, bidirectional and zero-width characters show as `\u{…}`, as `oneLine` has them everywhere.
 */
import { oneLine } from './one-line.ts'

/** Inline code, outside of tables. At most `limit` characters of text; empty text is marked as such. */
export function markdownCode(text: string, limit = 120): string {
  const shown = oneLine(text, limit)
  if (shown === '') return '(empty)'
  // One backtick more than any run inside: shorter and longer runs close nothing.
  const fence = '`'.repeat(longestRun(shown) + 1)
  // A reader takes one space off both ends again, where there is one at each.
  const pad = /^`|`$|^ .*[^ ].* $/.test(shown) ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}

/**
 * Inline code for a cell of a table, where a pipe ends the cell even inside of code, unless a backslash stands before it.
 * Renderers disagree about a pipe behind two backslashes (cmark and goldmark: inside, micromark: the end), so that one is told.
 */
export function markdownCell(text: string, limit = 120): string {
  return markdownCode(oneLine(text, limit).replaceAll('\\|', '\\\\u{7c}'), Number.POSITIVE_INFINITY).replaceAll('|', '\\|')
}

/** A fenced block with its line breaks; lines of at most `limit` characters. `language` is a word of ours. */
export function markdownBlock(text: string, language: string, limit = 2_000): string {
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => oneLine(line, limit))
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1))
  return `${fence}${language}\n${lines.join('\n')}\n${fence}`
}

/**
 * A sentence of ours that may have names in it, made safe without knowing where they are: words of plain letters stay words, and
 * everything else is in code. `Flux Kustomization flux-system/apps re-applies at once` has `flux-system/apps` in code.
 */
export function markdownProse(text: string, limit = 400): string {
  return oneLine(text.replaceAll(/\s+/g, ' ').trim(), limit)
    .split(' ')
    .map((word, index) => proseWord(word, index === 0))
    .join(' ')
}

const PLAIN_WORD = /^[A-Za-z]+(?:[-'][A-Za-z]+)*$/
// What forges take for the id of a commit.
const HEXADECIMAL = /^[0-9a-f]{7,}$/i

function proseWord(word: string, first: boolean): string {
  // Brackets of ours around a word, and what ends it.
  const [, before = '', core = '', after = ''] = /^(\(?)(.*?)([.,;:)]*)$/s.exec(word) ?? []
  if (core === '') return word === '' ? '' : markdownCell(word, Number.POSITIVE_INFINITY)
  const plain = (PLAIN_WORD.test(core) || (/^[0-9]{1,6}$/.test(core) && !first)) && !HEXADECIMAL.test(core)
  return plain ? word : `${before}${markdownCell(core, Number.POSITIVE_INFINITY)}${after}`
}

/**
 * A link around what an encoder made; only what it is around, where the address is none of the web, or where there are brackets
 * or backticks within the code: some readers (marked) look for the end of a link before they look for code.
 */
export function markdownLink(encoded: string, url: string): string {
  if (!/^https?:\/\/[^/]/i.test(url) || url.length > 2_000 || /[[\]]|[^`]`+[^`]/.test(encoded)) return encoded
  // Outside of code a reader would end the address, the cell or the line at these, or show them as something else.
  const safe = url.replaceAll(/[^A-Za-z0-9\-._~:/?#@!$&',;=%+]/gu, (character) => encodeCharacter(character))
  return `[${encoded}](${safe})`
}

function encodeCharacter(character: string): string {
  const bytes = new TextEncoder().encode(character)
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** The same as HTML, for the one place where forges read no Markdown: the summary of a folded block. */
export function htmlCode(text: string, limit = 120): string {
  return `<code>${(oneLine(text, limit) || '(empty)').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')}</code>`
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
}
