import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../text/json.ts'
import { handOverFields } from './hand-over.ts'

const CI = { manager: 'ci', operation: 'Apply', subresource: '' } as const

function entry(manager: string, fieldsV1: Json, more: JsonObject = {}): JsonObject {
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2026-11-21T10:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  }
}

function live(...managedFields: Json[]): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', managedFields } }
}

test('merges the fields of a settle into those of the syncer, with the later time, and keeps other managers', () => {
  const person = entry('kubectl-edit', { 'f:data': { 'f:other': {} } }, { operation: 'Update' })
  const theirs = entry('ci', { 'f:data': { 'f:size': {} } })
  const ours = entry(
    'backporch.dev/0123456789ab',
    { 'f:data': { 'f:color': {} } },
    { time: '2026-11-21T11:00:00Z' },
  )
  assert.deepEqual(handOverFields(live(theirs, person, ours), CI), [
    entry('ci', { 'f:data': { 'f:size': {}, 'f:color': {} } }, { time: '2026-11-21T11:00:00Z' }),
    person,
  ])
})

test('hands an object that a settle recreated over to the syncer as a whole', () => {
  const ours = entry('backporch.dev/0123456789ab', { 'f:data': { 'f:color': {} } })
  assert.deepEqual(handOverFields(live(ours), CI), [entry('ci', { 'f:data': { 'f:color': {} } })])
})

test('hands two settles and a patch over together', () => {
  const first = entry('backporch.dev/0123456789ab', { 'f:data': { 'f:color': {} } })
  const patched = entry(
    'backporch.dev/ffffffffffff',
    { 'f:data': { 'f:size': {} } },
    { operation: 'Update' },
  )
  assert.deepEqual(handOverFields(live(first, patched), CI), [
    entry('ci', { 'f:data': { 'f:color': {}, 'f:size': {} } }),
  ])
})

test('keeps a field as a member of the merged set when the other set has fields below it', () => {
  const whole = entry('ci', { 'f:spec': { 'f:template': {} } })
  const below = entry('backporch.dev/0123456789ab', {
    'f:spec': { 'f:template': { 'f:metadata': {} } },
  })
  const item = entry('ci', { 'f:ports': { 'k:{"port":1}': { '.': {}, 'f:port': {} } } })
  const itemField = entry('backporch.dev/0123456789ab', {
    'f:ports': { 'k:{"port":1}': { 'f:name': {} } },
  })
  assert.deepEqual(handOverFields(live(whole, below), CI), [
    entry('ci', { 'f:spec': { 'f:template': { '.': {}, 'f:metadata': {} } } }),
  ])
  assert.deepEqual(handOverFields(live(item, itemField), CI), [
    entry('ci', { 'f:ports': { 'k:{"port":1}': { '.': {}, 'f:port': {}, 'f:name': {} } } }),
  ])
})

test('hands over nothing without a settle, for a subresource, in another version, or beside unreadable entries', () => {
  const theirs = entry('ci', { 'f:data': {} })
  assert.equal(handOverFields(live(theirs), CI), undefined)
  assert.equal(handOverFields({ metadata: {} }, CI), undefined)
  assert.equal(
    handOverFields(
      live(theirs, entry('backporch.dev/1', { 'f:status': {} }, { subresource: 'status' })),
      CI,
    ),
    undefined,
  )
  assert.equal(
    handOverFields(
      live(theirs, entry('backporch.dev/1', { 'f:data': {} }, { apiVersion: 'v2' })),
      CI,
    ),
    undefined,
  )
  assert.equal(
    handOverFields(live('broken', entry('backporch.dev/1', { 'f:data': {} })), CI),
    undefined,
  )
})

test('hands over nothing on a second run', () => {
  const once = handOverFields(
    live(entry('ci', { 'f:a': {} }), entry('backporch.dev/1', { 'f:b': {} })),
    CI,
  )
  assert.ok(once !== undefined)
  assert.equal(handOverFields(live(...once), CI), undefined)
})
