import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { extractAuthoredPart } from './authored-part.ts'

const METADATA = {
  name: 'web',
  namespace: 'shop',
  uid: '1',
  resourceVersion: '2',
  creationTimestamp: 'x',
  generation: 3,
}

function entry(manager: string, fieldsV1: Json, more: JsonObject = {}): Json {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  }
}

function live(managedFields: readonly Json[], metadata: JsonObject, more: JsonObject): JsonObject {
  return {
    kind: 'Thing',
    apiVersion: 'v1',
    metadata: { ...METADATA, ...metadata, managedFields },
    ...more,
  }
}

test('omits fields owned only by the control plane, the status and server metadata', () => {
  const object = live(
    [
      entry('kubectl-edit', { 'f:spec': { 'f:size': {} } }),
      entry('kubectl', { 'f:spec': { 'f:replicas': {} } }, { subresource: 'scale' }),
      entry('kube-controller-manager', {
        'f:spec': { 'f:volumeName': {} },
        'f:metadata': { 'f:finalizers': {} },
      }),
      entry('operator', { 'f:status': { 'f:ready': {} } }, { subresource: 'status' }),
    ],
    { finalizers: ['x'], ownerReferences: [{ name: 'a' }] },
    { spec: { size: 1, replicas: 2, volumeName: 'pv', defaulted: true }, status: { ready: true } },
  )
  const manifest = extractAuthoredPart(object)
  assert.deepEqual(manifest, {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { size: 1, replicas: 2 },
  })
  assert.deepEqual(Object.keys(manifest), ['apiVersion', 'kind', 'metadata', 'spec'])
})

test('list items keep their order and their key fields', () => {
  const object = live(
    [
      entry('one', {
        'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:name': {} } } },
      }),
      entry('two', {
        'f:spec': {
          'f:ports': { 'k:{"port":443,"protocol":"TCP"}': {} },
          'f:tags': { 'v:"b"': {} },
        },
      }),
    ],
    {},
    {
      spec: {
        ports: [
          { port: 443, protocol: 'TCP', nodePort: 1 },
          { port: 80, protocol: 'TCP', name: 'http', nodePort: 2 },
        ],
        tags: ['a', 'b'],
      },
    },
  )
  assert.deepEqual(extractAuthoredPart(object)['spec'], {
    ports: [
      { port: 443, protocol: 'TCP', nodePort: 1 },
      { port: 80, protocol: 'TCP', name: 'http' },
    ],
    tags: ['b'],
  })
})

test('removes syncer marks, but keeps a shared label that a person set', () => {
  const labels = {
    'app.kubernetes.io/instance': 'web',
    'kustomize.toolkit.fluxcd.io/name': 'apps',
    team: 'x',
  }
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    'config.k8s.io/owning-inventory': 'x',
  }
  const all = (map: JsonObject): JsonObject =>
    Object.fromEntries(Object.keys(map).map((key) => [`f:${key}`, {}]))
  const owned = { 'f:metadata': { 'f:labels': all(labels), 'f:annotations': all(annotations) } }
  const manifest = extractAuthoredPart(
    live([entry('kubectl-create', owned)], { labels, annotations }, {}),
  )
  assert.deepEqual(manifest['metadata'], {
    name: 'web',
    namespace: 'shop',
    labels: { 'app.kubernetes.io/instance': 'web', team: 'x' },
  })
})

test('takes an object without managed fields as a whole', () => {
  const whole = live([], { labels: { a: 'b' } }, { data: { a: 'b' }, status: {} })
  assert.deepEqual(extractAuthoredPart(whole), {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'web', namespace: 'shop', labels: { a: 'b' } },
    data: { a: 'b' },
  })
})
