import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as Declared from './sdk.d.mts'
import * as sdk from './sdk.ts'

/** The compiler holds the two against each other in both directions. */
const declared: typeof Declared = sdk
const given: typeof sdk = declared

test('backporch/functions exports what its types declare, and keeps the console of Node', () => {
  assert.deepEqual(Object.keys(given).sort(), Object.keys(declared).sort())
  assert.equal(typeof declared.runKptFunc, 'function')
})
