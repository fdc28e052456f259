/** `strconv.Quote`: function messages are compared byte for byte with the originals. */

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
    quoted += SHORT[sign] ?? (PRINTED.test(sign) ? sign : escapeCodePoint(sign.codePointAt(0) ?? 0))
  return `"${quoted}"`
}

function escapeCodePoint(code: number): string {
  // Go reads the replacement character for a lone surrogate.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`
}
