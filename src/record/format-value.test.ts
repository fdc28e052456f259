import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../krm/json.ts'
import { formatValue, hiddenBytes } from './format-value.ts'

const ROWS: readonly (readonly [value: Json | undefined, text: string, bytes: number | undefined])[] = [
  [undefined, '∅', undefined],
  [null, 'null', undefined],
  [5, '5', undefined],
  [9007199254740993n, '9007199254740993', undefined],
  ['5', '"5"', undefined],
  ['a\nb', '"a\\nb"', undefined],
  ['', '""', undefined],
  [['b', 'a'], '["b","a"]', undefined],
  [{ b: 1, a: 2 }, '{"a":2,"b":1}', undefined],
  ['hmac-sha256:0123456789abcdef (8 bytes)', '••••', 8],
  ['redacted (not read)', '••••', undefined],
  ['hmac-sha256:0123456789abcdef (8 bytes) ', '"hmac-sha256:0123456789abcdef (8 bytes) "', undefined],
]

for (const [value, text, bytes] of ROWS) {
  test(`a value is written as ${text}`, () => {
    assert.equal(formatValue(value), text)
    assert.equal(hiddenBytes(value), bytes)
  })
}

test('a long value is cut', () => assert.equal(formatValue('x'.repeat(100), 5), '"xxx…'))
