import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AnswerCache } from './answer-cache.ts'

const answer = (body: string) => ({ etag: `"${body}"`, headers: new Map<string, string>(), body })

it('forgets what was used longest ago, by number and by size', () => {
  const cache = new AnswerCache(3, 40)
  for (const name of ['a', 'b', 'c']) cache.put(name, answer(name))
  cache.get('a')
  cache.put('d', answer('d'))
  assert.deepEqual([cache.get('a')?.body, cache.get('b')?.body], ['a', undefined])
  for (const name of ['x', 'y', 'z']) cache.put(name, answer(name.repeat(10)))
  cache.put('w', answer('w'.repeat(10)))
  assert.ok(cache.size.entries <= 3 && cache.size.characters <= 40)
})

it('keeps nothing that would push out everything else, nor the older answer in its place', () => {
  const cache = new AnswerCache(10, 40)
  cache.put('a', answer('a'))
  cache.put('a', answer('a'.repeat(11)))
  assert.equal(cache.get('a'), undefined)
  assert.deepEqual(cache.size, { entries: 0, characters: 0 })
})

it('counts an answer once that comes again', () => {
  const cache = new AnswerCache(10, 400)
  for (let index = 0; index < 50; index += 1) cache.put('a', answer('12345'))
  assert.deepEqual(cache.size, { entries: 1, characters: 5 })
})
