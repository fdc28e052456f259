import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldPath, isWithin, type PathStep } from '@backporch/kyaml/field'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  coversDrift,
  describeRulePath,
  formatLiteralRulePath,
  parseRulePath,
  type RulePath,
} from './rule-path.ts'

function read(text: string): RulePath {
  const parsed = parseRulePath(text)
  assert.ok(!('problem' in parsed), text)
  return parsed
}

test('a printed rule path parses back to the same path', () => {
  for (const text of [
    'spec.replicas',
    '/metadata/annotations/a~1b~0c',
    '/',
    'spec.containers[name=app]',
    'spec.containers[*].image',
    'spec.containers[name=*].image',
    '/a/*/b',
  ])
    assert.equal(describeRulePath(read(text)), text)
})

test('reads an unquoted star like a quoted one', () => {
  assert.deepEqual(
    read('spec.containers[name=app-*,x=*]'),
    read('spec.containers[name="app-*",x="*"]'),
  )
  assert.deepEqual(
    read('metadata.finalizers[=example.com/*]'),
    read('metadata.finalizers[="example.com/*"]'),
  )
})

test('rejects a pointer with a lone tilde and gives its position', () => {
  const parsed = parseRulePath('/a~b')
  assert.ok('problem' in parsed)
  assert.match(parsed.problem, /at character 3/)
})

test('does not print a credential in a rule path', () => {
  assert.doesNotMatch(
    describeRulePath(read('metadata.finalizers[=ghp_0123456789abcdefghij]')),
    /ghp_/,
  )
})

const text = fc.string({ unit: fc.constantFrom('*', '\\', 'a', '.', '"', ']'), maxLength: 4 })
const step: fc.Arbitrary<PathStep> = fc.oneof(
  text.map((name): PathStep => ({ kind: 'field', name })),
  text.map((value): PathStep => ({ kind: 'member', value })),
  fc
    .record({ name: text, port: fc.constantFrom('x', 80) })
    .map((keys): PathStep => ({ kind: 'item', keys })),
  fc.nat(3).map((index): PathStep => ({ kind: 'index', index })),
)
const path: fc.Arbitrary<FieldPath> = fc.array(step, { minLength: 1, maxLength: 3 })

test('a literal path covers only its location and everything below it, for all names and values', () => {
  fc.assert(
    fc.property(path, path, fc.boolean(), (own, other, below) => {
      const rule = read(formatLiteralRulePath(own))
      const location = below ? [...own, ...other] : other
      const covered = coversDrift([rule], { ...driftOf('x'), path: location }, undefined)
      assert.equal(covered, isWithin(location, own), formatLiteralRulePath(own))
    }),
    { numRuns: 1_500 },
  )
})
