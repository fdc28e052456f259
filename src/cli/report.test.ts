import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'

async function decided(): Promise<TurnWorld> {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5, 'kubectl-scale')
  await world.plan()
  await world.resolutionRequest('Adopt')
  await world.approve()
  await world.plan()
  world.edit(WEB_CONFIG, 'data.color', 'a|b <img>')
  await world.plan()
  return world
}

test('report shows current drift and recent decisions without asking a cluster', async () => {
  const world = await decided()
  world.cluster.identify = () => Promise.reject(new Error('asked'))
  const { code, stdout, stderr } = await runInWorld(world, ['report'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^## Drift: 1 change in 1 of 1 package\n/)
  assert.match(stdout, /`data\.color`/)
  assert.match(
    stdout,
    /## Decided: 1\n\n\| When \| Cluster \| Package \| .*\n\|.*\n\| .* \| `apps\/web` \| .*replicas 3.*5.* \| `kubectl-scale` \| `adopt` \| `Ada` \|/,
  )
  // The part above the decisions is what -o markdown prints.
  const { stdout: status } = await runInWorld(world, ['status', '-o', 'markdown'])
  const timeless = (text: string): string => text.replace(/Observed `[^`]*`/, '')
  assert.equal(timeless(stdout.replace(/## Decided(?:.*\n)*?(?=<sub>)/, '')), timeless(status))
})

test('--since limits the decisions to later ones, and says if there are none', async () => {
  const { stdout } = await runInWorld(await decided(), ['report', '--since', '2027-01-01'])
  assert.match(stdout, /^## Decided: nothing$/m)
})

test('without records, report does not claim that there is no drift', async () => {
  const { code, stdout } = await runInWorld(new TurnWorld(), ['report'])
  assert.deepEqual([code, stdout.split('\n')[0]], [0, '## Drift: no package was observed'])
})

test('rejects other outputs and unknown packages', async () => {
  const world = await decided()
  assert.equal((await runInWorld(world, ['report', '-o', 'json'])).code, 2)
  assert.equal((await runInWorld(world, ['report', 'apps/other'])).code, 2)
})
