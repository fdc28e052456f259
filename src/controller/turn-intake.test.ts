/** What the next turn is about, in a fleet in memory; that it reaches what turns about everything reach is test/property/event-path.property.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STALE_AFTER } from '@backporch/cluster/cluster-watch'
import { EventPath } from '../../test/fakes/event-path.ts'
import { FleetWorld } from '../../test/fakes/fleet-world.ts'
import { editedBy } from '../../test/fakes/live-object.ts'
import { CONFIG, KPTFILE, policyText, WEB } from '../../test/fakes/turn-world.ts'

const MINUTE = 60_000
const AT_ONCE =
  'mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, digest: off}'

/** `apps/web` and `apps/api` in two clusters, after the turns in which everything becomes known. */
async function begin(options?: ConstructorParameters<typeof EventPath>[1]): Promise<EventPath> {
  const world = new FleetWorld(2, `{${AT_ONCE}}`)
  world.repository.commitByHand('main', {
    'apps/api/Kptfile': KPTFILE.replace('web', 'api'),
    'apps/api/config.yaml': CONFIG.replace('name: web', 'name: api'),
  })
  world.sync()
  const path = new EventPath(world, options)
  await path.open()
  for (let round = 0; round < 3; round += 1) await minute(path)
  path.scopes.length = 0
  return path
}

async function minute(path: EventPath, minutes = 1): Promise<string | undefined> {
  path.world.pass(minutes)
  await path.round()
  return path.scopes.at(-1)
}

function scale(path: EventPath, index: number, replicas: number): void {
  path.world
    .cluster(index)
    .change(WEB, (live) => editedBy('kubectl-scale', live, 'spec.replicas', replicas))
}

test('the first turn covers everything, and later ones nothing while nothing changes', async () => {
  const path = new EventPath(new FleetWorld(2))
  await path.open()
  assert.equal(await minute(path), 'everything')
  const later = await begin()
  for (let round = 0; round < 5; round += 1) await minute(later)
  assert.deepEqual(new Set(later.scopes), new Set(['nothing']))
})

test('a changed object schedules its unit; one that stays in sync schedules nothing', async () => {
  const path = await begin()
  path.world.cluster(1).change(WEB, (live) => ({ ...live }))
  assert.equal(await minute(path), 'nothing')
  scale(path, 0, 5)
  assert.equal(await minute(path), 'edge-01: apps/web')
})

test('a commit to a package schedules it in every cluster; a policy commit schedules everything', async () => {
  const path = await begin()
  path.world.repository.commitByHand('main', {
    'apps/api/config.yaml': `${CONFIG.replace('name: web', 'name: api')}# more\n`,
  })
  assert.equal(await minute(path), 'edge-01: apps/api, edge-02: apps/api')
  path.world.repository.commitByHand('main', { '.drift/policy.yaml': policyText('{mode: Warn}') })
  assert.equal(await minute(path), 'everything')
})

test('git and the forge are polled once per interval, and at once after a webhook', async () => {
  const path = await begin({ interval: 10 * MINUTE, resync: 600 * MINUTE })
  let polls = 0
  const poll = async (): Promise<never> => {
    polls += 1
    throw new Error('no answer')
  }
  path.world.pass(1)
  assert.deepEqual(await path.intake.chooseNextScope(poll), { about: 'nothing' })
  assert.equal(polls, 0)
  path.intake.requestPoll()
  await assert.rejects(path.intake.chooseNextScope(poll), /no answer/)
  path.world.pass(10)
  await assert.rejects(path.intake.chooseNextScope(poll), /no answer/)
  await assert.rejects(
    path.intake.chooseNextScope(poll),
    /no answer/,
    'a poll that failed is tried again',
  )
  assert.equal(polls, 3)
})

test('everything is observed again after the resync interval and after a clock set back', async () => {
  const path = await begin({ interval: MINUTE, resync: 30 * MINUTE })
  assert.equal(
    await minute(path, 10),
    'edge-01: , edge-02: ',
    'the ledger gets the time of the observation',
  )
  assert.equal(await minute(path, 25), 'everything')
  assert.equal(await minute(path), 'nothing')
  assert.equal(await minute(path, -20), 'everything')
})

test('an idle cluster is recorded in the ledger at each detect.interval', async () => {
  const path = await begin()
  path.world.repository.commitByHand('main', {
    '.drift/policy.yaml': policyText(
      `{${AT_ONCE.replace('detect: {', 'detect: {interval: 2m, ')}}`,
    ),
  })
  assert.equal(await minute(path), 'everything')
  const scopes = []
  for (let round = 0; round < 4; round += 1) scopes.push(await minute(path))
  assert.deepEqual(scopes, ['nothing', 'edge-01: , edge-02: ', 'nothing', 'edge-01: , edge-02: '])
})

test('units of a failed turn stay queued and are observed again later', async (t) => {
  let elapsed = 0
  const real = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => real() + elapsed)
  const path = await begin()
  scale(path, 0, 5)
  path.world.pass()
  await path.deliver()
  const poll = (): Promise<never> => assert.fail('no poll is due')
  const polled = await path.turn()
  assert.equal(polled.about, 'units')
  scale(path, 0, 6)
  await path.deliver()
  const scope = await path.intake.chooseNextScope(poll)
  assert.ok(scope.about === 'units')
  await path.intake.finishTurn(scope, undefined, performance.now())
  assert.deepEqual(await path.intake.chooseNextScope(poll), { about: 'nothing' }, 'it waits first')
  elapsed += 10_000
  const again = await path.intake.chooseNextScope(poll)
  assert.deepEqual(again, scope)
})

test('a proposal that gave way is in the next turn even without new changes', async () => {
  const path = await begin()
  scale(path, 0, 5)
  path.world
    .cluster(1)
    .change('/ConfigMap/shop/api', (live) => editedBy('kubectl-edit', live, 'data.color', 'red'))
  path.meanwhile = { hasChanged: () => true, shouldGiveWay: () => true }
  assert.equal(await minute(path), 'edge-01: apps/web, edge-02: apps/api')
  assert.equal(path.world.forge.proposals.length, 1)
  await path.round()
  assert.match(path.scopes.at(-1) ?? '', /edge-02: .*apps\/api/, 'at once')
  assert.equal(path.world.forge.proposals.length, 2)
  path.meanwhile = undefined
  for (let round = 0; round < 3; round += 1) await minute(path)
  assert.equal(path.scopes.at(-1), 'nothing')
  assert.equal(path.world.forge.proposals.length, 2)
})

test('a cluster silent for a minute is unreachable, reported once, and observed whole on return', async () => {
  const sights: string[] = []
  const path = await begin()
  path.onSight = (cluster, why) => void sights.push(`${cluster} ${why ?? 'seen'}`)
  const watch = path.watches.get('edge-01')
  assert.ok(watch)
  const [now, state] = [() => Date.parse(path.world.cluster(0).now), watch.state.bind(watch)]
  const [lastProof, readLive] = [now(), path.world.cluster(0).readLive]
  path.world.cluster(0).readLive = async () => {
    throw new Error('no answer')
  }
  watch.state = () =>
    state().map((each) => ({ ...each, provenAt: each.lists === 0 ? 0 : lastProof }))
  await minute(path)
  assert.deepEqual(
    [[...path.intake.listUnreachable().keys()], [...path.intake.listSeen()].sort()],
    [[], ['edge-01', 'edge-02']],
  )
  assert.equal(now() - lastProof, STALE_AFTER)
  assert.equal(await minute(path), 'edge-01: all')
  assert.deepEqual(
    [[...path.intake.listUnreachable().keys()], [...path.intake.listSeen()]],
    [['edge-01'], ['edge-02']],
  )
  assert.equal(path.intake.listUnreachable().get('edge-01')?.code, 'BP3001')
  assert.equal(await minute(path), 'edge-01: all', 'it is tried again')
  watch.state = state
  path.world.cluster(0).readLive = readLive
  assert.equal(await minute(path), 'edge-01: all')
  assert.equal(await minute(path), 'nothing')
  assert.match(sights[0] ?? '', /^edge-01 the watch of .* received nothing for 120 s$/)
  assert.deepEqual(sights.slice(1), ['edge-01 seen'])
})

test('a changed syncer resource that may concern other units schedules everything', async () => {
  const path = await begin()
  const changes = path.verdicts('edge-01')
  const id = {
    group: 'kustomize.toolkit.fluxcd.io',
    kind: 'Kustomization',
    namespace: 'flux-system',
    name: 'apps',
  }
  changes
    .getUnitVerdicts('apps/web')
    .follow({ id, apiVersion: 'kustomize.toolkit.fluxcd.io/v1' }, 'report', undefined)
  path.watches.get('edge-01')?.follow([
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      namespace: '',
      metadataOnly: false,
    },
  ])
  await path.deliver()
  path.world.cluster(0).put({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { namespace: 'flux-system', name: 'apps' },
    spec: { path: './apps' },
  })
  assert.equal(await minute(path), 'everything')
  assert.notEqual(await minute(path), 'everything')
})
