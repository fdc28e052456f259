import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FleetWorld } from '../../test/fakes/fleet-world.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import type { ObservedNumbers } from '../ports/metrics.ts'
import { TurnCounter } from './turn-numbers.ts'

async function turn(world: TurnWorld, counter: TurnCounter): Promise<ObservedNumbers> {
  return counter.computeNumbers(await world.scan())
}

function kinds({ occurrences }: ObservedNumbers): string[] {
  return occurrences.map(({ kind }) => kind)
}

test('a detection is counted once, with worst risk and actor, and again on further drift', async () => {
  const [world, counter] = [new TurnWorld(), new TurnCounter()]
  assert.deepEqual((await turn(world, counter)).occurrences, [])
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'nginx:1.28')
  const first = await turn(world, counter)
  assert.deepEqual(first.occurrences, [
    {
      kind: 'detected',
      cluster: 'prod',
      package: 'apps/web',
      risk: 'high',
      actorClass: 'human-tool',
    },
  ])
  const [web] = first.packages
  assert.deepEqual([...(web?.drifted ?? [])], [['high', 1]])
  assert.deepEqual([...(web?.objects ?? [])].sort(), [
    ['drifted', 1],
    ['in-sync', 1],
  ])
  assert.equal(web?.driftedSince, Date.parse('2026-11-21T10:02:00Z') / 1_000)
  assert.equal(web?.syncer, 'Flux')
  assert.deepEqual((await turn(world, counter)).occurrences, [])
  world.edit(WEB, 'spec.replicas', 6)
  assert.deepEqual(kinds(await turn(world, counter)), ['detected'])
})

test('an open proposal has its address, in the turn that opens it and in the next one', async () => {
  const [world, counter] = [new TurnWorld(), new TurnCounter()]
  world.forge = new MemoryForge(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  const opened = await turn(world, counter)
  const known = await turn(world, counter)
  const url = 'https://forge.example/pulls/1'
  assert.deepEqual(
    [opened.packages[0]?.proposal?.url, known.packages[0]?.proposal?.url],
    [url, url],
  )
})

test('occurrences that an earlier process counted are not counted again', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  await turn(world, new TurnCounter())
  assert.deepEqual((await turn(world, new TurnCounter())).occurrences, [])
  await world.approve()
  world.sync()
  const restarted = new TurnCounter()
  assert.deepEqual(kinds(await turn(world, restarted)), ['restored'])
  assert.deepEqual(kinds(await turn(world, restarted)), [])
})

test('a decision is counted once with its duration, and the restore when live agrees', async () => {
  const [world, counter] = [new TurnWorld(), new TurnCounter()]
  world.edit(WEB, 'spec.replicas', 5)
  await turn(world, counter)
  await world.approve()
  const decided = await turn(world, counter)
  assert.deepEqual(decided.occurrences, [
    { kind: 'resolved', cluster: 'prod', package: 'apps/web', resolution: 'Restore', seconds: 60 },
  ])
  assert.deepEqual(
    [decided.packages[0]?.state, decided.packages[0]?.driftedSince],
    ['Applying', undefined],
  )
  world.sync()
  assert.deepEqual((await turn(world, counter)).occurrences, [
    { kind: 'restored', syncer: 'Flux', seconds: 120 },
  ])
})

test('declined drift counts as resolved and no longer as drifted', async () => {
  const [world, counter] = [new TurnWorld(), new TurnCounter()]
  world.edit(WEB, 'spec.replicas', 5)
  await turn(world, counter)
  await world.reject()
  const { occurrences, packages } = await turn(world, counter)
  assert.deepEqual(occurrences, [
    { kind: 'resolved', cluster: 'prod', package: 'apps/web', resolution: 'Declined', seconds: 60 },
  ])
  assert.deepEqual(
    [packages[0]?.state, packages[0]?.drifted.size, packages[0]?.objects.get('drifted')],
    ['Silenced', 0, 1],
  )
})

test('drift that disappears by itself counts as resolved without a decision', async () => {
  const [world, counter] = [new TurnWorld(), new TurnCounter()]
  world.edit(WEB, 'spec.replicas', 5)
  await turn(world, counter)
  world.edit(WEB, 'spec.replicas', 3)
  const { occurrences } = await turn(world, counter)
  assert.deepEqual(occurrences, [
    {
      kind: 'resolved',
      cluster: 'prod',
      package: 'apps/web',
      resolution: 'Healed',
      seconds: undefined,
    },
  ])
})

test('a restore that is late counts as failed until it arrives', async () => {
  const [world, counter] = [
    new TurnWorld('{mode: Propose, decide: {verifyTimeout: 1h}}'),
    new TurnCounter(),
  ]
  world.edit(WEB, 'spec.replicas', 5)
  await turn(world, counter)
  await world.approve()
  assert.equal((await turn(world, counter)).packages[0]?.restoreFailed, false)
  world.pass(120)
  assert.equal((await turn(world, counter)).packages[0]?.restoreFailed, true)
  assert.equal((await turn(world, counter)).packages[0]?.restoreFailed, true)
})

test('a turn about one part keeps the counts of the others', async () => {
  const other = {
    'apps/api/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: api}\n',
  }
  const [world, counter] = [new TurnWorld('{mode: Propose}', other), new TurnCounter()]
  world.edit(WEB, 'spec.replicas', 5)
  const dry = { dryRun: true, rehearses: true }
  assert.deepEqual(kinds(counter.computeNumbers(await world.scan(dry))), ['detected'])
  world.packages = ['apps/api']
  const part = counter.computeNumbers(await world.scan(dry), false)
  assert.deepEqual([part.whole, part.packages.map((one) => one.package)], [false, ['apps/api']])
  world.packages = []
  assert.deepEqual(kinds(counter.computeNumbers(await world.scan(dry))), [])
})

test('newly ignored differences are counted once', async () => {
  const [world, counter] = [
    new TurnWorld('{mode: Propose, ignore: [{paths: [spec.replicas], reason: scaled}]}'),
    new TurnCounter(),
  ]
  await turn(world, counter)
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual((await turn(world, counter)).occurrences, [
    { kind: 'suppressed', rule: 'rule', count: 1 },
  ])
  world.edit(WEB, 'spec.replicas', 6)
  assert.deepEqual((await turn(world, counter)).occurrences, [])
})

test('a dry run counts a finding once although git does not record it', async () => {
  const [world, counter] = [new TurnWorld(), new TurnCounter()]
  world.edit(WEB, 'spec.replicas', 5)
  const scan = async () =>
    kinds(counter.computeNumbers(await world.scan({ dryRun: true, rehearses: true })))
  assert.deepEqual([await scan(), await scan()], [['detected'], []])
})

test('failed packages and unreachable clusters are listed, and their earlier counts are not repeated', async () => {
  const bad = {
    'apps/bad/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: bad}\n',
    'apps/bad/x.yaml': 'a: [\n',
  }
  const world = new TurnWorld('{mode: Propose}', bad)
  const found = await turn(world, new TurnCounter())
  assert.deepEqual(found.failed, [{ cluster: 'prod', package: 'apps/bad' }])
  assert.equal(found.packages.length, 1)

  const [fleet, counter] = [new FleetWorld(2), new TurnCounter()]
  fleet.edit([1])
  counter.computeNumbers(await fleet.scan())
  const { identify } = fleet.cluster(1)
  fleet.cluster(1).identify = () => Promise.reject(new Error('gone'))
  const away = counter.computeNumbers(await fleet.scan())
  assert.deepEqual([away.unobserved, [...away.clusters.keys()]], [['edge-02'], ['edge-01']])
  fleet.cluster(1).identify = identify
  assert.deepEqual(kinds(counter.computeNumbers(await fleet.scan())), [])
})
