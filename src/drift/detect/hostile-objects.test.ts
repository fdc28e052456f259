/** Objects that are broken or huge: a verdict or a reason, never a throw, and in steps that grow with the object. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { formatFieldPath } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Prediction } from '@backporch/kyaml/resource'
import { appliedBy, editedBy, TEST_SCHEMA, withMetadata } from '../../../test/fakes/live-object.ts'
import type { ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { detectDrift } from './detect-drift.ts'

const SYNCER: SyncerManager = { manager: 'ci', operation: 'Apply', subresource: '' }

function configMap(keys: number): JsonObject {
  const data = Object.fromEntries(
    Array.from({ length: keys }, (_none, index) => [`key${index}`, `${index}`]),
  )
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'shop' }, data }
}

function verdictOf(
  object: JsonObject,
  live: JsonObject,
  prediction: Prediction | undefined,
): ObjectVerdict {
  const id = { group: '', kind: String(object['kind']), namespace: 'shop', name: 'c' }
  const location = { path: 'a.yaml', document: 0, item: undefined, line: 1 }
  const desired: DesiredResource = {
    id,
    apiVersion: String(object['apiVersion']),
    object,
    location,
  }
  return detectDrift(
    {
      desired,
      live: { state: 'present', object: live, metadataOnly: false },
      schema: TEST_SCHEMA,
      prediction,
    },
    SYNCER,
  )
}

function entriesOf(live: JsonObject): readonly Json[] {
  const metadata = getKey(live, 'metadata')
  const list = isJsonObject(metadata) ? getKey(metadata, 'managedFields') : undefined
  return isJsonArray(list) ? list : []
}

const MANIFEST = configMap(3)
const LIVE = appliedBy('ci', MANIFEST)
const SAME: Prediction = { state: 'predicted', object: LIVE }

test('an object without managed fields is in sync only when git explains every live field', () => {
  for (const managedFields of [undefined, null, [], 'text', [{}]] as const) {
    const live = withMetadata(LIVE, { managedFields: (managedFields ?? null) as Json })
    assert.equal(verdictOf(MANIFEST, live, undefined).state, 'in-sync')
    const more = { ...live, data: { ...(live['data'] as JsonObject), more: 'x' } }
    const { state, failure, items } = verdictOf(MANIFEST, more, SAME)
    assert.deepEqual(
      [state, failure, items.map(({ change, actor }) => `${change} by ${actor.manager}`)],
      ['drifted', undefined, ['added by unknown']],
    )
  }
})

test('a possible default beyond git leaves an object without managed fields unverified', () => {
  const [manifest, plain] = [MANIFEST, LIVE].map((object) => ({
    ...object,
    apiVersion: 'example.k8s.io/v1',
    kind: 'Thing',
  }))
  const live = withMetadata({ ...plain, spec: { mode: 'x' } } as JsonObject, {
    managedFields: null,
  })
  const { state, failure, items } = verdictOf(manifest as JsonObject, live, {
    state: 'predicted',
    object: live,
  })
  assert.deepEqual([state, failure?.code, items], ['unverified', 'BP3012', []])
  assert.match(failure?.why ?? '', /does not say who wrote spec\.mode, which git does not declare/)
})

test('reports drift beside an unreadable entry, and a field without an owner has no writer', () => {
  const edited = editedBy('kubectl-edit', LIVE, 'data.more', 'x')
  for (const broken of [
    { manager: 'x', operation: 'Update', fieldsV1: { 'z:future': {} } },
    'text',
    null,
    { operation: 'Merge' },
  ] as Json[]) {
    const live = withMetadata(
      { ...edited, data: { ...(edited['data'] as JsonObject), other: 'y' } },
      { managedFields: [...entriesOf(edited), broken] },
    )
    const { state, items } = verdictOf(MANIFEST, live, { state: 'predicted', object: live })
    const reported = items.map(
      ({ change, path, actor }) => `${change} ${formatFieldPath(path)} by ${actor.manager}`,
    )
    assert.deepEqual(
      [state, reported.sort()],
      ['drifted', ['added data.more by kubectl-edit', 'added data.other by unknown']],
    )
    const calm = withMetadata(LIVE, { managedFields: [...entriesOf(LIVE), broken] })
    assert.equal(verdictOf(MANIFEST, calm, SAME).state, 'in-sync')
  }
})

test('an invalid time is undefined, and the manager is still named', () => {
  const edited = editedBy('kubectl-edit', LIVE, 'data.more', 'x')
  const entries = entriesOf(edited).map((entry) =>
    isJsonObject(entry) ? { ...entry, time: 'yesterday\u001b[2J' } : entry,
  )
  const [item] = verdictOf(
    MANIFEST,
    withMetadata(edited, { managedFields: entries }),
    undefined,
  ).items
  assert.deepEqual([item?.actor.manager, item?.actor.at], ['kubectl-edit', undefined])
})

test('finds each of three hundred managers, and treats endlessly nested fields as an unreadable entry', () => {
  let live = LIVE
  for (let writer = 0; writer < 300; writer += 1)
    live = editedBy(`writer-${writer}`, live, `data.w${writer}`, 'x')
  const { items } = verdictOf(MANIFEST, live, { state: 'predicted', object: live })
  assert.equal(new Set(items.map(({ actor }) => actor.manager)).size, 300)

  let fieldsV1: Json = {}
  for (let level = 0; level < 100_000; level += 1) fieldsV1 = { 'f:a': fieldsV1 }
  const data = { ...(LIVE['data'] as JsonObject), deep: 'x' }
  const deep = withMetadata(
    { ...LIVE, data },
    { managedFields: [...entriesOf(LIVE), { manager: 'x', operation: 'Update', fieldsV1 }] },
  )
  assert.deepEqual(
    verdictOf(MANIFEST, deep, SAME).items.map(({ actor }) => actor.manager),
    ['unknown'],
  )
})

test('reports five thousand edited keys as five thousand changes, with and without a dry run', () => {
  const manifest = configMap(5_000)
  const applied = appliedBy('ci', manifest)
  const data = Object.fromEntries(
    Object.keys(manifest['data'] as JsonObject).map((key) => [key, 'changed']),
  )
  const fieldsV1 = {
    'f:data': Object.fromEntries(Object.keys(data).map((key) => [`f:${key}`, {}])),
  }
  const own = {
    manager: 'ci',
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2026-11-21T08:00:00Z',
    fieldsV1: { 'f:data': { 'f:none': {} } },
  }
  const theirs = {
    manager: 'hand',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-11-21T09:00:00Z',
    fieldsV1,
  }
  const live = withMetadata({ ...applied, data }, { managedFields: [own, theirs] })
  assert.equal(
    verdictOf(manifest, live, { state: 'predicted', object: applied }).items.length,
    5_000,
  )
  const failure = new Failure({
    code: 'BP3011',
    what: 'cannot patch it',
    why: 'no',
    remedy: 'nothing',
  })
  assert.equal(verdictOf(manifest, live, { state: 'refused', failure }).items.length, 5_000)
})

test('finds the one changed value in an object of the maximum size, 1.5 MiB', () => {
  const text = 'x'.repeat(1_572_864)
  const manifest = { ...MANIFEST, data: { large: text, small: '1' } }
  const live = editedBy('hand', appliedBy('ci', manifest), 'data.large', `${text.slice(1)}y`)
  const { items } = verdictOf(manifest, live, {
    state: 'predicted',
    object: appliedBy('ci', manifest),
  })
  assert.deepEqual(
    items.map(({ change, actor }) => [change, actor.manager]),
    [['modified', 'hand']],
  )
})

/** How often items of the two lists are looked at. */
function looksAt(items: number): number {
  let observations = 0
  const counted = (list: Json[]): Json[] => {
    return new Proxy(list, {
      get: (target, key, self) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) observations += 1
        return Reflect.get(target, key, self)
      },
    })
  }
  const container =
    (value: string) =>
    (_none: unknown, index: number): Json => ({ name: `c${index}`, env: [], image: value })
  const deployment = (list: Json[]): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'c', namespace: 'shop' },
    spec: { template: { spec: { containers: list } } },
  })
  const manifest = deployment(counted(Array.from({ length: items }, container('one'))))
  const applied = appliedBy('ci', manifest)
  const changed = deployment(counted(Array.from({ length: items }, container('two'))))
  const live = { ...applied, spec: changed['spec'] as Json }
  const names = Array.from({ length: items }, (_none, index): [string, Json] => [
    `k:{"name":"c${index}"}`,
    { 'f:image': {} },
  ])
  const theirs = {
    manager: 'hand',
    operation: 'Update',
    apiVersion: 'apps/v1',
    time: '2026-11-21T09:00:00Z',
    fieldsV1: {
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': Object.fromEntries(names) } } },
    },
  }
  const edited = withMetadata(live, { managedFields: [...entriesOf(applied), theirs] })
  observations = 0
  assert.equal(
    verdictOf(manifest, edited, {
      state: 'predicted',
      object: { ...edited, spec: manifest['spec'] as Json },
    }).items.length,
    items,
  )
  return observations
}

test('four times the items take about four times the steps', () => {
  const [few, many] = [looksAt(200), looksAt(800)]
  assert.ok(many < few * 6, `${few} looks at 200 items, ${many} at 800`)
})
