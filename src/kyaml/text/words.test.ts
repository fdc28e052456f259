import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWordSet, listWords } from './words.ts'

test('splits words at spaces and line breaks, and an empty text has none', () => {
  assert.deepEqual(listWords('\n  a b-c\n  d/e *f\n'), ['a', 'b-c', 'd/e', '*f'])
  assert.deepEqual(listWords(''), [])
  assert.deepEqual([...createWordSet('a a b')], ['a', 'b'])
})
