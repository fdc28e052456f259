import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomJson } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { Json } from '../text/json.ts'
import { getAnnotations, getLabels, getMetadataText, readResource } from './resource.ts'

const REFUSED: readonly (readonly [name: string, object: Json, problem: RegExp])[] = [
  ['a list', [], /wanted a mapping/],
  ['nothing', null, /wanted a mapping/],
  ['no apiVersion', { kind: 'A', metadata: { name: 'a' } }, /apiVersion is missing/],
  ['a number as kind', { apiVersion: 'v1', kind: 1, metadata: { name: 'a' } }, /kind is missing/],
  ['null metadata', { apiVersion: 'v1', kind: 'A', metadata: null }, /metadata\.name is missing/],
  [
    'a generated name',
    { apiVersion: 'v1', kind: 'A', metadata: { generateName: 'a-' } },
    /generateName gives a new object/,
  ],
  [
    'a number as name',
    { apiVersion: 'v1', kind: 'A', metadata: { name: 5 } },
    /metadata\.name is missing/,
  ],
]

for (const [name, object, problem] of REFUSED) {
  test(`rejects the resource: ${name}`, () => {
    const read = readResource(object)
    assert.ok('problem' in read)
    assert.match(read.problem, problem)
  })
}

test('the id omits the version', () => {
  const read = readResource({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
  })
  assert.ok('id' in read)
  assert.deepEqual(read.id, { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' })
})

test('the readers throw for no object', () => {
  fc.assert(
    fc.property(randomJson, randomJson, (value, metadata) => {
      readResource(value)
      const object = { metadata }
      getLabels(object)
      getAnnotations(object)
      assert.equal(typeof getMetadataText(object, 'uid'), 'string')
    }),
  )
})

test('ignores labels and annotations that are not strings', () => {
  const object = { metadata: { labels: { a: 'x', b: 5, c: null }, annotations: 'none' } }
  assert.deepEqual([...getLabels(object)], [['a', 'x']])
  assert.deepEqual([...getAnnotations(object)], [])
})
