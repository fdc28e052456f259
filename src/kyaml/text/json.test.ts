import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomJson, randomText } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  emptyObject,
  formatCanonicalJson,
  formatJson,
  getKey,
  isJsonEqual,
  type Json,
  type JsonObject,
  parseJson,
  setKey,
} from './json.ts'

test('integers beyond 2^53 round-trip unchanged', () => {
  const text = '{"a":9007199254740993,"b":[-9223372036854775808],"c":1.5,"d":1e21}'
  const value = parseJson(text) as JsonObject
  assert.equal(value['a'], 9007199254740993n)
  assert.equal(
    formatJson(value),
    '{"a":9007199254740993,"b":[-9223372036854775808],"c":1.5,"d":1e+21}',
  )
})

test('long digits inside a string stay a string', () => {
  assert.deepEqual(parseJson('{"a":"90071992547409931234"}'), { a: '90071992547409931234' })
})

test('formatted JSON parses back to an equal value', () => {
  fc.assert(fc.property(randomJson, (value) => isJsonEqual(parseJson(formatJson(value)), value)))
})

/** The same value with the keys of every object in the opposite order. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  const object = emptyObject()
  for (const [key, below] of Object.entries(value).reverse())
    setKey(object, key, turned(below as Json))
  return object
}

test('key order affects neither equality nor the canonical text', () => {
  fc.assert(
    fc.property(randomJson, (value) => {
      assert.ok(isJsonEqual(value, turned(value)))
      assert.equal(formatCanonicalJson(turned(value)), formatCanonicalJson(value))
    }),
  )
})

test('values are equal exactly when their canonical texts are', () => {
  fc.assert(
    fc.property(randomJson, randomJson, (left, right) => {
      // A number and an integer text of the same value may differ in spelling (1e21), so only one direction holds for those.
      if (formatCanonicalJson(left) === formatCanonicalJson(right))
        assert.ok(isJsonEqual(left, right))
      else if (!/e\+/.test(formatCanonicalJson([left, right]))) assert.ok(!isJsonEqual(left, right))
    }),
  )
})

const DIFFERENT: readonly (readonly [
  name: string,
  left: Json | undefined,
  right: Json | undefined,
])[] = [
  ['null and undefined', null, undefined],
  ['zero and the string 0', 0, '0'],
  ['an empty list and an empty object', [], {}],
  ['false and null', false, null],
  ['lists in another order', [1, 2], [2, 1]],
  ['an undefined key and an absent key', { a: null }, {}],
  ['an own key and an inherited one', { constructor: null }, { a: null }],
  ['big integers that round to the same double', 9007199254740993n, 9007199254740992n],
]

for (const [name, left, right] of DIFFERENT) {
  test(`not equal: ${name}`, () => {
    assert.ok(!isJsonEqual(left, right))
    assert.ok(!isJsonEqual(right, left))
  })
}

test('a number and a big integer of one value are equal', () => {
  assert.ok(isJsonEqual(5, 5n))
  assert.ok(!isJsonEqual(5.5, 5n))
})

test('hostile keys are ordinary keys', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty'),
        randomText,
      ),
      (key) => {
        const object = emptyObject()
        assert.equal(getKey(object, key), undefined)
        setKey(object, key, 'value')
        assert.equal(getKey(object, key), 'value')
        assert.deepEqual(Object.keys(object), [key])
        assert.equal(getKey(parseJson(formatCanonicalJson(object)) as JsonObject, key), 'value')
      },
    ),
  )
  assert.equal((Object.prototype as unknown as JsonObject)['value'], undefined)
})
