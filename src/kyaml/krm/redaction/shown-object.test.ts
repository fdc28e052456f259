import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../../test/seeds/fast-check.ts'
import {
  formatJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../text/json.ts'
import { createFieldStep, type FieldPath } from '../field-path.ts'
import { createRedactionKey, isSensitive } from './redacted.ts'
import { showObject } from './shown-object.ts'

const key = createRedactionKey(new Uint8Array(32).fill(3))
const DEPLOYMENT = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
const SECRET = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }

function shownText(object: JsonObject, id = DEPLOYMENT): string {
  return formatJson(showObject(key, id, object))
}

test('shows an object without credentials unchanged', () => {
  const object = {
    spec: {
      replicas: 9007199254740993n,
      template: {
        spec: { containers: [{ name: 'app', env: [{ name: 'COLOR', value: 'blue' }] }] },
      },
    },
    data: { 'a.b': 'x', list: [1, null, true] },
  }
  assert.deepEqual(showObject(key, DEPLOYMENT, object), object)
})

test('hides only the value of a credential in a list of named items', () => {
  const env = [
    { name: 'COLOR', value: 'blue' },
    { name: 'DB_PASSWORD', value: 'hunter2' },
  ]
  const shown = shownText({ spec: { containers: [{ name: 'app', env }] } })
  assert.match(shown, /"COLOR","value":"blue"/)
  assert.match(shown, /"DB_PASSWORD","value":"hmac-sha256:[0-9a-f]{16} \(7 bytes\)"/)
})

test('shows only metadata and type of a Secret, for all key names', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'db', labels: { app: 'x1' } },
    data: { color: 'x2' },
    stringData: { size: 'x3' },
    other: ['x4'],
  }
  const shown = shownText(object, SECRET)
  assert.match(shown, /Opaque.*x1/)
  assert.doesNotMatch(shown, /x[234]/)
  assert.match(shown, /"color":"hmac-/)
})

test('hides the content of a Secret inside another object, and of a Secret of another group', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', data: { color: 'x1' } }
  assert.doesNotMatch(shownText({ spec: { template: secret, list: [secret] } }), /x1/)
  assert.doesNotMatch(shownText(secret, { ...SECRET, group: 'example.com' }), /x1/)
})

test('hides all arguments of a command together, since they reveal each other', () => {
  for (const args of [
    ['--verbose', '--token=abcdef'],
    ['--db-password', 'hunter2', '--verbose'],
  ]) {
    assert.doesNotMatch(
      shownText({ spec: { containers: [{ name: 'app', args }] } }),
      /verbose|abcdef|hunter2/,
    )
  }
})

test('hides the annotation of client-side apply and a key that is itself a credential', () => {
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': '{"x":1}',
    AKIAABCDEFGHIJKLMNOP: 'y1',
    plain: 'z1',
  }
  const shown = shownText({ metadata: { name: 'x', annotations } })
  assert.match(shown, /z1/)
  assert.doesNotMatch(shown, /\{\\"x|AKIA|y1/)
})

test('keeps the text of a value that is already hidden', () => {
  const hidden = 'hmac-sha256:0123456789abcdef (7 bytes)'
  assert.deepEqual(showObject(key, DEPLOYMENT, { spec: { password: hidden } }), {
    spec: { password: hidden },
  })
})

const NAMES = [
  'name',
  'value',
  'data',
  'stringData',
  'kind',
  'password',
  'token',
  'tokens',
  'secret',
  'secrets',
  'env',
  'args',
  'spec',
  'url',
  'apiKey',
  'key',
  'labels',
  'optional',
  'secretName',
  'pin',
]
const LEAVES = [
  'Secret',
  'DB_PASSWORD',
  'COLOR',
  '--password',
  'password=hunter22',
  'postgres://u:pw@h/db',
  'plain',
  'true',
  'AKIAABCDEFGHIJKLMNOP',
  'Bearer abcdefghij',
  '',
]

/** Every field of the object by the path that a drift of it would have, with items named by their name. */
function* fieldsOf(value: Json, path: FieldPath): Generator<[FieldPath, Json]> {
  if (path.length > 0) yield [path, value]
  if (isJsonObject(value))
    for (const [name, below] of Object.entries(value))
      yield* fieldsOf(below, [...path, createFieldStep(name)])
  if (!isJsonArray(value)) return
  for (const [index, item] of value.entries()) {
    const name = isJsonObject(item) ? getKey(item, 'name') : undefined
    yield* fieldsOf(item, [
      ...path,
      typeof name === 'string' ? { kind: 'item', keys: { name } } : { kind: 'index', index },
    ])
  }
}

test('a leaf that diff hides as a field is also hidden within the object, for all objects', () => {
  let leaf = 0
  const { object } = fc.letrec<{ value: Json; map: JsonObject; list: Json[]; object: JsonObject }>(
    (tie) => ({
      // A mark makes every leaf one of its kind, and changes nothing for the judgement.
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(...LEAVES),
        fc.nat().map((number) => `leaf-${number % 7}`),
        tie('map'),
        tie('list'),
      ),
      map: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4 }),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { minKeys: 1, maxKeys: 5 }),
    }),
  )
  fc.assert(
    fc.property(object, fc.constantFrom(DEPLOYMENT, SECRET), (plain, id) => {
      const marked = mark(plain)
      const shown = shownText(marked, id)
      for (const [path, value] of fieldsOf(marked, [])) {
        if (typeof value !== 'string' || !/[\u4e00-\u9fff]$/.test(value)) continue
        if (isSensitive({ id, path }, value))
          assert.ok(
            !shown.includes(JSON.stringify(value)),
            `${formatJson(marked)} shows ${value}: ${shown}`,
          )
      }
    }),
    { numRuns: 3_000 },
  )
  assert.ok(leaf > 10_000)

  function mark(value: Json): JsonObject
  function mark(value: Json): Json {
    if (isJsonArray(value)) return value.map((item) => mark(item))
    if (isJsonObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, below]) => [
          name,
          name === 'name' || name === 'kind' ? below : mark(below),
        ]),
      )
    leaf += 1
    return typeof value === 'string' && value !== '' && value !== 'true'
      ? `${value}${String.fromCodePoint(0x4e00 + (leaf % 20_000))}`
      : value
  }
})
