/** How often the controller pushes the ledger. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../test/fakes/turn-world.ts'

test('with a turn every five seconds, a flapping status is pushed once a minute', async () => {
  const world = new TurnWorld('{mode: Propose}')
  let seconds = 0
  world.pass = () => {
    seconds += 5
    world.cluster.now = `${new Date(Date.parse('2026-11-21T10:00:00Z') + seconds * 1_000).toISOString().slice(0, 19)}Z`
  }
  const waits = Array.from({ length: 35 }, (_, turn) => () => world.rollOut(turn % 2 === 0))
  const { code } = await runInWorld(world, ['controller', '--interval', '5s'], { waits })
  assert.equal(code, 0)
  assert.ok(seconds >= 180, `${seconds} s`)
  assert.ok(
    world.repository.pushes.length <= 4,
    `${world.repository.pushes.length} pushes in three minutes`,
  )
  assert.ok(world.repository.pushes.length >= 3)
})
