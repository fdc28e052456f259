/**
 * Foreign text (of a git server, ssh, an API server, a forge, a function, a file), on its way to a person. This is the
 * only place that knows which characters are not passed on. Sources of the list: Unicode TR36 §3.2 and docs/facts/untrusted-text.md.
 */

/** Control and format characters: they cannot be seen, turn a line round, or make a terminal act. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2065\u{e0000}-\u{e007f}]/gu

/** Every invisible character as `\u{…}`, line breaks too. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

/** The same, line by line: line breaks stay, as `\n`. */
export function visibleLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(visible)
    .join('\n')
}

/** What a line may begin or end with and nobody misses: git ends an error line with NUL, a program with a line break. */
const EDGES = /^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu

export interface ForeignLineOptions {
  /** Most characters. */
  readonly limit?: number
  /** Each is replaced by `***`. */
  readonly secrets?: readonly string[]
}

/** One line: line breaks become ` / `, what stands at the edges of a line and cannot be seen goes, the rest as `visible` has it. */
export function foreignLine(text: string, { limit = 600, secrets = [] }: ForeignLineOptions = {}): string {
  const safe = secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text)
  const lines = safe.split(/[\r\n\u2028\u2029]+/).map((line) => visible(line.replace(EDGES, '')))
  return cut(lines.filter((line) => line !== '').join(' / '), limit)
}

/** At most so many characters, the last of which then shows that it was cut. */
export function cut(text: string, limit: number): string {
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
