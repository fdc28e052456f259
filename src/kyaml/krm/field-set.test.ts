import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsV1Of, TEST_SCHEMA } from '../../../test/fakes/live-object.ts'
import { randomJson } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { JsonObject } from '../text/json.ts'
import { type FieldPath, formatFieldPath, parseFieldPath } from './field-path.ts'
import { UNKNOWN_SCHEMA } from './field-schema.ts'
import {
  buildFieldSet,
  countCovered,
  findSubset,
  hasSameLeaves,
  listLeaves,
  ownsPath,
  parseFieldsV1,
  touchesPath,
} from './field-set.ts'

function path(text: string): FieldPath {
  const parsed = parseFieldPath(text)
  assert.ok('path' in parsed)
  return parsed.path
}

const OBJECT: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { a: 'x' }, annotations: {} },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: {
      spec: {
        containers: [
          { name: 'app', image: 'nginx', args: ['a', 'b'], ports: [{ containerPort: 80 }] },
        ],
      },
    },
  },
}

test('the field set of a manifest equals the set that its apply owns', () => {
  assert.deepEqual(listLeaves(buildFieldSet(OBJECT, TEST_SCHEMA)).map(formatFieldPath), [
    'metadata.labels.a',
    'metadata.annotations',
    'spec.replicas',
    'spec.selector',
    'spec.template.spec.containers[name=app].name',
    'spec.template.spec.containers[name=app].image',
    'spec.template.spec.containers[name=app].args',
    'spec.template.spec.containers[name=app].ports[containerPort=80,protocol=TCP].containerPort',
  ])
})

test('owns a list as a whole when its schema is unknown', () => {
  assert.deepEqual(
    listLeaves(buildFieldSet({ spec: { list: [{ name: 'a' }] } }, UNKNOWN_SCHEMA)).map(
      formatFieldPath,
    ),
    ['spec.list'],
  )
})

test('a field set written as fieldsV1 reads back with the same leaves', () => {
  const set = buildFieldSet(OBJECT, TEST_SCHEMA)
  const read = parseFieldsV1(fieldsV1Of(set))
  assert.ok(read !== undefined && hasSameLeaves(set, read) && hasSameLeaves(read, set))
})

test('every leaf of a manifest exists in it and is owned', () => {
  fc.assert(
    fc.property(randomJson, (spec) => {
      const object = { spec }
      const set = buildFieldSet(object, UNKNOWN_SCHEMA)
      for (const leaf of listLeaves(set)) {
        assert.ok(ownsPath(set, leaf))
        assert.ok(touchesPath(set, leaf))
      }
      assert.equal(countCovered(set, set), listLeaves(set).length)
      assert.equal(countCovered(set, { owned: false, children: new Map() }), 0)
    }),
  )
})

test('distinguishes sets that differ in one leaf, in either direction', () => {
  const [all, less] = [
    buildFieldSet({ spec: { a: 1, b: 2 } }, UNKNOWN_SCHEMA),
    buildFieldSet({ spec: { a: 1 } }, UNKNOWN_SCHEMA),
  ]
  assert.ok(!hasSameLeaves(all, less))
  assert.ok(!hasSameLeaves(less, all))
  assert.ok(hasSameLeaves(all, buildFieldSet({ spec: { b: 5, a: 6 } }, UNKNOWN_SCHEMA)))
})

const TOUCHED: readonly (readonly [text: string, touched: boolean])[] = [
  ['spec', true],
  ['spec.replicas', true],
  ['spec.selector.matchLabels.app', true],
  ['spec.template.spec.containers[name=app].args[0]', true],
  ['spec.paused', false],
  ['metadata.labels.b', false],
  ['metadata.annotations.x', true],
  ['spec.template.spec.containers[name=other].image', false],
]

for (const [text, touched] of TOUCHED) {
  test(`an apply of the manifest ${touched ? 'touches' : 'does not touch'} ${text}`, () => {
    assert.equal(touchesPath(buildFieldSet(OBJECT, TEST_SCHEMA), path(text)), touched)
  })
}

test('returns no subset where the set has nothing', () => {
  const set = buildFieldSet(OBJECT, TEST_SCHEMA)
  assert.equal(findSubset(set, path('spec.paused')), undefined)
  assert.ok(findSubset(set, path('spec.template')) !== undefined)
})
