import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFieldPath, getManagedFields } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import {
  appliedBy,
  editedBy,
  reversedEntries,
  withMetadata,
} from '../../../test/fakes/live-object.ts'
import { findAddedFields } from './added-fields.ts'

const MANIFEST: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    template: { spec: { containers: [{ name: 'app', ports: [{ containerPort: 80 }] }] } },
  },
}
const APP = 'spec.template.spec.containers[name=app]'
const SYNCER = { manager: 'flux', operation: 'Apply', subresource: '' } as const

function added(live: JsonObject, metadataOnly = false): string[] {
  const found = findAddedFields(
    { live, desired: MANIFEST, managed: getManagedFields(live) },
    SYNCER,
    metadataOnly,
  )
  return found.map(({ path, owner }) => `${formatFieldPath(path)} ${owner.manager}`).sort()
}

function edits(
  ...list: readonly (readonly [manager: string, field: string, value: Json])[]
): JsonObject {
  return list.reduce(
    (live, [manager, field, value], index) =>
      editedBy(manager, live, field, value, `2026-11-21T0${index}:00:00Z`),
    appliedBy('flux', MANIFEST),
  )
}

const ROWS: readonly (readonly [name: string, live: JsonObject, lines: readonly string[]])[] = [
  ['nothing', edits(), []],
  ['a field', edits(['x', 'metadata.labels.team', 'a']), ['metadata.labels.team x']],
  [
    'a whole item, not its fields',
    edits(['x', 'spec.template.spec.containers[name=side]', { name: 'side', image: 's' }]),
    ['spec.template.spec.containers[name=side] x'],
  ],
  ['a field of a declared item', edits(['x', `${APP}.image`, 'a']), [`${APP}.image x`]],
  [
    'a member of a set',
    edits(['x', 'metadata.finalizers[=guard]', 'guard']),
    ['metadata.finalizers[=guard] x'],
  ],
  ['not a changed declared field', edits(['x', 'spec.replicas', 5]), []],
  [
    'not a declared item whose defaulted key git omits',
    edits(['x', `${APP}.ports[containerPort=80,protocol=TCP].containerPort`, 80]),
    [],
  ],
  [
    'additions under the name of the control plane',
    edits(['kube-controller-manager', 'metadata.annotations.revision', '1']),
    ['metadata.annotations.revision kube-controller-manager'],
  ],
  ['not the status', edits(['x', 'status.phase', 'a']), []],
  [
    'two fields of two managers',
    edits(['x', 'metadata.labels.a', '1'], ['y', 'metadata.labels.b', '2']),
    ['metadata.labels.a x', 'metadata.labels.b y'],
  ],
  [
    'a shared field once, under its latest owner',
    edits(['x', 'metadata.labels.a', '1'], ['y', 'metadata.labels.a', '2']),
    ['metadata.labels.a y'],
  ],
]

for (const [name, live, lines] of ROWS) {
  test(`added fields: ${name}`, () => {
    assert.deepEqual(added(live), lines)
    assert.deepEqual(added(reversedEntries(live)), lines)
  })
}

test('an owner of an absent field is stale, unless the content was not read', () => {
  const live = withMetadata(edits(['x', 'metadata.labels.a', '1']), { labels: {} })
  assert.deepEqual(added(live), [])
  assert.deepEqual(added(live, true), ['metadata.labels.a x'])
})

test('sorts added fields by path regardless of the order of owners and fields', () => {
  const live = edits(
    ['x', 'metadata.labels.c', '1'],
    ['x', 'metadata.labels.a', '1'],
    ['y', 'metadata.labels.b', '2'],
  )
  const found = findAddedFields(
    { live, desired: MANIFEST, managed: getManagedFields(live) },
    SYNCER,
    false,
  )
  assert.deepEqual(
    found.map(({ path }) => formatFieldPath(path)),
    ['metadata.labels.a', 'metadata.labels.b', 'metadata.labels.c'],
  )
})

test('a defaulted key field of an item in git identifies the item and is not an added field', () => {
  const service = {
    metadata: { name: 'web' },
    spec: {
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080, appProtocol: 'http' }],
    },
  }
  const fields = {
    'k:{"port":80,"protocol":"TCP"}': {
      '.': {},
      'f:name': {},
      'f:port': {},
      'f:protocol': {},
      'f:appProtocol': {},
    },
  }
  const entry = {
    manager: 'kubectl-edit',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsV1: { 'f:spec': { 'f:ports': fields } },
  }
  const live = { ...service, metadata: { name: 'web', managedFields: [entry] } }
  const manifest = {
    metadata: { name: 'web' },
    spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  }
  const found = findAddedFields(
    { live, desired: manifest, managed: getManagedFields(live) },
    SYNCER,
    false,
  )
  assert.deepEqual(
    found.map(({ path }) => formatFieldPath(path)),
    ['spec.ports[port=80,protocol=TCP].appProtocol'],
  )
})

test('a map whose owner has no entry left is reported by the entries of others', () => {
  const live = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', annotations: { note: 'x' } },
  }
  const entry = (manager: string, annotations: JsonObject): JsonObject => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    fieldsV1: { 'f:metadata': { 'f:annotations': annotations } },
  })
  const owned = withMetadata(live, {
    managedFields: [
      entry('kubectl-client-side-apply', {}),
      entry('kubectl-annotate', { 'f:note': {} }),
    ],
  })
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const found = findAddedFields(
    { live: owned, desired: manifest, managed: getManagedFields(owned) },
    undefined,
    false,
  )
  assert.deepEqual(
    found.map(({ path, owner }) => `${formatFieldPath(path)} ${owner.manager}`),
    ['metadata.annotations.note kubectl-annotate'],
  )
})
