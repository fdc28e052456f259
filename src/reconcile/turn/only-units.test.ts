/** Turns that observe only some units of some clusters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { neverAnswer } from '../../../test/waiting/wait-until.ts'
import { TurnCache } from '../observe/turn-cache.ts'
import type { OnlyUnits } from '../observe/turn-request.ts'
import type { TurnResult } from './run-turn.ts'

function names({ units }: TurnResult): string[] {
  return units.map((unit) =>
    unit.state === 'failed'
      ? `${unit.cluster} ${unit.packagePath}`
      : `${unit.unit.cluster} ${unit.unit.packagePath}`,
  )
}

function only(units: Record<string, readonly string[] | 'all'>): OnlyUnits {
  return new Map(
    Object.entries(units).map(([cluster, paths]) => [
      cluster,
      paths === 'all' ? paths : new Set(paths),
    ]),
  )
}

function commits({ repository }: FleetWorld): number {
  return repository.pushes.flat().filter(({ ref }) => ref === 'refs/heads/drift-ledger').length
}

test('a turn reads only its clusters, and writes nothing of others', async () => {
  const world = new FleetWorld(3)
  await world.scan()
  for (const [index, cluster] of world.clusters.entries()) {
    if (index === 1) continue
    cluster.readLive = () => assert.fail(`${cluster.name} was read`)
    cluster.identify = () => assert.fail(`${cluster.name} was read`)
  }
  world.edit([0, 1])
  const result = await world.scan({ only: only({ 'edge-02': ['apps/web'] }) })
  assert.deepEqual(names(result), ['edge-02 apps/web'])
  assert.deepEqual(result.notObserved, [])
  assert.equal(world.repository.names().filter((name) => name.startsWith('proposed/')).length, 1)
})

test('a cluster without named packages is observed without its packages', async () => {
  const world = new FleetWorld(2)
  await world.scan()
  const result = await world.scan({ only: only({ 'edge-01': [] }) })
  assert.deepEqual([names(result), result.notObserved], [[], []])
})

test('an empty turn records a watched cluster after the interval, and no other cluster', async () => {
  const world = new FleetWorld(2)
  await world.scan()
  const before = commits(world)
  for (let minute = 0; minute < 5; minute += 1)
    await world.scan({ only: only({ 'edge-01': [] }), watched: new Set(['edge-01']) })
  assert.equal(commits(world), before)
  for (let minute = 0; minute < 10; minute += 1)
    await world.scan({
      only: only({ 'edge-01': [], 'edge-02': [] }),
      watched: new Set(['edge-01']),
    })
  assert.equal(commits(world), before + 1)
  const text = (cluster: string): string =>
    world.repository.text('drift-ledger', `clusters/${cluster}/observation.yaml`) ?? ''
  assert.notEqual(
    /observedAt: (.*)/.exec(text('edge-01'))?.[1],
    /observedAt: (.*)/.exec(text('edge-02'))?.[1],
  )
})

test('a cluster over its deadline is not observed, and the others are', async () => {
  const world = new FleetWorld(2)
  await world.scan()
  world.edit([0, 1])
  world.cluster(0).readLive = (_wanted, signal?: AbortSignal) => neverAnswer(signal)
  const result = await world.scan({
    only: only({ 'edge-01': 'all', 'edge-02': 'all' }),
    deadline: 500,
  })
  assert.deepEqual(names(result), ['edge-02 apps/web'])
  assert.deepEqual(
    result.notObserved.map(({ cluster, failures: [{ code, why }] }) => [cluster, code, why]),
    [['edge-01', 'BP3006', 'its answers took longer than 0.5 s']],
  )
})

test('a cluster whose syncers cannot be read is not observed, and the others are', async () => {
  const world = new FleetWorld(2)
  await world.scan()
  world.edit([0, 1])
  const refused = new Failure({
    code: 'BP3001',
    what: 'cannot list',
    why: 'no connection',
    remedy: 'try again',
  })
  for (const [list, code] of [
    [() => Promise.reject(refused), 'BP3001'],
    [(_group: string, _kind: string, signal?: AbortSignal) => neverAnswer(signal), 'BP3006'],
  ] as const) {
    world.cluster(0).list = list
    const result = await world.scan({
      only: only({ 'edge-01': 'all', 'edge-02': 'all' }),
      deadline: 500,
    })
    assert.deepEqual(names(result), ['edge-02 apps/web'])
    assert.deepEqual(
      result.notObserved.map(({ cluster, failures: [failure] }) => [cluster, failure.code]),
      [['edge-01', code]],
    )
  }
})

test('a silent cluster gets 15 s in a unit turn, and an always slow one gets more', async (t) => {
  const limits: number[] = []
  let now = 0
  t.mock.method(performance, 'now', () => (now += 100))
  // A deadline runs in eight parts.
  t.mock.method(globalThis, 'setTimeout', (_end: () => void, part: number) => {
    limits.push(part * 8)
  })
  const [world, between] = [new FleetWorld(1), new TurnCache()]
  const scan = (deadline: number): Promise<TurnResult> =>
    world.scan({ only: only({ 'edge-01': 'all' }), between, deadline })
  await scan(60_000)
  between.rememberDuration('edge-01', 8_000.4)
  await scan(60_000)
  await scan(20_000)
  for (let turn = 0; turn < 10; turn += 1) between.rememberDuration('edge-01', 100)
  await scan(60_000)
  // Its syncers and its packages share the time: the first takes three looks at the clock.
  assert.deepEqual(limits, [15_000, 14_700, 24_002, 23_702, 20_000, 19_700, 15_000, 14_700])
})
