import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomJson } from '../../../../test/property/random-krm.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'
import { computeObjectMark, MARK_LENGTH, reportMark } from './object-mark.ts'
import { createRedactionKey } from './redacted.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(7))
const MANAGER = {
  manager: 'flux',
  operation: 'Apply',
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': {} },
}
const METADATA = {
  name: 'web',
  namespace: 'shop',
  uid: 'uid-1',
  resourceVersion: '7',
  generation: 3,
  labels: { app: 'web' },
  managedFields: [{ ...MANAGER, time: '2026-11-20T08:00:00Z' }],
}
const OBJECT: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: METADATA,
  spec: { replicas: 3 },
  status: { replicas: 3 },
}

function mark(object: JsonObject): string {
  return Buffer.from(computeObjectMark(KEY, object)).toString('hex')
}

function report(object: JsonObject): string {
  return Buffer.from(reportMark(KEY, object)).toString('hex')
}

function withMeta(more: JsonObject, object = OBJECT): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), ...more } }
}

/** Copies of the value, each with another value in one place of it. */
function* changed(value: Json): Generator<Json> {
  if (isJsonArray(value)) {
    yield [...value, 'more']
    for (const [at, part] of value.entries())
      for (const other of changed(part)) yield value.with(at, other)
  } else if (isJsonObject(value)) {
    yield { ...value, 'a name of the test': true }
    for (const [name, part] of Object.entries(value)) {
      yield Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))
      for (const other of changed(part))
        yield Object.fromEntries(
          Object.entries(value).map(([key, own]) => [key, key === name ? other : own]),
        )
    }
  } else yield value === 'another value' ? 'a third value' : 'another value'
}

test('a mark has 16 bytes and depends on the key', () => {
  assert.equal(computeObjectMark(KEY, OBJECT).length, MARK_LENGTH)
  const other = computeObjectMark(createRedactionKey(new Uint8Array(32).fill(8)), OBJECT)
  assert.notEqual(Buffer.from(other).toString('hex'), mark(OBJECT))
})

test('status writes, versions and manager times do not change the mark', () => {
  const { status: _status, ...without } = OBJECT
  const status = {
    ...MANAGER,
    manager: 'kube-controller-manager',
    operation: 'Update',
    subresource: 'status',
  }
  for (const same of [
    without,
    { ...OBJECT, status: { replicas: 1, conditions: [] } },
    withMeta({ resourceVersion: '8' }),
    withMeta({ generation: 4 }),
    withMeta({ managedFields: [{ ...MANAGER, time: '2026-11-21T08:00:00Z' }] }),
    withMeta({ managedFields: [MANAGER, { ...status, time: '2026-11-21T08:00:00Z' }] }),
  ])
    assert.equal(mark(same), mark(OBJECT), JSON.stringify(same))
})

test('managers, their fields, subresources beside the status, labels and the uid change the mark', () => {
  for (const other of [
    withMeta({ labels: { app: 'web', team: 'shop' } }),
    withMeta({ uid: 'uid-2' }),
    withMeta({ deletionTimestamp: '2026-11-21T08:00:00Z' }),
    withMeta({ managedFields: [] }),
    withMeta({ managedFields: [{ ...MANAGER, manager: 'kubectl' }] }),
    withMeta({ managedFields: [{ ...MANAGER, operation: 'Update' }] }),
    withMeta({ managedFields: [{ ...MANAGER, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] }),
    withMeta({ managedFields: [{ ...MANAGER, subresource: 'scale' }] }),
    { ...OBJECT, apiVersion: 'apps/v2' },
  ])
    assert.notEqual(mark(other), mark(OBJECT), JSON.stringify(other))
})

test('another value at any path of an object changes its mark', () => {
  fc.assert(
    fc.property(randomJson, randomJson, (spec, labels) => {
      const object: JsonObject = { ...OBJECT, spec, metadata: { ...METADATA, labels } }
      const before = mark(object)
      for (const other of changed(spec)) assert.notEqual(mark({ ...object, spec: other }), before)
      for (const other of changed(labels))
        assert.notEqual(mark(withMeta({ labels: other }, object)), before)
    }),
    { numRuns: 200 },
  )
})

test('a Secret has the same mark with and without content, and another for each version', () => {
  const secret: JsonObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: METADATA,
    data: { key: 'aHVudGVyMg==' },
  }
  const { data: _data, ...metadataOnly } = secret
  assert.equal(mark(secret), mark(metadataOnly))
  assert.notEqual(mark(withMeta({ resourceVersion: '8' }, secret)), mark(secret))
  assert.notEqual(mark(withMeta({ uid: 'uid-2' }, secret)), mark(secret))
})

test('marks a kind of another group named Secret by its content', () => {
  const sealed: JsonObject = {
    apiVersion: 'example.com/v1',
    kind: 'Secret',
    metadata: METADATA,
    data: { key: 'a' },
  }
  assert.equal(mark(withMeta({ resourceVersion: '8' }, sealed)), mark(sealed))
  assert.notEqual(mark({ ...sealed, data: { key: 'b' } }), mark(sealed))
})

test('distinguishes integers beyond the precision of a double', () => {
  const at = (value: bigint): string => mark({ ...OBJECT, spec: { value } })
  assert.notEqual(at(2n ** 53n), at(2n ** 53n + 1n))
  assert.equal(at(2n ** 60n), at(2n ** 60n))
})

test('the mark of a reporting object includes its conditions, but no timestamps', () => {
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-21T08:00:00Z' }
  const object: JsonObject = {
    ...OBJECT,
    status: { conditions: [ready], lastHandledReconcileAt: '1', currentMetrics: [{ cpu: 1 }] },
  }
  const with2 = (status: JsonObject): string => report({ ...object, status })
  assert.equal(
    with2({
      conditions: [{ ...ready, lastTransitionTime: 'later' }],
      lastHandledReconcileAt: '2',
      currentMetrics: [],
    }),
    report(object),
  )
  assert.notEqual(
    with2({
      conditions: [{ ...ready, status: 'False' }],
      lastHandledReconcileAt: '1',
      currentMetrics: [],
    }),
    report(object),
  )
  assert.notEqual(report({ ...object, spec: { replicas: 4 } }), report(object))
  assert.equal(mark({ ...object, status: {} }), mark(object))
})

const REST = {
  metadata: { name: 'a', resourceVersion: '1' },
  data: { color: 'red' },
  status: { seen: true },
}

for (const [name, markOf] of [
  ['computeObjectMark', computeObjectMark],
  ['reportMark', reportMark],
] as const) {
  test(`${name}: an object has the same mark from a list, from a stream and by itself`, () => {
    const ways = [
      { apiVersion: 'v1', kind: 'ConfigMap', ...REST },
      { kind: 'ConfigMap', apiVersion: 'v1', ...REST },
      { ...REST, kind: 'ConfigMap', apiVersion: 'v1' },
    ]
    const marks = ways.map((object) => Buffer.from(markOf(KEY, object)).toString('hex'))
    assert.equal(new Set(marks).size, 1)
    const other = Buffer.from(
      markOf(KEY, { apiVersion: 'v1', kind: 'Secretive', ...REST }),
    ).toString('hex')
    assert.notEqual(other, marks[0])
  })
}
