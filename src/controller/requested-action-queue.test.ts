import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestedAction } from '@backporch/forge/check-run'
import { RequestedActionQueue } from './requested-action-queue.ts'

function requestedAction(number: number): RequestedAction {
  return {
    id: `press-${number}`,
    key: '',
    commit: '',
    button: 'recheck',
    login: `who-${number}`,
    bot: false,
    at: '',
  }
}

test('a button press waits until it is answered, and repeats are not queued again', () => {
  const queue = new RequestedActionQueue()
  for (const number of [1, 2, 1, 2]) queue.add(requestedAction(number))
  assert.deepEqual(
    queue.listWaiting().map(({ id }) => id),
    ['press-1', 'press-2'],
  )
  queue.removeAnswered(requestedAction(1))
  queue.removeAnswered(requestedAction(1))
  assert.deepEqual(queue.listWaiting(), [requestedAction(2)])
})

test('a flood of presses evicts the oldest', () => {
  const queue = new RequestedActionQueue()
  for (let number = 0; number < 1_000; number += 1) queue.add(requestedAction(number))
  assert.equal(queue.listWaiting().length, 200)
  assert.equal(queue.listWaiting().at(-1)?.id, 'press-999')
})
