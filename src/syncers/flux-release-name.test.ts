import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatRelease } from './flux-release-name.ts'

test('the release name comes from the newest snapshot, the spec or the resource, shortened to 53 characters', () => {
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
