import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomJson } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { Json } from '../text/json.ts'
import { formatFieldPath } from './field-path.ts'
import { listLeaves } from './field-set.ts'
import { getManagedFields } from './managed-fields.ts'

function entry(more: { readonly [key: string]: Json }): Json {
  return {
    manager: 'kubectl',
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2026-11-21T08:00:00Z',
    fieldsType: 'FieldsV1',
    ...more,
  }
}

test('reads an entry with its fields', () => {
  const fieldsV1 = {
    'f:data': { 'f:color': {} },
    'f:metadata': { 'f:finalizers': { 'v:"a"': {} } },
    'f:ports': { 'k:{"port":80}': { '.': {}, 'f:name': {} } },
  }
  const { entries, unreadable } = getManagedFields({
    metadata: { managedFields: [entry({ fieldsV1 })] },
  })
  assert.deepEqual(unreadable, [])
  assert.deepEqual(entries[0] && listLeaves(entries[0].fields).map(formatFieldPath), [
    'data.color',
    'metadata.finalizers[=a]',
    'ports[port=80].name',
  ])
})

const BROKEN: readonly (readonly [name: string, list: Json, problem: RegExp])[] = [
  ['managedFields as a map', {}, /is not a list/],
  ['an entry that is a string', ['x'], /managedFields\[0\]/],
  ['an unknown operation', [entry({ operation: 'Patch' })], /managedFields\[0\]/],
  ['an unknown prefix', [entry({ fieldsV1: { 'z:data': {} } })], /managedFields\[0\]/],
  ['a key that is not JSON', [entry({ fieldsV1: { 'k:{': {} } })], /managedFields\[0\]/],
  ['a key without fields', [entry({ fieldsV1: { 'k:{}': {} } })], /managedFields\[0\]/],
  ['fields as a list', [entry({ fieldsV1: [] })], /managedFields\[0\]/],
  ['an index that is not a number', [entry({ fieldsV1: { 'i:x': {} } })], /managedFields\[0\]/],
]

for (const [name, managedFields, problem] of BROKEN) {
  test(`reports an unreadable entry and reads the others: ${name}`, () => {
    const list = Array.isArray(managedFields)
      ? [...(managedFields as readonly Json[]), entry({ manager: 'other', fieldsV1: {} })]
      : managedFields
    const read = getManagedFields({ metadata: { managedFields: list } })
    assert.match(read.unreadable.join(), problem)
    assert.deepEqual(
      read.entries.map(({ manager }) => manager),
      Array.isArray(managedFields) ? ['other'] : [],
    )
  })
}

test('an object without managed fields is readable and has none', () => {
  for (const object of [{}, { metadata: null }, { metadata: { managedFields: null } }]) {
    assert.deepEqual(getManagedFields(object as never), { entries: [], unreadable: [] })
  }
})

test('the reader throws for no content', () => {
  fc.assert(
    fc.property(randomJson, (managedFields) => {
      const { entries, unreadable } = getManagedFields({ metadata: { managedFields } })
      assert.ok(Array.isArray(managedFields) || managedFields === null || unreadable.length === 1)
      assert.ok(entries.length <= (Array.isArray(managedFields) ? managedFields.length : 0))
    }),
  )
})
