import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../text/json.ts'
import { formatFieldPath } from './field-path.ts'
import type { FieldSchema } from './field-schema.ts'
import { findKnownFields } from './known-fields.ts'
import { findKindSchema } from './open-api.ts'

const text = { type: 'string' }
const item = { type: 'object', properties: { name: text, image: text } }
const DOCUMENT: Json = {
  components: {
    schemas: {
      Thing: {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'test', version: 'v1', kind: 'Thing' }],
        properties: {
          apiVersion: text,
          kind: text,
          spec: {
            type: 'object',
            properties: {
              items: {
                type: 'array',
                items: item,
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['name'],
              },
              plain: { type: 'array', items: item },
              labels: { type: 'object', additionalProperties: text },
              open: {
                type: 'object',
                'x-kubernetes-preserve-unknown-fields': true,
                properties: { inner: item },
              },
              any: { type: 'object' },
            },
          },
        },
      },
    },
  },
}
const SCHEMA = findKindSchema(DOCUMENT, 'test/v1', 'Thing') as FieldSchema

function known(spec: JsonObject): {
  readonly spec: Json | undefined
  readonly unknown: readonly string[]
} {
  const { object, unknown } = findKnownFields(
    { apiVersion: 'test/v1', kind: 'Thing', spec, status: { whatever: 1 } },
    SCHEMA,
  )
  assert.deepEqual(object['status'], { whatever: 1 })
  return { spec: object['spec'], unknown: unknown.map(formatFieldPath) }
}

test('omits a field that the schema does not define, also inside items, and reports its path', () => {
  const spec = { itms: [], items: [{ name: 'a', imge: 'x' }], plain: [{ name: 'b', imge: 'x' }] }
  assert.deepEqual(known(spec), {
    spec: { items: [{ name: 'a' }], plain: [{ name: 'b' }] },
    unknown: ['spec.itms', 'spec.items[name=a].imge', 'spec.plain[0].imge'],
  })
})

test('keeps entries of free-form maps, preserved unknown fields, and objects without a schema', () => {
  const spec = { labels: { any: 'x' }, open: { more: 1 }, any: { thing: 1 } }
  assert.deepEqual(known(spec), { spec, unknown: [] })
  assert.deepEqual(known({ open: { inner: { nme: 'x' } } }).unknown, ['spec.open.inner.nme'])
})
