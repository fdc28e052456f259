import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { findUnownedCount } from './unowned-count.ts'

const DEPLOYMENT = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }

function live(replicas: number, owned: JsonObject): JsonObject {
  const entry = {
    manager: 'ci',
    operation: 'Apply',
    apiVersion: 'apps/v1',
    time: '2026-01-01T00:00:00Z',
    fieldsV1: { 'f:spec': owned },
  }
  return { metadata: { managedFields: [entry] }, spec: { replicas } }
}

function counted(id: typeof DEPLOYMENT, desired: JsonObject, object: JsonObject): unknown {
  return findUnownedCount(id, desired, object, getManagedFields(object))
}

test('an undeclared count without an owner shows that somebody scaled, unless it is the default', () => {
  assert.equal(counted(DEPLOYMENT, { spec: {} }, live(4, { 'f:selector': {} })), 4)
  assert.equal(counted(DEPLOYMENT, { spec: {} }, live(1, { 'f:selector': {} })), undefined)
})

test('does not report a count that git declares, that has an owner, or whose kind has another default', () => {
  assert.equal(
    counted(DEPLOYMENT, { spec: { replicas: 3 } }, live(4, { 'f:selector': {} })),
    undefined,
  )
  assert.equal(counted(DEPLOYMENT, { spec: {} }, live(4, { 'f:replicas': {} })), undefined)
  assert.equal(
    counted(
      { ...DEPLOYMENT, group: 'example.com', kind: 'Widget' },
      { spec: {} },
      live(4, { 'f:selector': {} }),
    ),
    undefined,
  )
})

test('without managed fields, the missing owner is not evidence', () => {
  assert.equal(
    counted(DEPLOYMENT, { spec: {} }, { metadata: {}, spec: { replicas: 4 } }),
    undefined,
  )
})
