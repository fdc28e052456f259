import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { readResource } from '@backporch/kyaml/resource'
import { driftOf, TEST_KEY } from '../../test/fakes/drift-samples.ts'
import { yaml } from '../../test/fakes/turn-world.ts'
import type { ObjectVerdict } from '../drift/compare/drift.ts'
import { createUnexpectedVerdict } from '../drift/detect/make-drift.ts'
import { driftRecordSchema } from './documents/drift-record.ts'
import { createObjectCopies } from './object-copies.ts'

const CANARY = 'c4n4ry-p4ssw0rd'

function gone(object: JsonObject): ObjectVerdict {
  const read = readResource(object)
  if ('problem' in read) throw new TypeError(read.problem)
  return createUnexpectedVerdict(read.id, object, 'the inventory')
}

const copyOf = (text: string) => createObjectCopies([gone(yaml(text))], TEST_KEY)[0]

const SERVER = `  uid: 0a-1
  resourceVersion: "9"
  generation: 3
  creationTimestamp: "2026-11-21T09:30:00Z"
  deletionTimestamp: "2026-11-21T09:30:00Z"
  deletionGracePeriodSeconds: 30
  managedFields: [{manager: kubectl}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}`

test('a copy is an applicable manifest with its whole content and without server-set fields', () => {
  const text = 'x'.repeat(200_000)
  const copy = copyOf(
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\n  namespace: shop\n  labels: {app: old}\n  finalizers: [example.com/guard]\n${SERVER}\ndata: {big: "${text}", lines: "a\\nb\\n"}\nstatus: {x: 1}`,
  )
  assert.deepEqual(yaml(copy?.manifest ?? ''), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'old',
      namespace: 'shop',
      labels: { app: 'old' },
      finalizers: ['example.com/guard'],
    },
    data: { big: text, lines: 'a\nb\n' },
  })
  assert.equal(copy?.lost, undefined)
})

test('a copy of a Secret has no values, and lists each key as lost', () => {
  const copy = copyOf(
    `apiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata: {name: db, namespace: shop}\ndata: {password: ${CANARY}, "a.b": ${CANARY}}`,
  )
  assert.doesNotMatch(JSON.stringify(copy), new RegExp(CANARY))
  assert.deepEqual(copy?.lost, ['data.password', 'data["a.b"]'])
  assert.equal(yaml(copy?.manifest ?? '')['type'], 'Opaque')
})

test('a credential in another object is hidden and listed as lost; the rest is kept', () => {
  const copy = copyOf(
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\ndata: {password: ${CANARY}, url: "https://me:${CANARY}@x", size: "5"}`,
  )
  assert.doesNotMatch(JSON.stringify(copy), new RegExp(CANARY))
  assert.deepEqual(copy?.lost, ['data.password', 'data.url'])
  assert.match(copy?.manifest ?? '', /^ {2}size: "5"$/m)
})

test('command arguments that together hold a credential are one lost value', () => {
  const copy = copyOf(
    `apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {containers: [{name: app, args: ["--password", "${CANARY}", "-v"]}]}`,
  )
  assert.doesNotMatch(JSON.stringify(copy), new RegExp(CANARY))
  assert.deepEqual(copy?.lost, ['spec.containers[name=app].args'])
})

test('a copied Job has no server-set labels and selector, unless the selector is manual', () => {
  const job = (more: string): string =>
    `apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: shop, labels: {batch.kubernetes.io/controller-uid: a, app: j}}\nspec: {${more}selector: {matchLabels: {controller-uid: a}}, template: {metadata: {labels: {controller-uid: a, batch.kubernetes.io/controller-uid: a}}, spec: {}}}`
  assert.deepEqual(yaml(copyOf(job(''))?.manifest ?? ''), {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'shop', labels: { app: 'j' } },
    spec: { template: { spec: {} } },
  })
  assert.match(copyOf(job('manualSelector: true, '))?.manifest ?? '', /selector:/)
})

test('an object that is too large is listed as not kept, never truncated, and displaces no other', () => {
  const config = (name: string, size: number) =>
    gone({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'shop' },
      data: { a: 'x'.repeat(size) },
    })
  const [small, large, last] = createObjectCopies(
    [config('a', 100), config('b', 5_000), config('c', 100)],
    TEST_KEY,
    { limit: 1_000 },
  )
  assert.ok(small?.manifest !== undefined && last?.manifest !== undefined)
  assert.equal(large?.manifest, undefined)
  assert.match(
    large?.notKept ?? '',
    /^its manifest has 5\d\d\d characters, and of the 1000 that a record keeps \d+ are left$/,
  )
})

for (const [kind, text, why] of [
  [
    'Namespace',
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}',
    /everything in the namespace/,
  ],
  [
    'CustomResourceDefinition',
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}',
    /every object/,
  ],
  [
    'PersistentVolumeClaim',
    'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: x, namespace: y}',
    /the data of its volume/,
  ],
  [
    'StatefulSet that deletes its claims',
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: x, namespace: y}\nspec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}',
    /its claims/,
  ],
  [
    'StatefulSet',
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: x, namespace: y}\nspec: {}',
    undefined,
  ],
  [
    'Namespace of another group',
    'apiVersion: example.com/v1\nkind: Namespace\nmetadata: {name: x}',
    undefined,
  ],
] as const) {
  test(`the copy of a ${kind} states what its deletion takes along, if anything`, () => {
    const { takesAlong } = copyOf(text) ?? {}
    if (why === undefined) assert.equal(takesAlong, undefined)
    else assert.match(takesAlong ?? '', why)
  })
}

test('copies undeclared objects and declared ones that a plain apply cannot restore, no others', () => {
  const live = yaml(
    'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop, uid: u}\nspec: {clusterIP: 10.0.0.1}',
  )
  const base = gone(live)
  const desired = {} as ObjectVerdict['desired']
  const declared: ObjectVerdict = {
    ...base,
    desired,
    items: [driftOf('spec.type', { id: base.id })],
    live,
  }
  assert.deepEqual(
    createObjectCopies([declared, { ...declared, items: [], reapplyFails: 'immutable' }], TEST_KEY),
    [],
  )
  const [copy] = createObjectCopies([{ ...declared, reapplyFails: 'field is immutable' }], TEST_KEY)
  assert.deepEqual(yaml(copy?.manifest ?? '')['spec'], { clusterIP: '10.0.0.1' })
})

test('the schema of the record keeps every part of a copy', () => {
  const { copies } = driftRecordSchema.shape.spec.shape
  const copy = {
    ref: { group: '', kind: 'A', namespace: '', name: 'a' },
    manifest: 'x',
    lost: ['a'],
    notKept: 'b',
    takesAlong: 'c',
  }
  assert.deepEqual(copies.parse([copy]), [copy])
})

test('the copy of an object is cached per key', () => {
  const verdict = gone(
    yaml(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: old, namespace: shop}\ndata: {password: aHVudGVyMg==}',
    ),
  )
  const [first] = createObjectCopies([verdict], TEST_KEY)
  assert.equal(createObjectCopies([{ ...verdict }], TEST_KEY)[0], first)
  const [other] = createObjectCopies([verdict], createRedactionKey(new Uint8Array(32).fill(9)))
  assert.notEqual(other?.manifest, first?.manifest)
})
