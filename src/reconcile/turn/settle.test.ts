import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { proposed, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import { writeEach } from './settle.ts'
import { waitUntilSettled } from './wait-until-settled.ts'

const change = (name: string): ApprovedWrite => ({
  kind: 'delete',
  target: { apiVersion: 'v1', id: { group: '', kind: 'ConfigMap', namespace: 'shop', name } },
  uid: name,
  resourceVersion: '1',
})

function refusal(code: FailureCode): Failure {
  return new Failure({ code, what: 'not written', why: 'a test', remedy: 'none' })
}

/** A cluster in which `names` are to be deleted; `answers` are thrown by the writes in turn. */
function cluster(names: readonly string[], answers: readonly (Failure | undefined)[] = []) {
  const left = [...names]
  let requested = 0
  return {
    left,
    next: async (): Promise<ApprovedWrite | undefined> =>
      left[0] === undefined ? undefined : change(left[0]),
    write: async (): Promise<void> => {
      const answer = answers[requested]
      requested += 1
      if (answer !== undefined) throw answer
      left.shift()
    },
  }
}

test('writes until nothing is left, and returns the number of writes', async () => {
  const { next, write, left } = cluster(['a', 'b', 'c'])
  assert.equal(await writeEach(next, write, 7), 3)
  assert.deepEqual(left, [])
})

test('a write that conflicts with a newer version is planned again', async () => {
  const { next, write, left } = cluster(
    ['a', 'b'],
    [refusal('BP2005'), undefined, refusal('BP2005'), refusal('BP2005')],
  )
  assert.equal(await writeEach(next, write, 5), 2)
  assert.deepEqual(left, [])
})

test('any other rejection by the server ends the writes at once', async () => {
  const { next, write, left } = cluster(['a', 'b'], [refusal('BP3011')])
  await assert.rejects(writeEach(next, write, 5), { code: 'BP3011' })
  assert.deepEqual(left, ['a', 'b'])
})

test('an object that always changes before the write ends the writes', async () => {
  const { next, write } = cluster(
    ['a'],
    Array.from({ length: 1_000 }, () => refusal('BP2005')),
  )
  await assert.rejects(writeEach(next, write, 5), { code: 'BP2005' })
})

test('a writer that always reverts is not fought without end', async () => {
  assert.equal(
    await writeEach(
      async () => change('a'),
      async () => undefined,
      5,
    ),
    undefined,
  )
})

test('waiting for a decision does not end because other drift is open', async () => {
  const world = await proposed()
  await world.approve()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const clock = {
    now: () => new Date(world.cluster.now),
    sleep: async (milliseconds: number) => world.pass(milliseconds / 60_000),
  }
  const wait = waitUntilSettled(
    world.ports,
    world.request(),
    { clock, timeout: 60 },
    new AbortController().signal,
  )
  await assert.rejects(wait, (thrown) => thrown instanceof Failure && thrown.code === 'BP3014')
})
