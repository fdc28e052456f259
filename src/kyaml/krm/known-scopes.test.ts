import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNamespacedKind } from './known-scopes.ts'

test('knows the scope of a kind only in the listed group versions', () => {
  assert.equal(isNamespacedKind('apps/v1', 'Deployment'), true)
  assert.equal(isNamespacedKind('v1', 'Namespace'), false)
  assert.equal(isNamespacedKind('storage.k8s.io/v1beta1', 'CSIStorageCapacity'), true)
  for (const [apiVersion, kind] of [
    ['autoscaling/v2', 'HorizontalPodAutoscaler'],
    ['example.com/v1', 'Shop'],
    ['v1', ''],
    ['', 'constructor'],
  ] as const)
    assert.equal(isNamespacedKind(apiVersion, kind), undefined)
})
