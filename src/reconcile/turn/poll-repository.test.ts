import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { KPTFILE, policyText } from '../../../test/fakes/turn-world.ts'
import { TurnCache } from '../observe/turn-cache.ts'
import { pollRepository, type RepositoryDigest } from './poll-repository.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'

const SHARED = 'shared'

async function poll(world: FleetWorld, between?: TurnCache): Promise<RepositoryDigest> {
  const { repository, forge, clusters } = world
  const signal = new AbortController().signal
  return pollRepository(
    { repository, forge, clusters },
    world.request({ requestedActions: NO_REQUESTED_ACTIONS, between }),
    signal,
  )
}

/** Two packages, one of which has another one in it. */
function begin(): FleetWorld {
  const world = new FleetWorld(1)
  world.forge.now = () => world.cluster(0).now
  world.forge.permissions.set('ada', 'write')
  const config = (name: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {color: blue}\n`
  world.repository.commitByHand('main', {
    'apps/api/Kptfile': KPTFILE.replace('web', 'api'),
    'apps/api/config.yaml': config('api'),
    'apps/api/cache/Kptfile': KPTFILE.replace('web', 'cache'),
    'apps/api/cache/config.yaml': config('cache'),
  })
  world.sync()
  return world
}

/** Paths of the packages whose digest is another one after the change, and `shared`. */
async function moved(
  world: FleetWorld,
  change: () => unknown,
  between?: TurnCache,
): Promise<string[]> {
  const before = await poll(world, between)
  await change()
  const after = await poll(world, between)
  const paths = new Set([...before.packages.keys(), ...after.packages.keys()])
  const others = [...paths].filter((path) => before.packages.get(path) !== after.packages.get(path))
  return [...others, ...(before.shared === after.shared ? [] : [SHARED])].sort()
}

/** A world in which `apps/web` drifted and a proposal is open. */
async function proposed(): Promise<{ world: FleetWorld; branch: string }> {
  const world = begin()
  world.edit([0])
  await world.scan()
  const [branch] = world.repository.names()
  assert.ok(branch)
  return { world, branch }
}

function commit(files: { readonly [path: string]: string | null }): Promise<string[]> {
  const world = begin()
  return moved(world, () => world.repository.commitByHand('main', files))
}

test('nothing moves without a change', async () => {
  const { world } = await proposed()
  assert.deepEqual(await moved(world, () => undefined), [])
})

test('a file change moves its package and the packages around it', async () => {
  assert.deepEqual(await commit({ 'apps/web/config.yaml': '# another\n' }), ['apps/web'])
  assert.deepEqual(await commit({ 'apps/web/README.md': 'text\n' }), ['apps/web'])
  assert.deepEqual(await commit({ 'apps/web/deployment.yaml': null }), ['apps/web'])
  assert.deepEqual(await commit({ 'apps/api/config.yaml': '# another\n' }), ['apps/api'])
  assert.deepEqual(await commit({ 'apps/api/cache/config.yaml': '# another\n' }), ['apps/api'])
})

test('a file that two packages are rendered from moves both', async () => {
  const world = begin()
  const between = new TurnCache()
  between.outside.set('apps/web', ['apps/api/config.yaml'])
  const change = (path: string): Promise<string[]> =>
    moved(world, () => world.repository.commitByHand('main', { [path]: '# another\n' }), between)
  assert.deepEqual(await change('apps/api/config.yaml'), ['apps/api', 'apps/web'])
  assert.deepEqual(await change('apps/api/more.yaml'), ['apps/api'])
})

test('a folder that a syncer applies moves by itself, once a turn observed it', async () => {
  const world = begin()
  const between = new TurnCache()
  const change = (text: string): Promise<string[]> =>
    moved(world, () => world.repository.commitByHand('main', { 'infra/quota.yaml': text }), between)
  assert.deepEqual(await change('# one\n'), [SHARED])
  between.outside.set('infra', [])
  assert.deepEqual(await change('# two\n'), ['infra'])
})

test('a text file outside packages moves nothing; any other file there is shared', async () => {
  for (const path of ['README.md', 'docs/guide.txt', 'LICENSE', 'docs/shop.PNG'])
    assert.deepEqual(await commit({ [path]: 'text\n' }), [], path)
  for (const path of ['base/config.yaml', 'Makefile', 'CODEOWNERS', '.github/workflows/ci.yaml'])
    assert.deepEqual(await commit({ [path]: 'a: b\n' }), [SHARED], path)
})

test('a new or removed package moves itself', async () => {
  assert.deepEqual(await commit({ 'apps/db/Kptfile': KPTFILE.replace('web', 'db') }), ['apps/db'])
  const gone = {
    'apps/web/Kptfile': null,
    'apps/web/config.yaml': null,
    'apps/web/deployment.yaml': null,
  }
  assert.deepEqual(await commit(gone), ['apps/web'])
})

test('a policy change is shared', async () => {
  assert.deepEqual(await commit({ '.drift/policy.yaml': policyText('{mode: Warn}') }), [SHARED])
  assert.deepEqual(
    await commit({
      '.drift/more.yaml': policyText('{mode: Off}').replace('name: test', 'name: more'),
    }),
    [SHARED],
  )
})

test('a decision record moves its package; one of an unknown package is shared', async () => {
  assert.deepEqual(
    await commit({ '.drift/records/edge-01/apps--web/20261121-f9caa1c8.yaml': '# a record\n' }),
    ['apps/web'],
  )
  assert.deepEqual(
    await commit({ '.drift/records/edge-01/apps--gone/20261121-f9caa1c8.yaml': '# a record\n' }),
    [SHARED],
  )
})

test('a package branch moves its package, and an unrelated branch nothing', async () => {
  const { world, branch } = await proposed()
  assert.deepEqual(
    await moved(world, () =>
      world.repository.commitByHand(branch, { 'apps/web/note.txt': 'mine\n' }),
    ),
    ['apps/web'],
  )
  assert.deepEqual(
    await moved(world, () =>
      world.repository.commitByHand('drafts/apps/api/mine', { 'a.txt': 'mine\n' }),
    ),
    ['apps/api'],
  )
  assert.deepEqual(
    await moved(world, () => world.repository.commitByHand('feature/mine', { 'a.txt': 'mine\n' })),
    [],
  )
  assert.deepEqual(
    await moved(world, () => world.repository.branches.delete(`refs/heads/${branch}`)),
    ['apps/web'],
  )
})

test('a tag of a revision moves its package, and any other tag nothing', async () => {
  const world = begin()
  const tag = (name: string) => () =>
    world.repository.branches.set(`refs/tags/${name}`, world.repository.head('main'))
  assert.deepEqual(await moved(world, tag('apps/web/v1')), ['apps/web'])
  assert.deepEqual(await moved(world, tag('v1.0.0')), [])
})

test('a ledger commit without news of a proposal moves nothing', async () => {
  const { world } = await proposed()
  assert.deepEqual(
    await moved(world, () =>
      world.repository.commitByHand('drift-ledger', { 'clusters/edge-01/note.txt': 'text\n' }),
    ),
    [],
  )
  // Another time of the observation.
  const again = await moved(world, async () => {
    const ledger = world.repository.branches.get('refs/heads/drift-ledger')
    world.pass(120)
    await world.scan()
    assert.notEqual(world.repository.branches.get('refs/heads/drift-ledger'), ledger)
  })
  assert.deepEqual(again, [])
})

test('an action on a proposal on the forge moves its package', async () => {
  for (const change of [
    { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:30:00Z' },
    { title: 'mine' },
    { draft: true },
  ] as const) {
    const { world } = await proposed()
    assert.deepEqual(
      await moved(world, () => world.forge.byHand(1, change)),
      ['apps/web'],
      JSON.stringify(change),
    )
  }
})

test('an unanswered command comment requests its package without moving a digest', async () => {
  const { world } = await proposed()
  assert.deepEqual([...(await poll(world)).requested], [])
  assert.deepEqual(
    await moved(world, () => world.forge.comment(1, 'ada', '/adopt', { at: world.cluster(0).now })),
    [],
  )
  assert.deepEqual([...(await poll(world)).requested], ['apps/web'])
  await world.scan({ requestedActions: NO_REQUESTED_ACTIONS })
  assert.deepEqual([...(await poll(world)).requested], [])
})

test('a poll writes nothing and asks no cluster', async () => {
  const { world } = await proposed()
  const before = [world.repository.pushes.length, world.forge.writes.length]
  for (const cluster of world.clusters) {
    const fail = async (): Promise<never> => assert.fail('a cluster was asked')
    Object.assign(cluster, {
      identify: fail,
      readLive: fail,
      list: fail,
      predict: fail,
      servedKind: fail,
    })
  }
  await poll(world)
  assert.deepEqual([world.repository.pushes.length, world.forge.writes.length], before)
})
