import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answerCache } from './github-fetch.ts'

const answer = (body: string) => ({ etag: `"${body}"`, headers: new Map<string, string>(), body })

it('evicts the least recently used entry by number and by size', () => {
  const cache = answerCache(3, 40)
  for (const name of ['a', 'b', 'c']) cache.set(name, answer(name))
  cache.get('a')
  cache.set('d', answer('d'))
  assert.deepEqual([cache.get('a')?.body, cache.get('b')?.body], ['a', undefined])
  for (const name of ['x', 'y', 'z', 'w', 'v']) cache.set(name, answer(name.repeat(8)))
  assert.deepEqual([...cache.keys()], ['v', 'w', 'z'])
  for (const name of ['x', 'y', 'z', 'w', 'v']) cache.set(name, answer(name.repeat(9)))
  assert.ok(cache.calculatedSize <= 40)
})

it('stores no entry that would evict all others, and drops its older version', () => {
  const cache = answerCache(10, 40)
  cache.set('a', answer('a'))
  cache.set('a', answer('a'.repeat(11)))
  assert.equal(cache.get('a'), undefined)
  assert.equal(cache.calculatedSize, 0)
})
