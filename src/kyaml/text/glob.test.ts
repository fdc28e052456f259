import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { escapeGlob, hasWildcard, matchesGlob } from './glob.ts'

const ROWS: readonly (readonly [glob: string, text: string, matches: boolean])[] = [
  ['web', 'web', true],
  ['web', 'web-1', false],
  ['web-*', 'web-', true],
  ['*', '', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c', false],
  ['ab*ba', 'aba', false],
  ['*.example.com', 'a.b.example.com', true],
  ['\\*.example.com', '*.example.com', true],
  ['\\*.example.com', 'a.example.com', false],
  ['a\\b', 'a\\b', true],
  ['', '', true],
  ['', 'a', false],
]

for (const [glob, text, matches] of ROWS) {
  test(`${JSON.stringify(glob)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
    assert.equal(matchesGlob(glob, text), matches)
  })
}

const SIGNS = fc.string({ unit: fc.constantFrom('*', '\\', 'a', '/'), maxLength: 8 })

test('a literal pattern matches only its own text', () => {
  fc.assert(
    fc.property(SIGNS, SIGNS, (text, other) => {
      assert.equal(hasWildcard(escapeGlob(text)), false)
      assert.equal(matchesGlob(escapeGlob(text), other), text === other)
      assert.equal(matchesGlob(escapeGlob(text), text), true)
    }),
    { numRuns: 2_000 },
  )
})

test('many stars over a long text cost no more than one', () => {
  assert.equal(matchesGlob(`${'*a'.repeat(500)}b`, 'a'.repeat(100_000)), false)
})
