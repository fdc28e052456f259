import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'

/** The field is changed, restored by a merge, and seen to be restored. */
async function round(world: TurnWorld, value: number): Promise<void> {
  world.edit(WEB, 'spec.replicas', value, 'other-controller')
  assert.equal((await world.plan()).report.status.lifecycle, 'Proposed')
  await world.approve()
  world.sync()
  assert.equal((await world.plan()).report.status.state, 'InSync')
}

test('a field that drifts again after two merged restores is held, naming its writer', async () => {
  const world = new TurnWorld()
  await round(world, 5)
  await round(world, 6)
  world.edit(WEB, 'spec.replicas', 7, 'other-controller')
  const { report } = await world.plan()
  assert.equal(report.status.lifecycle, 'Draft')
  assert.equal(report.status.held?.reason, 'fight')
  assert.match(
    report.status.held?.why ?? '',
    /^other-controller writes spec\.replicas of Deployment web again, after 2 merges/,
  )
  assert.deepEqual((await world.plan()).updates, [])
})

test('another field of the same package is proposed once the contested one agrees', async () => {
  const world = new TurnWorld()
  await round(world, 5)
  await round(world, 6)
  world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'nginx:1.28')
  assert.equal((await world.plan()).report.status.lifecycle, 'Proposed')
})

test('a requested resolution is proposed despite a fight', async () => {
  const world = new TurnWorld()
  await round(world, 5)
  await round(world, 6)
  world.edit(WEB, 'spec.replicas', 7, 'other-controller')
  await world.plan()
  assert.equal((await world.resolutionRequest('Release')).report.status.lifecycle, 'Proposed')
})

test('merges of more than a week ago are no fight', async () => {
  const world = new TurnWorld()
  await round(world, 5)
  await round(world, 6)
  world.pass(8 * 24 * 60)
  world.edit(WEB, 'spec.replicas', 7, 'other-controller')
  assert.equal((await world.plan()).report.status.lifecycle, 'Proposed')
})

test('a field that flipped three times in ten minutes is held', async () => {
  const world = new TurnWorld()
  for (const value of [5, 6, 7]) {
    world.edit(WEB, 'spec.replicas', value, 'other-controller')
    await world.plan()
    world.sync()
    await world.plan()
  }
  world.edit(WEB, 'spec.replicas', 8, 'other-controller')
  const { held } = (await world.plan()).report.status
  assert.match(held?.why ?? '', /3 times in ten minutes/)
})
