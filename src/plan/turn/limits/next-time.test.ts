import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, opened } from '../../../../test/fakes/answered-proposal.ts'
import { editedBy } from '../../../../test/fakes/live-object.ts'
import { proposed, TurnWorld, WEB } from '../../../../test/fakes/turn-world.ts'
import type { TurnResult } from '../../../reconcile/turn/run-turn.ts'
import { computeNextTime } from './next-time.ts'

function next({ units: [unit] }: TurnResult): string | undefined {
  if (unit?.state !== 'planned') throw new TypeError('no unit')
  return computeNextTime(unit)
}

test("a unit in sync has no next time, except the end of an ignore rule's last day", async () => {
  assert.equal(next(await new TurnWorld().scan()), undefined)
  const ignore = 'ignore: [{paths: [data.color], reason: for today, expires: 2026-11-21}]'
  const world = new TurnWorld(`{mode: Propose, ${ignore}}`)
  assert.equal(next(await world.scan()), '2026-11-22T00:00:00Z')
  assert.equal(next(await world.scanAt('2026-11-22T00:00:00Z')), undefined)
})

test("a proposal's next time is the reminder, the escalation or the end of a snooze", async () => {
  const world = await proposed()
  assert.equal(next(await world.scan()), '2026-11-28T10:01:00Z')
  assert.equal(next(await world.scanAt('2026-11-28T10:01:00Z')), '2026-12-05T10:01:00Z')
  assert.equal(next(await world.scanAt('2026-12-05T10:01:00Z')), undefined)
  const scene = await opened()
  await ask(scene, '/snooze 4d')
  assert.equal(next(await scene.world.scan()), '2026-11-25T10:00:00Z')
})

test("a changed proposal's next time is the end of its settle period", async () => {
  const world = await proposed('{mode: Propose, priority: 1, detect: {minAge: 0s, settle: 10m}}')
  world.cluster.change(WEB, (live) =>
    editedBy('kubectl-scale', live, 'spec.replicas', 7, '2026-11-21T10:01:30Z'),
  )
  assert.equal(next(await world.scan()), '2026-11-21T10:11:30Z')
})

test('held drift waits for the end of its hold, silenced drift for the end of its silence', async () => {
  const hold = 'windows: [{name: rush, kind: hold, schedule: "0 10 * * *", duration: 1h}]'
  const held = new TurnWorld(`{mode: Propose, ${hold}}`)
  held.edit(WEB, 'spec.replicas', 5)
  assert.equal(next(await held.scan()), '2026-11-21T11:00:00Z')
  const rejected = await proposed()
  await rejected.reject()
  assert.equal(next(await rejected.scan()), '2026-12-21T10:02:00Z')
  assert.notEqual(next(await rejected.scanAt('2026-12-21T10:02:00Z')), '2026-12-21T10:02:00Z')
})
