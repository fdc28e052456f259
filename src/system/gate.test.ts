import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as settle } from 'node:timers/promises'
import { Gate } from './gate.ts'

const NEVER = new AbortController().signal

test('admits as many callers as its width, and the others in order', async () => {
  const gate = new Gate(2)
  const entered: number[] = []
  const leaves = new Map<number, () => void>()
  for (const one of [1, 2, 3, 4])
    void gate.enter(NEVER).then((leave) => {
      entered.push(one)
      leaves.set(one, leave)
    })
  await settle()
  assert.deepEqual([entered, gate.waiting], [[1, 2], 2])
  leaves.get(2)?.()
  leaves.get(2)?.()
  await settle()
  assert.deepEqual([entered, gate.waiting], [[1, 2, 3], 1])
})

test('an aborted waiter takes no slot', async () => {
  const gate = new Gate(1)
  const leave = await gate.enter(NEVER)
  const impatient = new AbortController()
  const given = assert.rejects(gate.enter(impatient.signal), /no more/)
  const patient = gate.enter(NEVER)
  impatient.abort(new Error('no more'))
  await given
  assert.equal(gate.waiting, 1)
  leave()
  ;(await patient)()
  impatient.abort()
  await assert.rejects(gate.enter(impatient.signal))
  await gate.enter(NEVER)
})
