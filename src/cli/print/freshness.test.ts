/** What an old answer of the ledger is worth. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type CliOutcome, runInWorld } from '../../../test/fakes/cli-world.ts'
import { KPTFILE, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'

const HOUR = 60

async function after(
  world: TurnWorld,
  minutes: number,
  argv: readonly string[] = ['status'],
): Promise<CliOutcome> {
  world.pass(minutes)
  return runInWorld(world, argv)
}

test('an observation older than three intervals is Unknown with its age and exit 3 until the next scan', async () => {
  const world = new TurnWorld()
  await runInWorld(world, ['scan'])
  const young = await after(world, 29)
  assert.deepEqual(
    [young.code, /✓ InSync/.test(young.stdout), young.stderr.includes('last looked at')],
    [0, true, false],
  )
  const expired = await after(world, 0)
  assert.equal(expired.code, 3, expired.stdout)
  assert.match(expired.stdout, /\? Unknown \(stale\) +\? Unknown/)
  assert.doesNotMatch(expired.stdout, /InSync/)
  assert.match(
    expired.stderr,
    /^note: apps\/web in prod: last observed 2026-11-21T10:01:00Z \(31m\), longer ago than 30m: it is unknown until the next scan$/m,
  )
  const { items, incomplete } = JSON.parse(
    (await runInWorld(world, ['status', '-o', 'json'])).stdout,
  )
  assert.deepEqual(
    [
      items[0].status.state,
      items[0].status.lastKnown.state,
      incomplete[0].code,
      items[0].status.health.status,
    ],
    ['Unknown', 'InSync', 'BP3016', 'Unknown'],
  )
  assert.equal((await runInWorld(world, ['status', '--partial', 'ok'])).code, 0)
  assert.match((await runInWorld(world, ['explain', 'BP3016'])).stdout, /exit code 3$/m)
  await runInWorld(world, ['scan'])
  assert.equal((await runInWorld(world, ['status'])).code, 0)
})

test('the policy interval defines staleness: three intervals must pass', async () => {
  const world = new TurnWorld('{mode: Warn, detect: {interval: 7d}}')
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  assert.equal((await after(world, 20 * 24 * HOUR)).code, 1)
  assert.equal((await after(world, 2 * 24 * HOUR)).code, 3)
})

test('a unit that scans no longer cover shows its age and does not stay Unknown', async () => {
  const shop = {
    'apps/shop/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n',
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  }
  const world = new TurnWorld('{mode: Warn}', shop)
  await runInWorld(world, ['scan'])
  world.repository.commitByHand('main', { 'apps/shop/Kptfile': null, 'apps/shop/a.yaml': null })
  world.pass(48 * HOUR)
  await runInWorld(world, ['scan'])
  const { code, stdout, stderr } = await runInWorld(world, ['status'])
  assert.equal(code, 0)
  assert.match(stdout, /apps\/shop +- +\? InSync \(stale\)/)
  assert.match(stderr, /^note: apps\/shop in prod: last observed /m)
})

test('a unit with mode Off does not become stale', async () => {
  const world = new TurnWorld('{mode: Warn}')
  await runInWorld(world, ['scan'])
  world.repository.commitByHand('main', {
    '.drift/policy.yaml':
      'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: {mode: Off}\n',
  })
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  const { code, stdout } = await after(world, 48 * HOUR)
  assert.deepEqual([code, / Off /.test(stdout)], [0, true])
})

test('a package of an unreachable cluster is Unknown with exit 3 without a new report of its own', async () => {
  const world = new TurnWorld('{mode: Warn}')
  world.repository.commitByHand('release', { 'apps/web/Kptfile': KPTFILE })
  await runInWorld(world, ['scan'])
  const path = 'clusters/prod/apps--web/report.yaml'
  const report = world.repository.text('drift-ledger', path) ?? ''
  world.repository.commitByHand('drift-ledger', {
    [path]: report.replace('branch: main', 'branch: release'),
  })
  world.cluster.identify = async () => {
    throw new Failure({ code: 'BP3001', what: 'cannot read', why: 'refused', remedy: 'wait' })
  }
  assert.equal((await runInWorld(world, ['scan'])).code, 3)
  assert.match(world.repository.text('drift-ledger', path) ?? '', /state: InSync/)
  const { code, stdout, stderr } = await runInWorld(world, ['status'])
  assert.equal(code, 3, stdout)
  assert.match(stdout, /\? Unknown +\? Unknown/)
  assert.match(
    stderr,
    /^note: prod: cannot be observed since 2026-11-21T10:02:00Z \(60s\), last observed 2026-11-21T10:01:00Z \(2m\): the cluster could not be observed \(BP3001\)$/m,
  )
  const list = JSON.parse((await runInWorld(world, ['status', '-o', 'json'])).stdout)
  assert.deepEqual(
    [list.items[0].status.state, list.items[0].status.lastKnown.state],
    ['Unknown', 'InSync'],
  )
  const [{ name, observedAt, reachable, failure }] = list.clusters
  assert.deepEqual(
    [name, observedAt, reachable, failure.code],
    ['prod', '2026-11-21T10:01:00Z', false, 'BP3001'],
  )
})

test('a recording shows its age after two hours and is Unknown after a day', async () => {
  const world = new TurnWorld('{mode: Warn}')
  const { uid, now } = world.cluster
  world.cluster.identify = async () => ({
    uid,
    version: '',
    observedAt: now,
    recorded: true,
    namespace: 'default',
  })
  await runInWorld(world, ['scan'])
  const young = await after(world, HOUR)
  assert.deepEqual(
    [
      young.code,
      /✓ InSync/.test(young.stdout),
      /last observed .*, longer ago than/.test(young.stderr),
    ],
    [0, true, false],
  )
  const old = await after(world, HOUR)
  assert.equal(old.code, 0)
  assert.match(
    old.stderr,
    /^note: apps\/web in prod: last observed .*, longer ago than 2h: it may have changed since$/m,
  )
  assert.equal((await after(world, 23 * HOUR)).code, 3)
})
