/** Only this file decides about characters. Unicode TR36 §3.2, docs/facts/untrusted-text.md. */

/** Invisible, reverse a line, or control a terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2065\u{e0000}-\u{e007f}]/gu

/** As `\u{…}`, including line breaks. */
export function escapeUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

/** Line breaks stay, as `\n`. */
export function escapeUnseenLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(escapeUnseen)
    .join('\n')
}

/** git ends an error line with NUL, a program with a line break. */
const EDGES = /^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu

interface ForeignLineOptions {
  readonly limit?: number
  readonly secrets?: readonly string[]
}

/** Line breaks become ` / `; invisible characters at line ends are dropped. */
export function formatForeignLine(
  text: string,
  { limit = 600, secrets = [] }: ForeignLineOptions = {},
): string {
  const safe = secrets.reduce(
    (rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')),
    text,
  )
  const lines = safe
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => escapeUnseen(line.replace(EDGES, '')))
  return cut(lines.filter((line) => line !== '').join(' / '), limit)
}

export function cut(text: string, limit: number): string {
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
