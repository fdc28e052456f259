import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Derived } from './derived.ts'

test('computes a value once per object, name and further inputs', () => {
  const derived = new Derived()
  const [one, other, key] = [{}, {}, {}]
  let computed = 0
  const get = (from: object, name: string, of: readonly unknown[]): number =>
    derived.get(from, name, of, () => (computed += 1))
  assert.deepEqual([get(one, 'a', [key, 'x']), get(one, 'a', [key, 'x'])], [1, 1])
  assert.equal(get(other, 'a', [key, 'x']), 2)
  assert.equal(get(one, 'b', [key, 'x']), 3)
  assert.equal(get(one, 'a', [{}, 'x']), 4, 'an equal object is another one')
  assert.equal(get(one, 'a', [key, 'x']), 5, 'the last one is kept')
  assert.equal(get(one, 'b', [key, 'x']), 3)
})

test('caches undefined as a value', () => {
  const derived = new Derived()
  let computed = 0
  for (let round = 0; round < 3; round += 1)
    derived.get(derived, 'a', [], () => {
      computed += 1
      return undefined
    })
  assert.equal(computed, 1)
})
