import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import { backOff, classifyTrouble } from './back-off.ts'

function failure(code: FailureCode, retry: Retry = 'never'): Failure {
  return new Failure({ code, what: 'x', why: 'y', remedy: 'z', retry })
}

test('what needs the most patience decides: rights, then what may pass, then what somebody has to change', () => {
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

test('a turn that may succeed by itself waits twice as long each time, up to the interval', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 1_000].map(
    (failed) => backOff('later', failed, 60_000, 1).wait,
  )
  assert.deepEqual(waits, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000, 60_000])
  assert.equal(backOff('later', 50, 3_600_000, 1).wait, 3_600_000)
  assert.equal(backOff('later', 50, 1_000, 1).wait, 5_000)
})

test('half of the wait is chance, and it is never shorter than half', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((random) => backOff('later', 3, 60_000, random).wait),
    [10_000, 15_000, 20_000],
  )
})

test('wrong credentials are asked about slowly from the first time on, and no webhook makes it quicker', () => {
  assert.deepEqual(backOff('rights', 1, 60_000, 1), { wait: 300_000, held: true })
})

test('what somebody has to change waits for the next poll, or for the webhook that tells of the change', () => {
  assert.deepEqual(backOff('change', 9, 60_000, 1), { wait: 60_000, held: false })
})
