import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatRelease } from './flux-release-name.ts'

test('the name of a release is that of the newest snapshot, of the spec, or of the resource, and Helm takes 53 characters of it', () => {
  const nameOf = (own: JsonObject, name = 'web'): string =>
    formatRelease({ namespace: 'shop', name }, own).name
  assert.equal(
    nameOf({ status: { history: [{ name: 'old' }] }, spec: { releaseName: 'new' } }),
    'old',
  )
  assert.equal(nameOf({ spec: { releaseName: 'new', targetNamespace: 'store' } }), 'new')
  assert.equal(nameOf({ spec: { targetNamespace: 'store' } }), 'store-web')
  assert.equal(nameOf({}, 'a'.repeat(53)), 'a'.repeat(53))
  // The row of helm-controller `internal/release/name_test.go`.
  assert.equal(
    nameOf({}, 'release-name-with-very-long-name-which-is-longer-than-53-characters'),
    'release-name-with-very-long-name-which-i-788ca0d0d7b0',
  )
})
