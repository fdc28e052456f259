import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trimDocument } from '../../../test/apiserver/trim-document.ts'
import type { Json } from '../text/json.ts'
import type { FieldSchema } from './field-schema.ts'
import { findKindSchema } from './open-api.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const list = (items: Json, extensions: Record<string, Json> = {}) => ({
  type: 'array',
  items,
  ...extensions,
})

const DOCUMENT: Json = {
  openapi: '3.0.0',
  info: { title: 'Kubernetes' },
  paths: { '/x': {} },
  components: {
    schemas: {
      'v1.Widget': {
        type: 'object',
        description: 'long text',
        properties: {
          metadata: { allOf: [ref('v1.ObjectMeta')], default: {}, description: 'd' },
          spec: {
            type: 'object',
            properties: {
              containers: list(
                { allOf: [ref('v1.Container')], default: {} },
                {
                  'x-kubernetes-list-type': 'map',
                  'x-kubernetes-list-map-keys': ['name', 'protocol'],
                },
              ),
              old: list(ref('v1.Container'), {
                'x-kubernetes-patch-strategy': 'merge',
                'x-kubernetes-patch-merge-key': 'name',
              }),
              oldSet: list({ type: 'string' }, { 'x-kubernetes-patch-strategy': 'merge' }),
              tags: list({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
              args: list({ type: 'string' }),
              keyless: list({ type: 'object' }, { 'x-kubernetes-list-type': 'map' }),
              selector: { allOf: [ref('v1.Selector')], 'x-kubernetes-map-type': 'atomic' },
              granular: { allOf: [ref('v1.AtomicThing')], 'x-kubernetes-map-type': 'granular' },
              port: {
                'x-kubernetes-int-or-string': true,
                anyOf: [{ type: 'integer' }, { type: 'string' }],
              },
              limits: {
                type: 'object',
                additionalProperties: ref('io.k8s.apimachinery.pkg.api.resource.Quantity'),
              },
              raw: ref('io.k8s.apimachinery.pkg.runtime.RawExtension'),
              free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              replicas: { type: 'integer', format: 'int32' },
              child: ref('v1.Node'),
            },
          },
        },
        'x-kubernetes-group-version-kind': [
          { group: 'example.com', version: 'v1', kind: 'Widget' },
        ],
      },
      'v1.ObjectMeta': {
        type: 'object',
        properties: {
          labels: { type: 'object', additionalProperties: { type: 'string', default: '' } },
        },
      },
      'v1.Container': {
        type: 'object',
        properties: {
          name: { type: 'string', default: '' },
          protocol: { type: 'string', default: 'TCP' },
          image: { type: 'string' },
        },
      },
      'v1.Selector': {
        type: 'object',
        properties: { matchLabels: { type: 'object', additionalProperties: { type: 'string' } } },
      },
      'v1.AtomicThing': {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: { a: { type: 'string' } },
      },
      'v1.Node': {
        type: 'object',
        properties: { children: list(ref('v1.Node')), value: { type: 'string' } },
      },
      'io.k8s.apimachinery.pkg.api.resource.Quantity': {
        oneOf: [{ type: 'string' }, { type: 'number' }],
      },
      'io.k8s.apimachinery.pkg.runtime.RawExtension': { type: 'object' },
      'v1.Unrelated': {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Other' }],
      },
    },
  },
}

function spec(): FieldSchema {
  const schema = findKindSchema(DOCUMENT, 'example.com/v1', 'Widget')
  assert.ok(schema !== undefined)
  return schema.getChildSchema('spec')
}

test('finds a kind by group, version and kind together', () => {
  assert.equal(findKindSchema(DOCUMENT, 'example.com/v2', 'Widget'), undefined)
  assert.equal(findKindSchema(DOCUMENT, 'v1', 'Widget'), undefined)
  assert.equal(findKindSchema(DOCUMENT, 'example.com/v1', 'Nothing'), undefined)
  assert.equal(findKindSchema({ swagger: '2.0' }, 'example.com/v1', 'Widget'), undefined)
})

test('list types and keys come from the server, in its order', () => {
  const containers = spec().getChildSchema('containers')
  assert.deepEqual(
    [containers.kind, containers.listType, containers.keys],
    ['list', 'map', ['name', 'protocol']],
  )
  assert.equal(spec().getChildSchema('tags').listType, 'set')
  assert.equal(spec().getChildSchema('args').listType, 'atomic')
})

test('derives the list type of older types from their merge patch strategy', () => {
  assert.deepEqual(
    [spec().getChildSchema('old').listType, spec().getChildSchema('old').keys],
    ['map', ['name']],
  )
  assert.equal(spec().getChildSchema('oldSet').listType, 'set')
})

test('a list-map without keys is atomic, since nothing identifies its items', () => {
  assert.equal(spec().getChildSchema('keyless').listType, 'atomic')
})

test('follows references, also as the only one of allOf', () => {
  const item = spec().getChildSchema('containers').getItemSchema()
  assert.deepEqual(
    [item.kind, item.hasField('image'), item.hasField('nothing')],
    ['object', true, false],
  )
  assert.deepEqual(
    [item.findDefault('protocol'), item.findDefault('name'), item.findDefault('image')],
    ['TCP', '', undefined],
  )
})

test('a field declares itself whether the referenced map is atomic', () => {
  assert.equal(spec().getChildSchema('selector').atomic, true)
  assert.equal(spec().getChildSchema('selector').hasField('matchLabels'), true)
  assert.equal(spec().getChildSchema('granular').atomic, false)
})

test('map keys are undeclared, and have the schema of the map values', () => {
  const labels = findKindSchema(DOCUMENT, 'example.com/v1', 'Widget')
    ?.getChildSchema('metadata')
    .getChildSchema('labels')
  assert.ok(labels !== undefined)
  assert.deepEqual(
    [labels.kind, labels.hasField('app'), labels.getChildSchema('app').kind],
    ['object', false, 'scalar'],
  )
})

test('reports formats: int-or-string, quantity, int32', () => {
  assert.deepEqual(
    [
      spec().getChildSchema('port'),
      spec().getChildSchema('limits').getChildSchema('cpu'),
      spec().getChildSchema('replicas'),
    ].map(({ kind, format }) => [kind, format]),
    [
      ['scalar', 'int-or-string'],
      ['scalar', 'quantity'],
      ['scalar', 'int32'],
    ],
  )
})

test('a free-form value is granular with atomic lists, but a RawExtension is owned as a whole', () => {
  const free = spec().getChildSchema('free').getChildSchema('any')
  assert.deepEqual(
    [free.kind, free.atomic, free.listType, free.hasField('x')],
    ['unknown', false, 'atomic', false],
  )
  assert.equal(spec().getChildSchema('raw').atomic, true)
})

test('resolves a recursive schema to any requested depth', () => {
  let schema = spec().getChildSchema('child')
  for (let depth = 0; depth < 1000; depth += 1)
    schema = schema.getChildSchema('children').getItemSchema()
  assert.equal(schema.hasField('value'), true)
})

test('a trimmed document gives the same answers without descriptions and unneeded kinds', () => {
  const trimmed = trimDocument(DOCUMENT, 'example.com/v1', ['Widget'])
  assert.doesNotMatch(JSON.stringify(trimmed), /long text|Unrelated|"\/x"/)
  const [whole, part] = [
    findKindSchema(DOCUMENT, 'example.com/v1', 'Widget'),
    findKindSchema(trimmed, 'example.com/v1', 'Widget'),
  ]
  assert.ok(whole !== undefined && part !== undefined)
  const locations: readonly (readonly string[])[] = [
    ['spec', 'containers'],
    ['spec', 'selector'],
    ['spec', 'limits', 'cpu'],
    ['metadata', 'labels'],
    ['spec', 'child', 'children'],
  ]
  for (const names of locations) {
    const at = (root: FieldSchema) =>
      names.reduce((schema, name) => schema.getChildSchema(name), root)
    const facts = ({ kind, atomic, listType, keys, format }: FieldSchema) => ({
      kind,
      atomic,
      listType,
      keys,
      format,
    })
    assert.deepEqual(facts(at(part)), facts(at(whole)), names.join('.'))
  }
  assert.equal(
    part
      .getChildSchema('spec')
      .getChildSchema('containers')
      .getItemSchema()
      .findDefault('protocol'),
    'TCP',
  )
})

test('fields named like schema keywords survive trimming', () => {
  const document: Json = {
    components: {
      schemas: {
        W: {
          type: 'object',
          properties: {
            description: { type: 'string' },
            $ref: { type: 'string' },
            default: { type: 'object', properties: { title: { type: 'string' } } },
          },
          'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'W' }],
        },
      },
    },
  }
  const schema = findKindSchema(trimDocument(document, 'v1', ['W']), 'v1', 'W')
  assert.deepEqual(
    [
      schema?.hasField('description'),
      schema?.hasField('$ref'),
      schema?.getChildSchema('default').hasField('title'),
    ],
    [true, true, true],
  )
})
