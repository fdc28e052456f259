/** Whether a text looks like something that nobody thought of: drawn by a machine, as keys and tokens are. */

/** One word: no host name, path, sentence, or name with dots. */
const TOKEN = /^[A-Za-z0-9+/=_~-]{16,512}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Beside a name that may be of a credential: at least 16 characters, digits and letters, no words. */
export function looksRandom(text: string): boolean {
  if (!TOKEN.test(text) || !/\d/.test(text) || !/[A-Za-z]/.test(text)) return false
  if (UUID.test(text)) return true
  return bitsOf(text) >= (/^[0-9a-f]+$/i.test(text) ? 3 : 3.5) && !isOfWords(text)
}

/** Whatever its name: at least 32 characters, capitals, small letters and digits all over. Hashes are written in hex, and are not. */
export function looksLikeKey(text: string): boolean {
  return (
    /^[A-Za-z0-9+/_-]{32,512}={0,2}$/.test(text) &&
    /[a-z].*[A-Z]|[A-Z].*[a-z]/.test(text) &&
    (text.match(/\d/g)?.length ?? 0) >= 3 &&
    bitsOf(text) >= 4.2 &&
    !isOfWords(text)
  )
}

/** Bits for a character, by Shannon: how even the characters are spread. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce((bits, count) => bits - (count / text.length) * Math.log2(count / text.length), 0)
}

/** `web-frontend-canary-2`, `projects/shop/keyRings/main2`: parts that people name. */
function isOfWords(text: string): boolean {
  const parts = text.split(/[-_/=+~]/).filter((part) => part !== '')
  const words = parts.filter((part) =>
    /^(?:[a-z]{2,}\d{0,3}|[A-Z][a-z]+(?:[A-Z][a-z]+)*\d{0,3}|[A-Z]{2,}|[a-z]+(?:[A-Z][a-z]+)+\d{0,3}|v?\d{1,4})$/.test(part),
  )
  return parts.length > 1 && words.join('').length * 2 > text.length
}
