import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldSchema, findKindSchema } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import { isAlreadyApplied } from './equal-values.ts'

const CORE = 'io.k8s.api.core.v1'
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const part = {
  type: 'object',
  properties: { name: { type: 'string' }, mode: { type: 'string', default: 'Soft' } },
}
const DOCUMENT: Json = {
  components: {
    schemas: {
      [`${CORE}.Thing`]: {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'test', version: 'v1', kind: 'Thing' }],
        properties: {
          cpu: ref('io.k8s.apimachinery.pkg.api.resource.Quantity'),
          field: { ...ref(`${CORE}.ObjectFieldSelector`), 'x-kubernetes-map-type': 'atomic' },
          bytes: { type: 'string', format: 'byte' },
          parts: { type: 'array', items: part },
          strategy: { type: 'object', properties: { type: { type: 'string' } } },
          port: { 'x-kubernetes-int-or-string': true },
          text: { type: 'string' },
        },
      },
      [`${CORE}.ObjectFieldSelector`]: {
        type: 'object',
        properties: { apiVersion: { type: 'string' }, fieldPath: { type: 'string' } },
      },
      'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: 'string' },
    },
  },
}
const SCHEMA = findKindSchema(DOCUMENT, 'test/v1', 'Thing') as FieldSchema

const CASES: readonly (readonly [
  place: string,
  declared: Json,
  live: Json | undefined,
  same: boolean,
])[] = [
  ['cpu', '1000m', '1', true],
  ['cpu', 0.5, '500m', true],
  ['cpu', '1000m', '1000m', true],
  ['cpu', '1000m', '2', false],
  ['cpu', '1000m', undefined, false],
  ['text', '1000m', '1', false],
  ['port', 80, '80', false],
  ['bytes', 'YQ==\n', 'YQ==', true],
  ['bytes', 'YQ=', 'YQ==', false],
  ['field', { fieldPath: 'a' }, { fieldPath: 'a', apiVersion: 'v1' }, true],
  ['field', { fieldPath: 'a' }, { fieldPath: 'a', apiVersion: 'v2' }, false],
  ['field', { fieldPath: 'a' }, { fieldPath: 'b', apiVersion: 'v1' }, false],
  ['parts', [{ name: 'a' }], [{ name: 'a', mode: 'Soft' }], true],
  ['parts', [{ name: 'a' }], [{ name: 'a', mode: 'Hard' }], false],
  ['parts', [{ name: 'a' }], [{ name: 'a', other: 'x' }], false],
  ['parts', [{ name: 'a', mode: 'Soft' }], [{ name: 'a' }], false],
  ['parts', [{ name: 'a' }], [{ name: 'a' }, { name: 'b' }], false],
  ['strategy', {}, { type: 'x' }, true],
  ['strategy', {}, undefined, false],
  ['text', null, undefined, true],
  ['text', '', undefined, false],
]

for (const [location, declared, live, same] of CASES) {
  test(`${location} ${JSON.stringify(declared)} ${same ? 'is already applied in' : 'may change'} ${JSON.stringify(live)}`, () =>
    assert.equal(isAlreadyApplied(declared, live, SCHEMA.getChildSchema(location)), same))
}
