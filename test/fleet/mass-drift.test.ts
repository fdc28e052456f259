/** One cause in many clusters, in small: bench/ten-thousand.ts is the whole. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { MassDrift } from './mass-drift.ts'

it('opens one pull request for 400 objects of one cause in 40 clusters, within the limits of GitHub, and then writes nothing', async (test) => {
  const world = new MassDrift(40, 10)
  try {
    await world.start()
    await world.turn()
    world.edit()
    const { proposals, notObserved, reported } = await world.turn()
    assert.deepEqual([proposals.size, notObserved, reported], [1, [], []])
    const [pull, ...others] = world.openPulls
    assert.deepEqual(others, [])
    assert.match(
      pull?.title ?? '',
      /^chore\(drift\): restore 10 changes of apps\/web in 40 clusters/,
    )
    for (const { name } of world.clusters) assert.ok(pull?.body.includes(`\`${name}\``), name)
    const { pushes, content } = world
    test.diagnostic(
      `${pushes.taken.length} pushes, ${content.taken.length} writes, ${world.emulator.requests.length} requests`,
    )
    assert.deepEqual([pushes.refused, content.refused], [0, 0], 'never more than GitHub takes')
    const [pushed, written] = [pushes.taken.length, content.taken.length]
    assert.ok(pushed <= 6)
    await world.turn()
    assert.deepEqual(
      [pushes.taken.length, content.taken.length],
      [pushed, written],
      'the same again writes nothing',
    )
    assert.deepEqual([...new Set(world.emulator.problems)], [])
  } finally {
    await world.stop()
  }
})

it('pushes no more than six times in any minute while one cluster after the other drifts, and keeps one pull request', async (test) => {
  const world = new MassDrift(
    9,
    1,
    '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0}}',
  )
  try {
    await world.start()
    for (const cluster of world.clusters) {
      world.edit([cluster])
      await world.turn()
    }
    const { pushes, content } = world
    test.diagnostic(
      `${pushes.taken.length} pushes, ${content.taken.length} writes, ${Math.round(world.clock.skipped / 1000)} s waited`,
    )
    assert.ok(pushes.taken.length >= 9, 'each turn has something to push')
    assert.deepEqual([pushes.refused, content.refused], [0, 0])
    assert.ok(pushes.busiestMinute <= 6 && content.busiestMinute <= 80)
    assert.ok(world.clock.skipped > 0, 'it had to wait')
    assert.equal(world.openPulls.length, 1)
    assert.match(world.openPulls[0]?.title ?? '', /in 9 clusters \(one cause\)$/)
    assert.deepEqual([...new Set(world.emulator.problems)], [])
  } finally {
    await world.stop()
  }
})
