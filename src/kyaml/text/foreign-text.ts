/**
 * External text (of a git server, ssh, an API server, a forge, a function, a file) for people. Only this file decides about characters. Sources:
 * Unicode TR36 §3.2 and docs/facts/untrusted-text.md.
 */

/** Control and format characters, which are invisible, turn a line round, or control a terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2065\u{e0000}-\u{e007f}]/gu

/** Every invisible character as `\u{…}`, line breaks too. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

/** `visible` for each line; line breaks stay, as `\n`. */
export function visibleLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(visible)
    .join('\n')
}

/** Dropped at both ends of a line: git ends an error line with NUL, a program with a line break. */
const EDGES = /^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu

interface ForeignLineOptions {
  /** Most characters. */
  readonly limit?: number
  /** Each is replaced by `***`. */
  readonly secrets?: readonly string[]
}

/** One line: line breaks become ` / `, invisible characters at the ends of lines go, and others are as in `visible`. */
export function foreignLine(
  text: string,
  { limit = 600, secrets = [] }: ForeignLineOptions = {},
): string {
  const safe = secrets.reduce(
    (rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')),
    text,
  )
  const lines = safe.split(/[\r\n\u2028\u2029]+/).map((line) => visible(line.replace(EDGES, '')))
  return cut(lines.filter((line) => line !== '').join(' / '), limit)
}

/** The text, or its first characters and `…`. */
export function cut(text: string, limit: number): string {
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
