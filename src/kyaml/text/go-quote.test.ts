import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goQuote } from './go-quote.ts'

/** As `fmt.Printf("%q")` printed them (Go 1.26). */
const QUOTED: readonly (readonly [text: string, quoted: string])[] = [
  ['', '""'],
  ['a b', '"a b"'],
  ['say "x" \\ y', String.raw`"say \"x\" \\ y"`],
  ['a\tb\nc\r\x07\b\f\v', String.raw`"a\tb\nc\r\a\b\f\v"`],
  ['\x00\x1b\x7f', String.raw`"\x00\x1b\x7f"`],
  ['é 漢 😀', '"é 漢 😀"'],
  ['\u00a0\u200b\u2028', String.raw`"\u00a0\u200b\u2028"`],
  ['\ufeff', String.raw`"\ufeff"`],
  ['\u{e0001}', String.raw`"\U000e0001"`],
]

test('quotes texts like Go', () => {
  for (const [text, quoted] of QUOTED) assert.equal(goQuote(text), quoted)
})
