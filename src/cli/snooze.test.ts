import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'

test('snooze keeps the proposal open, and the ledger knows until when nobody is reminded', async () => {
  for (const argv of [
    ['snooze', 'apps/web', '7d'],
    ['snooze', '6d24h'],
  ]) {
    const world = new TurnWorld()
    world.edit(WEB, 'spec.replicas', 5)
    const { branch } = await world.plan()
    const { code, stdout, stderr } = await runInWorld(world, argv)
    assert.equal(code, 0, stderr)
    const text = new RegExp(
      `^✓ no reminders about ${branch} until (\\S+); it stays open and is kept up to date$`,
      'm',
    )
    const [, end = ''] = text.exec(stdout) ?? []
    const { report, outcome } = await world.plan()
    assert.deepEqual(
      [report.status.snoozedUntil, report.status.lifecycle, outcome],
      [end, 'Proposed', 'unchanged'],
    )
    assert.match(end, /^2026-11-28T/)
    world.edit(WEB, 'spec.replicas', 6)
    const changed = await world.plan()
    assert.deepEqual(
      [changed.report.status.snoozedUntil, changed.outcome, changed.record?.spec.changes[0]?.live],
      [end, 'updated', 6],
    )
  }
})

test('without an open proposal, and without a time, nothing is snoozed', async () => {
  const world = new TurnWorld()
  await world.plan()
  const none = await runInWorld(world, ['snooze', 'apps/web', '7d'])
  assert.deepEqual([none.code, none.stdout], [2, ''])
  assert.match(
    none.stderr,
    /^error BP2008: .*\n {2}why: apps\/web is InSync, and no proposal of it is open/,
  )
  for (const time of ['soon', '0d', '-1d', '7', '999999d']) {
    const { code, stderr } = await runInWorld(world, ['snooze', 'apps/web', time])
    assert.equal(code, 2, time)
    assert.match(stderr, /^error BP1001|unknown option/, time)
  }
})
