import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepPromise } from './keep-promise.ts'

test('a promise is started once per key, and a rejection is forgotten', async () => {
  const kept = new Map<string, Promise<number>>()
  let starts = 0
  const start = (outcome: 'answers' | 'fails') => () => {
    starts += 1
    return outcome === 'answers' ? Promise.resolve(starts) : Promise.reject(new Error('broken'))
  }
  const first = keepPromise(kept, 'a', start('fails'))
  assert.equal(keepPromise(kept, 'a', start('answers')), first)
  await assert.rejects(first, /broken/)
  assert.equal(await keepPromise(kept, 'a', start('answers')), 2)
  assert.equal(await keepPromise(kept, 'a', start('answers')), 2)
  assert.equal(await keepPromise(kept, 'b', start('answers')), 3)
})
