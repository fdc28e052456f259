import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOSTILE_TEXTS } from '../../../test/fakes/record-samples.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { convertToOneLine } from './one-line.ts'

const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]|[\u{e0000}-\u{e007f}]/u

const SHOWN: readonly (readonly [text: string, shown: string])[] = [
  ['plain text', 'plain text'],
  ['a\nb', 'a\\u{a}b'],
  ['\u001b[31m', '\\u{1b}[31m'],
  ['\u202eevil', '\\u{202e}evil'],
  ['日本 🎌 é', '日本 🎌 é'],
  ['\u{e0041}', '\\u{e0041}'],
  ['a ##[set-output name=x]b', 'a #\\u{23}[set-output name=x]b'],
]

for (const [text, shown] of SHOWN)
  test(`${JSON.stringify(text)} is shown as ${shown}`, () =>
    assert.equal(convertToOneLine(text), shown))

test('any text becomes one visible line within the length limit', () => {
  const texts = fc.oneof(
    fc.constantFrom(...HOSTILE_TEXTS),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 200 }), (text, limit) => {
      const line = convertToOneLine(text, limit)
      assert.doesNotMatch(line, UNSEEN)
      assert.ok(Array.from(line).length <= limit)
    }),
  )
})

test('marks a truncated text', () => assert.equal(convertToOneLine('abcdef', 4), 'abc…'))
