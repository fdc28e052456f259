/** What `approve` and `reject` show before they ask. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'

async function requested(adopted: readonly string[], verb = 'approve'): Promise<string> {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await runInWorld(world, ['adopt', 'apps/web', ...adopted])
  const { code, stdout } = await runInWorld(world, [verb, 'apps/web'], { answer: 'n' })
  assert.equal(code, 2)
  return stdout
}

test('for a mixed plan each line and the question state what is adopted and restored', async () => {
  for (const verb of ['approve', 'reject']) {
    const shown = await requested(['deployment/web'], verb)
    assert.match(shown, /^ {2}\d ~ adopt {4}spec\.replicas /m)
    assert.match(shown, /^ {2}\d ~ restore {2}data\.color /m)
    assert.match(shown, /MIXED 2 changes \(adopt 1, restore 1\), fingerprint /)
  }
})

test('for a uniform plan only the question states the resolution', async () => {
  const shown = await requested([])
  assert.match(shown, /^ {2}\d ~ {2}spec\.replicas /m)
  assert.match(shown, /ADOPT 2 changes, fingerprint /)
})

test('reject prints until when this drift is silenced, as recorded in the ledger', async () => {
  const world = new TurnWorld('{mode: Propose, decide: {closeSilence: 3d}}')
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  const { code, stdout } = await runInWorld(world, ['reject', 'apps/web', '--yes'])
  assert.equal(code, 0, stdout)
  const until = /is silent until (2026-11-24T10:\d\d:00Z)$/m.exec(stdout)?.[1]
  const [closed = ''] = world.repository
    .paths('drift-ledger')
    .filter((path) => path.startsWith('closed/'))
  assert.match(
    world.repository.text('drift-ledger', closed) ?? '',
    new RegExp(`silentUntil: "?${until}"?\n`),
  )
})

test('with a merge queue approve names the proposal and does not claim verification', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const forge = new MemoryForge(world.repository)
  Object.assign(forge, { merge: async () => 'queued' })
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  const { code, stdout } = await runInWorld(world, ['approve', 'apps/web', '--yes'])
  assert.equal(code, 0)
  assert.match(
    stdout,
    /apps\/web: Restore is in the merge queue of main\n {2}next: backporch scan apps\/web reads the result\n$/,
  )
  const waited = await runInWorld(world, ['approve', 'apps/web', '--yes', '--wait'])
  assert.equal(waited.code, 3)
  assert.match(
    waited.stderr,
    /^error BP3014: apps\/web is not verified\n {2}why: its pull request is in the merge queue of main, and not merged yet$/m,
  )
})
