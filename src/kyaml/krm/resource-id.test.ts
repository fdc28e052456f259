import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  describeResourceId,
  getResourceKey,
  isSameResourceId,
  parseApiVersion,
} from './resource-id.ts'

const part = fc.stringMatching(/^[a-zA-Z0-9.-]{0,12}$/)
const id = fc.record(
  { group: part, kind: part, namespace: part, name: part },
  { noNullPrototype: true },
)

test('two ids have one key exactly when they are the same', () => {
  fc.assert(
    fc.property(id, id, (left, right) =>
      assert.equal(getResourceKey(left) === getResourceKey(right), isSameResourceId(left, right)),
    ),
  )
})

test('the description of an object without a namespace omits it', () => {
  assert.equal(
    describeResourceId({ group: '', kind: 'Namespace', namespace: '', name: 'shop' }),
    'Namespace shop',
  )
  assert.equal(
    describeResourceId({ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }),
    'Deployment shop/web',
  )
})

test('the core group is the empty one', () => {
  assert.deepEqual(parseApiVersion('v1'), { group: '', version: 'v1' })
  assert.deepEqual(parseApiVersion('apps/v1'), { group: 'apps', version: 'v1' })
})
