import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ButtonPress } from '../ports/check-run.ts'
import { PressQueue } from './press-queue.ts'

function press(number: number): ButtonPress {
  return { id: `press-${number}`, key: '', commit: '', button: 'recheck', login: `who-${number}`, bot: false, at: '' }
}

test('a press waits until it is answered, once however often it comes', () => {
  const queue = new PressQueue()
  for (const number of [1, 2, 1, 2]) queue.add(press(number))
  assert.deepEqual(
    queue.waiting().map(({ id }) => id),
    ['press-1', 'press-2'],
  )
  queue.answered(press(1))
  queue.answered(press(1))
  assert.deepEqual(queue.waiting(), [press(2)])
})

test('a flood pushes out the oldest', () => {
  const queue = new PressQueue()
  for (let number = 0; number < 1_000; number += 1) queue.add(press(number))
  assert.equal(queue.waiting().length, 200)
  assert.equal(queue.waiting().at(-1)?.id, 'press-999')
})
