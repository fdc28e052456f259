/** Go's `strconv.Quote`, which `%q` prints: messages of functions are held byte for byte against those of the originals. */

const SHORT: { readonly [sign: string]: string } = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}
/** `unicode.IsPrint`. */
const PRINTED = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`
  let quoted = ''
  for (const sign of text)
    quoted += SHORT[sign] ?? (PRINTED.test(sign) ? sign : escaped(sign.codePointAt(0) ?? 0))
  return `"${quoted}"`
}

function escaped(code: number): string {
  // A lone half of a surrogate pair is nothing that UTF-8 has: Go reads the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`
}
