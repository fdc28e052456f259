import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { standStill, startAnswer } from '../../test/waiting/stand-still.ts'
import { Deadline } from './deadline.ts'
import { readText } from './read-text.ts'

const never = (): boolean => true

test('a wait without input ends after its full time', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const deadline = new Deadline(40, end)
  await ended
  assert.ok(deadline.stop() >= 40)
})

test('a stopped wait does not end, and one without time ends soon', async () => {
  let ends = 0
  const stopped = new Deadline(5, () => {
    ends += 1
  })
  stopped.stop()
  assert.ok(stopped.stop() <= 5, 'it may be stopped again')
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  new Deadline(-1, end)
  await ended
  const { promise: later, resolve: endLater } = Promise.withResolvers<void>()
  new Deadline(10, endLater)
  await later
  assert.equal(ends, 0)
})

test('a suspension of the process counts only in part', () => {
  const deadline = new Deadline(80, () => assert.fail('it has not ended'))
  standStill(never, 200)
  assert.equal(deadline.stop(), 10)
})

test('input that arrived during a suspension is read before the deadline', async (t) => {
  const { stdout, miss } = startAnswer('whole', (end) => t.after(end))
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const deadline = new Deadline(40, () => resolve('late'))
  const first = once(stdout, 'data').then(([chunk]) => String(chunk))
  await miss(100)
  assert.equal(await Promise.race([first, late]), 'whole')
  deadline.stop()
})

test('reads a text that arrived while the process was suspended', async (t) => {
  const { stdout, miss } = startAnswer('whole', (end) => t.after(end))
  const tooLarge = (): Error => new Error('too large')
  const text = readText(stdout, false, { bytes: 100, tooLarge, deadline: () => 40 })
  await miss(100)
  assert.equal(await text, 'whole')
})
