import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import { backOff, classifyTrouble } from './back-off.ts'

function failure(code: FailureCode, retry: Retry = 'never'): Failure {
  return new Failure({ code, what: 'x', why: 'y', remedy: 'z', retry })
}

test('the most patient class wins: missing rights, then transient, then needing a change', () => {
  const [rights, later, change] = [
    failure('BP5002'),
    failure('BP4001', 'backoff'),
    failure('BP1005', 'on-change'),
  ]
  assert.equal(classifyTrouble([change, later, rights]), 'rights')
  assert.equal(classifyTrouble([change, later]), 'later')
  assert.equal(classifyTrouble([change]), 'change')
  assert.equal(classifyTrouble([failure('BP9001')]), 'later')
})

test('the wait after a transient failure doubles up to the interval', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 1_000].map(
    (failed) => backOff('later', failed, 60_000, 1).wait,
  )
  assert.deepEqual(waits, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000, 60_000])
  assert.equal(backOff('later', 50, 3_600_000, 1).wait, 3_600_000)
  assert.equal(backOff('later', 50, 1_000, 1).wait, 5_000)
})

test('jitter is half of the wait, so the wait is never below half', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((random) => backOff('later', 3, 60_000, random).wait),
    [10_000, 15_000, 20_000],
  )
})

test('wrong credentials are retried slowly from the first failure on, and webhooks do not hurry it', () => {
  assert.deepEqual(backOff('rights', 1, 60_000, 1), { wait: 300_000, held: true })
})

test('a failure that needs a change waits for the next poll or webhook', () => {
  assert.deepEqual(backOff('change', 9, 60_000, 1), { wait: 60_000, held: false })
})
