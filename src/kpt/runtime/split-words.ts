/** Like kpt (github.com/google/shlex): quotes and escapes, no shell. */

const BLANK = /[ \t\r\n]/

/** Undefined for an open quote or escape, which kpt rejects. */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  let comment = false
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? ''
    if (comment) comment = sign !== '\n'
    else if (sign === '\\' && quote !== "'") {
      at += 1
      if (at === text.length) return undefined
      word = (word ?? '') + text[at]
    } else if (quote !== '') {
      if (sign === quote) quote = ''
      else word += sign
    } else if (sign === '"' || sign === "'") {
      quote = sign
      word ??= ''
    } else if (BLANK.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (sign === '#' && word === undefined) comment = true
    else word = (word ?? '') + sign
  }
  if (quote !== '') return undefined
  return word === undefined ? words : [...words, word]
}
