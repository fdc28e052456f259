/** Verdicts about objects that cannot be read, proven or compared in full. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { LiveState, Prediction } from '@backporch/kyaml/resource'
import {
  APPLIED,
  DEPLOYMENT,
  desiredOf,
  lines,
  REFUSED,
  SYNCER,
  verdictOf,
} from '../../../test/fakes/deployment-verdicts.ts'
import { appliedBy, editedBy, TEST_SCHEMA, withMetadata } from '../../../test/fakes/live-object.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { detectDrift } from './detect-drift.ts'
import { createBeingDeletedFailure } from './verdict-failures.ts'

const FORBIDDEN = new Failure({
  code: 'BP3003',
  what: 'cannot get',
  why: 'forbidden',
  remedy: 'grant get',
})

const SECRET: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'shop' },
  data: { user: 'YQ==' },
}

const STATES: readonly (readonly [
  name: string,
  live: LiveState,
  state: string,
  changes: readonly string[],
])[] = [
  ['unreadable', { state: 'unreadable', failure: FORBIDDEN }, 'unreadable', []],
  ['absent', { state: 'absent' }, 'drifted', ['missing']],
]

for (const [name, live, state, changes] of STATES) {
  test(`an object that is ${name} is ${changes[0] ?? 'never missing'}`, () => {
    const verdict = detectDrift(
      { desired: desiredOf(DEPLOYMENT), live, schema: TEST_SCHEMA, prediction: undefined },
      SYNCER,
    )
    assert.deepEqual([verdict.state, verdict.items.map(({ change }) => change)], [state, changes])
    assert.equal(verdict.failure, name === 'unreadable' ? FORBIDDEN : undefined)
  })
}

test('an unreadable object never becomes missing, in sync or drifted, whatever the prediction says', () => {
  const predictions = fc.constantFrom<Prediction | undefined>(
    undefined,
    { state: 'predicted', object: APPLIED },
    { state: 'refused', failure: REFUSED },
    { state: 'unproven', failure: FORBIDDEN },
  )
  fc.assert(
    fc.property(predictions, fc.boolean(), (prediction, known) => {
      const verdict = detectDrift(
        {
          desired: desiredOf(DEPLOYMENT),
          live: { state: 'unreadable', failure: FORBIDDEN },
          schema: TEST_SCHEMA,
          prediction,
        },
        known ? SYNCER : undefined,
      )
      assert.deepEqual([verdict.state, verdict.items, verdict.setAside], ['unreadable', [], []])
    }),
  )
})

test('without a dry run, an untouched object that ownership does not prove is unverified', () => {
  const normalised = { ...APPLIED, spec: { ...(APPLIED['spec'] as JsonObject), replicas: '3' } }
  const verdict = verdictOf(DEPLOYMENT, normalised, 'unproven')
  assert.deepEqual([verdict.state, lines(verdict), verdict.failure], ['unverified', [], REFUSED])
})

test('without a dry run, empty annotations omitted from the apply are not a removal', () => {
  const declared = withMetadata(DEPLOYMENT, { annotations: {} })
  const { annotations: _annotations, ...metadata } = APPLIED['metadata'] as JsonObject & {
    readonly annotations?: Json
  }
  const verdict = verdictOf(declared, { ...APPLIED, metadata }, 'unproven')
  assert.deepEqual([verdict.state, lines(verdict)], ['unverified', []])
})

test('unreadable managed fields prove nothing about a field that git does not declare', () => {
  const broken = withMetadata(APPLIED, {
    managedFields: [...((APPLIED['metadata'] as JsonObject)['managedFields'] as Json[]), 'x'],
  })
  assert.equal(verdictOf(DEPLOYMENT, broken).state, 'in-sync')
  const verdict = verdictOf(DEPLOYMENT, {
    ...broken,
    spec: { ...(broken['spec'] as JsonObject), paused: true },
  })
  assert.deepEqual([verdict.state, verdict.items], ['unverified', []])
  assert.match(
    verdict.failure?.why ?? '',
    /does not say who wrote spec\.paused, which git does not declare/,
  )
})

test('a metadata-only Secret reveals who wrote a key, but not its value', () => {
  const live = editedBy('kubectl-edit', appliedBy(SYNCER.manager, SECRET), 'data.user', 'Yg==')
  const { data: _data, ...metadataOnly } = live
  const verdict = verdictOf(SECRET, metadataOnly, 'dry run', true)
  assert.deepEqual(lines(verdict), ['modified data.user by kubectl-edit'])
  assert.deepEqual(
    verdict.items.map(({ liveUnread, live: value }) => [liveUnread, value]),
    [[true, undefined]],
  )
  const { data: _same, ...untouched } = appliedBy(SYNCER.manager, SECRET)
  assert.equal(verdictOf(SECRET, untouched, 'dry run', true).state, 'unverified')
})

test('compares stringData as the server stores it', () => {
  const { data: _data, ...rest } = SECRET
  const live = appliedBy(SYNCER.manager, SECRET)
  const verdict = detectDrift(
    {
      desired: desiredOf({ ...rest, stringData: { user: 'a' } }),
      live: { state: 'present', object: live, metadataOnly: false },
      schema: TEST_SCHEMA,
      prediction: { state: 'predicted', object: live },
    },
    SYNCER,
  )
  assert.deepEqual([verdict.state, lines(verdict)], ['in-sync', []])
})

test('a terminating object is blocked before the comparison, with its finalizers and their owner', () => {
  const applied = appliedBy('kustomize-controller', DEPLOYMENT)
  const manager = {
    manager: 'some-controller',
    operation: 'Update',
    apiVersion: 'apps/v1',
    time: '2026-11-20T08:00:00Z',
  }
  const fieldsV1 = { 'f:metadata': { 'f:finalizers': { 'v:"example.com/hold"': {} } } }
  const { managedFields } = applied['metadata'] as { managedFields: Json[] }
  const leaving = { deletionTimestamp: '2026-11-21T08:00:00Z' }
  const held = {
    ...leaving,
    finalizers: ['example.com/hold'],
    managedFields: [...managedFields, { ...manager, fieldsV1 }],
  }
  for (const live of [
    withMetadata(applied, held),
    editedBy('kubectl-edit', withMetadata(applied, held), 'spec.replicas', 5),
  ])
    for (const means of ['dry run', 'unproven'] as const) {
      const { state, items, failure } = verdictOf(DEPLOYMENT, live, means)
      assert.deepEqual([state, items], ['blocked', []])
      assert.equal(
        failure?.why,
        'somebody deleted it at 2026-11-21T08:00:00Z, and the finalizer example.com/hold of some-controller holds it; git still has it',
      )
    }
  const refused = verdictOf(
    DEPLOYMENT,
    editedBy('kubectl-edit', withMetadata(applied, leaving), 'spec.replicas', 5),
    'refused',
  )
  assert.deepEqual([refused.state, refused.failure?.code], ['blocked', 'BP3011'])
  assert.equal(
    refused.failure?.why,
    'duplicate port name; somebody deleted it at 2026-11-21T08:00:00Z; git still has it',
  )
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  const conditions = [
    { type: 'NamespaceContentRemaining', status: 'False', message: 'x' },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      message: 'example.com/hold in 1 resource instances',
    },
  ]
  const going = {
    ...withMetadata(appliedBy('kustomize-controller', namespace), leaving),
    status: { phase: 'Terminating', conditions },
  }
  assert.match(
    verdictOf(namespace, going).failure?.why ?? '',
    /what is left in it \(example\.com\/hold in 1 resource instances\) holds it/,
  )
})

test('a terminating Secret does not reveal a finalizer that is not a controller name', () => {
  const id = { group: '', kind: 'Secret', namespace: 'shop', name: 'login' }
  const held = (finalizer: string): string =>
    createBeingDeletedFailure(id, {
      metadata: { deletionTimestamp: '2026-11-21T08:00:00Z', finalizers: [finalizer] },
    }).why
  assert.match(held('example.com/hunter2'), /, and a finalizer that is not shown holds it;/)
  assert.match(
    held('gardener.cloud/gardener'),
    /, and the finalizer gardener\.cloud\/gardener holds it;/,
  )
})
