import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { FleetWorld, plans } from '../../../test/fakes/fleet-world.ts'
import { policyText } from '../../../test/fakes/turn-world.ts'
import { listUnitFailures } from '../../plan/unit/unit-result.ts'
import { driftReportSchema } from '../../record/documents/drift-report.ts'
import { parseDocument } from '../../record/write-document.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'

const open = (world: FleetWorld) => world.forge.proposals.filter(({ state }) => state === 'open')
const proposed = (world: FleetWorld) =>
  world.repository.names().filter((name) => name.startsWith('proposed/'))
const records = (world: FleetWorld, branch: string) =>
  world.repository
    .paths(branch)
    .flatMap((path) => /^\.drift\/records\/([^/]+)\//.exec(path)?.[1] ?? [])

/** The same edit in `drifted` of `count` clusters, proposed. */
async function joined(
  count: number,
  drifted = count,
): Promise<{ world: FleetWorld; branch: string }> {
  const world = new FleetWorld(count)
  world.edit(Array.from({ length: drifted }, (_each, index) => index))
  await world.scan()
  const [branch = ''] = proposed(world)
  return { world, branch }
}

test('the same drift in enough clusters is one pull request with a record for each', async () => {
  const { world, branch } = await joined(4, 3)
  assert.deepEqual(proposed(world), [branch])
  assert.equal(open(world).length, 1)
  assert.equal(
    open(world)[0]?.title,
    'chore(drift): restore Deployment/web in 3 clusters (one cause)',
  )
  assert.deepEqual(records(world, branch), ['edge-01', 'edge-02', 'edge-03'])
  assert.match(open(world)[0]?.body ?? '', /One cause, 3 clusters/)
})

test("if its branch is rejected, the ledger has each cluster's drift and no proposal", async () => {
  const world = new FleetWorld(4)
  world.edit([0, 1, 2])
  world.repository.beforePush = (updates) => {
    if (updates.some(({ ref }) => ref.startsWith('refs/heads/proposed/')))
      throw new Failure({
        code: 'BP4002',
        what: 'the push is refused',
        why: 'a rule',
        remedy: 'change it',
        retry: 'on-change',
      })
  }
  const { units } = await world.scan()
  assert.deepEqual(
    units.map((unit) => listUnitFailures(unit).map(({ code }) => code)),
    [['BP4002'], ['BP4002'], ['BP4002'], []],
  )
  for (const cluster of ['edge-01', 'edge-02', 'edge-03']) {
    const path =
      world.repository
        .paths('drift-ledger')
        .find((each) => each.startsWith(`clusters/${cluster}/`) && each.endsWith('/report.yaml')) ??
      ''
    const { status } = parseDocument(
      world.repository.text('drift-ledger', path) ?? '',
      driftReportSchema,
      path,
    )
    assert.deepEqual(
      [status.state, status.lifecycle, status.branch, status.held?.reason],
      ['Drifted', '', undefined, 'refused'],
    )
  }
  world.repository.beforePush = () => undefined
  await world.scan()
  assert.equal(proposed(world).length, 1)
  assert.equal(open(world).length, 1)
})

test('with fewer clusters each has its own pull request', async () => {
  const { world } = await joined(3, 2)
  assert.equal(open(world).length, 2)
  assert.equal(proposed(world).length, 2)
})

test('with approval in Porch each cluster has its own pull request', async () => {
  const world = new FleetWorld(3)
  world.repository.commitByHand('main', {
    '.drift/porch.yaml': policyText('{approval: porch}').replace('name: test', 'name: porch'),
  })
  world.edit([0, 1, 2])
  await world.scan()
  assert.equal(proposed(world).length, 3)
  for (const branch of proposed(world)) assert.equal(records(world, branch).length, 1)
})

test('the same turn again writes nothing', async () => {
  const { world } = await joined(3)
  const [sent, refs] = [
    world.forge.writes.length,
    JSON.stringify([...world.repository.names()].map((name) => world.repository.head(name))),
  ]
  for (let turn = 0; turn < 5; turn += 1) {
    const { updates } = await world.scan()
    assert.deepEqual(updates, [])
  }
  assert.equal(world.forge.writes.length, sent)
  assert.equal(
    JSON.stringify([...world.repository.names()].map((name) => world.repository.head(name))),
    refs,
  )
})

test('clusters scanned one at a time share the same pull request', async () => {
  const world = new FleetWorld(4)
  world.edit([0, 1, 2])
  await world.scan({}, world.clusters.slice(0, 3))
  const [branch = ''] = proposed(world)
  world.edit([3])
  await world.scanOne(3)
  assert.deepEqual(proposed(world), [branch])
  assert.deepEqual(records(world, branch), ['edge-01', 'edge-02', 'edge-03', 'edge-04'])
  for (const index of [0, 1, 2, 3]) assert.equal((await world.scanOne(index)).outcome, 'unchanged')
  assert.equal(open(world).length, 1)
  assert.match(open(world)[0]?.title ?? '', /in 4 clusters/)
})

test('open single pull requests move into the joint one, and say where', async () => {
  const world = new FleetWorld(3)
  world.edit([0])
  await world.scan()
  world.edit([1])
  await world.scan()
  assert.equal(open(world).length, 2)
  world.edit([2])
  await world.scan()
  assert.equal(proposed(world).length, 1)
  assert.equal(open(world).length, 1)
  assert.ok(world.forge.writes.includes('comment #2 outcome'), world.forge.writes.join('\n'))
})

test('a merge decides every cluster with one revision', async () => {
  const { world, branch } = await joined(3)
  world.merge(branch)
  world.sync()
  await world.scan()
  const closed = await world.closed()
  assert.deepEqual(
    closed.map(({ spec, status }) => [
      spec.unit.cluster,
      status.outcome,
      status.revision,
      status.verifiedAt !== undefined,
    ]),
    [
      ['edge-01', 'Merged', 'v1', true],
      ['edge-02', 'Merged', 'v1', true],
      ['edge-03', 'Merged', 'v1', true],
    ],
  )
  assert.deepEqual(proposed(world), [])
  // The reports then name the published revision.
  await world.scan()
  assert.deepEqual((await world.scan()).updates, [])
})

test('a merge decides every cluster even when each is observed in its own turn', async () => {
  const { world, branch } = await joined(3)
  world.merge(branch)
  world.sync()
  for (const index of [2, 0, 1]) await world.scanOne(index)
  assert.deepEqual(
    (await world.closed()).map(({ status }) => [status.outcome, status.revision]).sort(),
    [
      ['Merged', 'v1'],
      ['Merged', 'v1'],
      ['Merged', 'v1'],
    ],
  )
})

test('a close silences every cluster, even those observed later', async () => {
  const { world, branch } = await joined(3)
  world.close(branch)
  for (const index of [1, 0, 2]) await world.scanOne(index)
  assert.deepEqual(
    (await world.closed()).map(({ status }) => status.outcome),
    ['Declined', 'Declined', 'Declined'],
  )
  const { updates } = await world.scan()
  assert.deepEqual(updates, [])
  assert.equal(open(world).length, 0)
})

test('a healed cluster leaves, and the others stay', async () => {
  const { world, branch } = await joined(4)
  world.sync([world.cluster(0)])
  const plan = plans(await world.scan()).get('edge-01')
  assert.equal(plan?.report.status.state, 'InSync')
  assert.deepEqual(proposed(world), [branch])
  assert.deepEqual(records(world, branch), ['edge-02', 'edge-03', 'edge-04'])
  assert.equal(open(world).length, 1)
  assert.match(open(world)[0]?.title ?? '', /in 3 clusters/)
  assert.equal((await world.closed())[0]?.status.outcome, 'Healed')
})

test('when the first cluster heals in its own turn, its record goes and the pull request stays', async () => {
  const { world, branch } = await joined(4)
  world.sync([world.cluster(0)])
  await world.scanOne(0)
  assert.deepEqual(proposed(world), [branch])
  assert.deepEqual(records(world, branch), ['edge-02', 'edge-03', 'edge-04'])
  assert.equal(open(world).length, 1)
  await world.scan()
  assert.match(open(world)[0]?.title ?? '', /in 3 clusters/)
})

test('when all clusters heal, the pull request is closed with its branch', async () => {
  const { world } = await joined(3)
  world.sync()
  await world.scan()
  assert.deepEqual(proposed(world), [])
  assert.deepEqual(
    (await world.closed()).map(({ status }) => status.outcome),
    ['Healed', 'Healed', 'Healed'],
  )
  assert.ok(world.forge.writes.includes('comment #1 outcome'))
})

test('a cluster whose drift changes gets its own pull request', async () => {
  const { world, branch } = await joined(4)
  world.edit([0], 7)
  await world.scan()
  assert.equal(open(world).length, 2)
  assert.deepEqual(records(world, branch).sort(), ['edge-02', 'edge-03', 'edge-04'])
  const own = proposed(world).find((name) => name !== branch) ?? ''
  assert.deepEqual(records(world, own), ['edge-01'])
})

test('an unobservable cluster keeps its record', async () => {
  const { world, branch } = await joined(3)
  const { identify } = world.cluster(1)
  world.cluster(1).identify = async () => {
    throw new Error('down')
  }
  const result = await world.scan()
  assert.deepEqual(
    result.notObserved.map(({ cluster }) => cluster),
    ['edge-02'],
  )
  assert.deepEqual(records(world, branch), ['edge-01', 'edge-02', 'edge-03'])
  assert.match(open(world)[0]?.body ?? '', /`edge-02`.*not observed/)
  world.cluster(1).identify = identify
  await world.scan()
  assert.doesNotMatch(open(world)[0]?.body ?? '', /not observed/)
})

test('a new plan applies to all clusters, whichever it was chosen in', async () => {
  const { world, branch } = await joined(3)
  await world.scanOne(1, {
    resolutionRequest: { resolution: 'Adopt', selectors: [], message: 'peak season' },
  })
  assert.deepEqual(proposed(world), [branch])
  assert.match(world.repository.text(branch, 'apps/web/deployment.yaml') ?? '', /replicas: 5/)
  for (const path of world.repository
    .paths(branch)
    .filter((name) => name.startsWith('.drift/records/')))
    assert.match(world.repository.text(branch, path) ?? '', /plan: Adopt/, path)
  assert.match(open(world)[0]?.title ?? '', /^fix\(drift\): adopt Deployment\/web in 3 clusters/)
  for (const [, plan] of plans(await world.scan())) assert.equal(plan.record?.spec.plan, 'Adopt')
  for (const index of [0, 1, 2]) assert.deepEqual((await world.scanOne(index)).outcome, 'unchanged')
  assert.deepEqual((await world.scan()).updates, [])
  world.merge(branch)
  await world.scan()
  assert.deepEqual(
    (await world.closed()).map(({ status }) => [status.outcome, status.verifiedAt !== undefined]),
    [
      ['Merged', true],
      ['Merged', true],
      ['Merged', true],
    ],
  )
})

test('when the base moves, the branch is rebuilt once', async () => {
  const { world, branch } = await joined(3)
  const before = world.repository.head(branch)
  world.repository.commitByHand('main', { 'apps/web/notes.txt': 'new' })
  await world.scan()
  assert.notEqual(world.repository.head(branch), before)
  assert.deepEqual((await world.scan()).updates, [])
})

test('a branch with a foreign commit is left alone', async () => {
  const { world, branch } = await joined(3)
  world.repository.commitByHand(branch, { 'apps/web/notes.txt': 'mine' })
  const head = world.repository.head(branch)
  world.edit([0], 9)
  await world.scan()
  assert.equal(world.repository.head(branch), head)
})

/** Somebody with write access takes clusters out, by a comment that the turn of one cluster answers. */
async function exclude(world: FleetWorld, cluster: number, glob: string): Promise<void> {
  world.forge.permissions.set('ada', 'write')
  const { number = 0 } = world.forge.proposals.find(({ state }) => state === 'open') ?? {}
  world.forge.comment(number, 'ada', `/exclude ${glob}`)
  await world.scanOne(cluster, { requestedActions: NO_REQUESTED_ACTIONS })
}

test('excluded clusters get their own pull requests and stay excluded', async () => {
  const { world, branch } = await joined(5)
  await exclude(world, 3, 'edge-0[15]')
  assert.deepEqual(records(world, branch).length, 5)
  await exclude(world, 3, 'edge-*1')
  assert.deepEqual(records(world, branch).sort(), ['edge-02', 'edge-03', 'edge-04', 'edge-05'])
  for (let turn = 0; turn < 3; turn += 1) await world.scan()
  assert.deepEqual(records(world, branch).sort(), ['edge-02', 'edge-03', 'edge-04', 'edge-05'])
  const own = proposed(world).find((name) => name !== branch) ?? ''
  assert.deepEqual(records(world, own), ['edge-01'])
  assert.equal(open(world).length, 2)
  assert.deepEqual((await world.scan()).updates, [])
})

test('the observed cluster can exclude itself', async () => {
  const { world, branch } = await joined(4)
  await exclude(world, 1, 'edge-02')
  assert.deepEqual(records(world, branch).sort(), ['edge-01', 'edge-03', 'edge-04'])
  await world.scanOne(0)
  await world.scanOne(1)
  await world.scan()
  assert.deepEqual(records(world, branch).sort(), ['edge-01', 'edge-03', 'edge-04'])
  assert.equal(open(world).length, 2)
  assert.deepEqual((await world.scan()).updates, [])
})
