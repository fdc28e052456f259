/** Text that a server, a hook or a program sent, on its way into an error that a person reads. */

const LIMIT = 600
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/**
 * One printable line of at most 600 characters: line breaks become ` / `, other control and direction characters become
 * visible escapes, and every secret given is replaced by `***`.
 */
export function printable(text: string, secrets: readonly string[] = []): string {
  let safe = text
  for (const secret of secrets) {
    if (secret !== '') safe = safe.replaceAll(secret, '***')
  }
  const line = safe
    .split(/\r?\n|\r/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' / ')
    .replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return line.length > LIMIT ? `${line.slice(0, LIMIT)}…` : line
}
