import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordSet, words } from './words.ts'

test('words stand apart by spaces and line breaks, and an empty text has none', () => {
  assert.deepEqual(words('\n  a b-c\n  d/e *f\n'), ['a', 'b-c', 'd/e', '*f'])
  assert.deepEqual(words(''), [])
  assert.deepEqual([...wordSet('a a b')], ['a', 'b'])
})
