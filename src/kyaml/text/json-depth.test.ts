import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from './json.ts'
import { isDeeperThan } from './json-depth.ts'

function nested(levels: number): Json {
  let value: Json = 'x'
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value]
  return value
}

test('counts nesting levels, and a scalar has none', () => {
  assert.equal(isDeeperThan('x', 0), false)
  assert.equal(isDeeperThan(nested(3), 3), false)
  assert.equal(isDeeperThan(nested(4), 3), true)
})

test('reports a value too deep for recursion in the same way', () => {
  assert.equal(isDeeperThan(nested(200_000), 500), true)
})
