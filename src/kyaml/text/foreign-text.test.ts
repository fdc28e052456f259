import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOSTILE_TEXTS } from '../../../test/fakes/record-samples.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { Failure, Failures, formatFailure } from '../failure.ts'
import { escapeUnseen, escapeUnseenLines, formatForeignLine } from './foreign-text.ts'

/** Everything that a terminal acts on, hides, or turns a line round with (written apart from the code that is tested). */
const ACTS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e007f}]/u
const texts = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        'a',
        '\0',
        '\u001b[2J',
        '\u001b]8;;http://x\u0007',
        '\u009b31m',
        '\u202e',
        '\r',
        '\n',
        '\b',
        ' ',
      ),
    )
    .map((parts) => parts.join('')),
)

const SHOWN: readonly (readonly [text: string, shown: string])[] = [
  ['upload-pack: not our ref 1111\n\0', 'upload-pack: not our ref 1111'],
  ['\0\u0000', ''],
  ['  first \r\n\n second\r', 'first / second'],
  ['a\0b', 'a\\u{0}b'],
  ['protected \u001b[31mred', 'protected \\u{1b}[31mred'],
  ['日本 🎌 é', '日本 🎌 é'],
]

for (const [text, shown] of SHOWN)
  test(`${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () =>
    assert.equal(formatForeignLine(text), shown))

test('reveals no part of a secret', () => {
  assert.equal(
    formatForeignLine('no: token abc and abc', { secrets: ['abc', ''] }),
    'no: token *** and ***',
  )
})

test('any text becomes one visible line of limited length, and clean text stays unchanged', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 400 }), (text, limit) => {
      const line = formatForeignLine(text, { limit })
      assert.doesNotMatch(line, ACTS)
      assert.ok(Array.from(line).length <= limit)
      assert.doesNotMatch(escapeUnseen(text), ACTS)
      assert.equal(escapeUnseen(escapeUnseen(text)), escapeUnseen(text))
      assert.doesNotMatch(escapeUnseenLines(text).replaceAll('\n', ''), ACTS)
    }),
  )
})

test('no failure contains a control character, whatever the source of its text', () => {
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const failure = new Failure({
        code: 'BP4001',
        what: one,
        where: other,
        why: `${other}${one}`,
        remedy: one,
      })
      const reported = [
        formatFailure(failure),
        failure.message,
        new Failures([failure]).message,
        ...Object.values(failure.toJSON()),
      ]
      for (const text of reported) assert.doesNotMatch(text.replaceAll('\n', ''), ACTS)
    }),
  )
})
