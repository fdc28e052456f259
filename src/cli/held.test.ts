/** What is held back is told wherever drift is listed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { policyText, TurnWorld, WEB } from '../../test/fakes/turn-world.ts'

test('scan, status, get and explain show held drift with the reason and the end', async () => {
  const world = new TurnWorld('{}', {
    '.drift/policy.yaml': policyText(
      '{mode: Propose, windows: [{name: freeze, kind: hold, schedule: "0 9 * * *", duration: 10h}]}',
    ),
  })
  world.edit(WEB, 'spec.replicas', 5)
  const sentence =
    /held back \(window\) until 2026-11-21T19:00:00Z: the window freeze of the policy is open \(\.drift\/policy\.yaml:4\)/
  world.pass(1)
  assert.match((await runInWorld(world, ['scan', '--dry-run'])).stdout, sentence)
  const scanned = await runInWorld(world, ['scan'])
  assert.match(scanned.stdout, sentence)
  assert.match(scanned.stdout, /restore apps\/web \(or adopt, or release\) proposes it now/)
  const status = await runInWorld(world, ['status', '-o', 'wide'])
  assert.match(status.stdout, /held: window/)
  assert.match(status.stdout, /window until 2026-11-21T19:00:00Z/)
  assert.match(status.stderr, /1 held back/)
  assert.match(
    (await runInWorld(world, ['get', 'drifts', '-o', 'wide'])).stdout,
    /HELD\n.*window until 2026-11-21T19:00:00Z/,
  )
  assert.match((await runInWorld(world, ['explain', 'apps/web'])).stdout, sentence)
})
