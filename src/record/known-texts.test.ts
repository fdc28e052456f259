import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { KnownTexts } from './known-texts.ts'

test('a cached text returns the same frozen value', () => {
  const known = new KnownTexts(100)
  const value = known.read('a:\n  - b: 1\n', 'x').value as { a: { b: number }[] }
  assert.deepEqual(value, { a: [{ b: 1 }] })
  assert.equal(known.read('a:\n  - b: 1\n', 'elsewhere').value, value)
  assert.throws(() => value.a.push({ b: 2 }), TypeError)
  assert.throws(() => {
    const [first] = value.a
    if (first !== undefined) first.b = 2
  }, TypeError)
})

test('the cache stays within its limit and evicts the least recently read text', () => {
  const known = new KnownTexts(40)
  const text = (letter: string): string => `${letter}: [1, 2]\n`
  const first = known.read(text('a'), 'x')
  for (const letter of ['b', 'c']) known.read(text(letter), 'x')
  assert.equal(known.read(text('a'), 'x'), first)
  known.read(text('d'), 'x')
  known.read(text('e'), 'x')
  assert.equal(known.characters, 40)
  assert.equal(known.read(text('a'), 'x'), first, 'read again, so b went before it')
})

test('a text longer than a quarter of the limit is not cached', () => {
  const known = new KnownTexts(40)
  assert.deepEqual(known.read('name: worker\n', 'x').value, { name: 'worker' })
  assert.equal(known.characters, 0)
})

test('an invalid text is rejected each time with the location it was read from', () => {
  const known = new KnownTexts(100)
  for (const where of ['first.yaml', 'second.yaml'])
    assert.throws(
      () => known.read('a: [', where),
      (thrown) => thrown instanceof Failure && thrown.where?.startsWith(where) === true,
    )
  assert.equal(known.read('# nothing\n', 'x').value, undefined)
})

test('a remembered document is returned for its text until it is evicted', () => {
  const known = new KnownTexts(100)
  const document = { a: [{ b: 1 }] }
  known.remember('a:\n  - b: 1\n', document)
  const { value, written } = known.read('a:\n  - b: 1\n', 'x')
  assert.deepEqual([value === document, written === document], [true, true])
  assert.throws(() => document.a.push({ b: 2 }), TypeError)
  assert.equal(known.findKnown('a: 2\n'), undefined)
  known.forget()
  assert.deepEqual([known.characters, known.findKnown('a:\n  - b: 1\n')], [0, undefined])
  assert.deepEqual(known.read('a:\n  - b: 1\n', 'x').value, document)
})
