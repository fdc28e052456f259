import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import { findValueAt, formatFieldPath } from '@backporch/kyaml/field'
import {
  formatJson,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { path, TEST_SCHEMA } from '../../../test/fakes/live-object.ts'
import { randomJson } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { compareObjects, findAbsentBlock } from './compare-resource.ts'

const APP = 'spec.template.spec.containers[name=app]'

function container(more: JsonObject): JsonObject {
  return {
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'app', image: 'a', ...more },
            { name: 'side', image: 's' },
          ],
        },
      },
    },
  }
}

const ROWS: readonly (readonly [
  name: string,
  live: JsonObject,
  predicted: JsonObject,
  lines: readonly string[],
])[] = [
  [
    'keyed items in another order',
    {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'side', image: 's' },
              { name: 'app', image: 'a' },
            ],
          },
        },
      },
    },
    container({}),
    [],
  ],
  ['a value of an item', container({ image: 'b' }), container({}), [`${APP}.image "b" "a"`]],
  [
    'a whole item',
    container({ env: [{ name: 'X', value: '1' }] }),
    container({ env: [] }),
    [`${APP}.env[name=X] {"name":"X","value":"1"} nothing`],
  ],
  [
    'an atomic list',
    container({ args: ['a', 'b'] }),
    container({ args: ['a'] }),
    [`${APP}.args ["a","b"] ["a"]`],
  ],
  [
    'an atomic map',
    { spec: { selector: { a: '1', b: '2' } } },
    { spec: { selector: { a: '1' } } },
    ['spec.selector {"a":"1","b":"2"} {"a":"1"}'],
  ],
  [
    'the entries of a map that only one side has',
    { metadata: { labels: { a: 'x', b: 'y' } } },
    { metadata: {} },
    ['metadata.labels.a "x" nothing', 'metadata.labels.b "y" nothing'],
  ],
  [
    'an empty map that only one side has',
    { spec: { emptyDir: {} } },
    { spec: {} },
    ['spec.emptyDir {} nothing'],
  ],
  ['null and absent', { spec: { a: null } }, { spec: {} }, ['spec.a null nothing']],
  ['a map in place of a list', { spec: { a: {} } }, { spec: { a: [] } }, ['spec.a {} []']],
  [
    'items that no key distinguishes',
    container({ env: [{ name: 'X' }, { name: 'X' }] }),
    container({ env: [{ name: 'X' }] }),
    [`${APP}.env [{"name":"X"},{"name":"X"}] [{"name":"X"}]`],
  ],
  [
    'status and server metadata',
    {
      status: { a: 1 },
      metadata: { uid: 'a', resourceVersion: '1', generation: 1, managedFields: [] },
    },
    { metadata: { uid: 'b', resourceVersion: '2', generation: 2 } },
    [],
  ],
]

for (const [name, live, predicted, lines] of ROWS) {
  test(`differences: ${name}`, () => {
    const show = (value: Json | undefined): string =>
      value === undefined ? 'nothing' : formatJson(value)
    assert.deepEqual(
      compareObjects(live, predicted, TEST_SCHEMA).map(
        (each) => `${formatFieldPath(each.path)} ${show(each.live)} ${show(each.predicted)}`,
      ),
      lines,
    )
  })
}

const ABSENT: readonly (readonly [name: string, live: JsonObject, field: string, block: string])[] =
  [
    ['a field of a struct', container({}), `${APP}.args`, `${APP}.args`],
    ['a field of an absent struct', {}, 'spec.selector', 'spec'],
    [
      'an item',
      { spec: { template: { spec: { containers: [{ name: 'side' }] } } } },
      `${APP}.image`,
      APP,
    ],
    ['an item of an absent list', container({}), `${APP}.env[name=X].value`, `${APP}.env[name=X]`],
    ['an entry of an absent map', { metadata: {} }, 'metadata.labels.team', 'metadata.labels.team'],
    ['a field without a schema', { spec: {} }, 'spec.free.form', 'spec.free.form'],
  ]

for (const [name, live, field, block] of ABSENT) {
  test(`topmost absent part: ${name}`, () => {
    assert.equal(formatFieldPath(findAbsentBlock(path(field), live, TEST_SCHEMA)), block)
  })
}

test('an object has no differences from itself', () => {
  fc.assert(
    fc.property(randomJson, (spec) =>
      assert.deepEqual(compareObjects({ spec }, { spec }, TEST_SCHEMA), []),
    ),
  )
})

test('applying the differences yields the predicted object', () => {
  fc.assert(
    fc.property(randomJson, randomJson, (left, right) => {
      const predicted = { spec: { free: right } }
      let object: Json = { spec: { free: left } }
      for (const { path: location, live, predicted: wanted } of compareObjects(
        object as JsonObject,
        predicted,
        TEST_SCHEMA,
      )) {
        assert.ok(isJsonEqual(findValueAt(object, location), live))
        object =
          wanted === undefined
            ? removeValueAt(object, location)
            : writeValueAt(object, location, wanted)
      }
      // A map that only one side has is told by its members: emptied, it stays.
      assert.ok(isJsonEqual(withoutEmptyMaps(object), withoutEmptyMaps(predicted)))
    }),
  )
})

function withoutEmptyMaps(value: Json): Json {
  if (!isJsonObject(value)) return value
  const retained = Object.entries(value).map(
    ([key, below]) => [key, withoutEmptyMaps(below)] as const,
  )
  return Object.fromEntries(
    retained.filter(([, below]) => !isJsonObject(below) || Object.keys(below).length > 0),
  )
}
