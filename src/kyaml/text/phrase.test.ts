import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { escapeUnseen } from './foreign-text.ts'
import { formatPhrase, listPhrases, phrase } from './phrase.ts'

test('a phrase keeps external names apart from its words, and prints them visibly with limited length', () => {
  assert.deepEqual(phrase`Flux ${'web'} of ${['our']} words`, [
    'Flux ',
    { name: 'web' },
    ' of ',
    'our',
    ' words',
  ])
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
      const text = formatPhrase(phrase`<${name}>`)
      assert.equal(escapeUnseen(text), text, 'nothing in it acts')
      assert.ok(Array.from(text).length <= 302)
    }),
  )
})

test('a list names a few and counts the rest', () => {
  const items = (count: number): string =>
    formatPhrase(listPhrases(Array.from({ length: count }, (_, index) => phrase`${String(index)}`)))
  assert.deepEqual([0, 1, 2, 4, 6].map(items), [
    '',
    '0',
    '0 and 1',
    '0, 1, 2 and 3',
    '0, 1, 2 and 3 more',
  ])
})
