/** Once a newer content was seen live, older content through the syncer's manager is drift; and a syncer that never comes is stuck. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../fakes/cli-world.ts'
import { A, RolloutWorld } from './rollout-world.ts'

const V1 = { a: { color: 'blue', size: '1' }, b: { x: '1' } }
const V2 = { a: { color: 'red', size: '1' }, b: { x: '2' } }
const V3 = { a: { color: 'red', size: '3' }, b: { x: '2' } }
const DAY = 24 * 60

/** v1 and then v2, each applied and seen. */
async function atTwo(): Promise<{ world: RolloutWorld; commits: readonly string[] }> {
  const world = new RolloutWorld(V1)
  const first = world.repository.branches.get('refs/heads/main') ?? ''
  world.apply(V1)
  assert.equal((await world.observed()).state, 'InSync')
  const second = world.commit(V2)
  assert.equal((await world.observed()).state, 'Behind')
  world.apply(V2)
  assert.equal((await world.observed()).state, 'InSync')
  return { world, commits: [first, second] }
}

test("reports an older commit by the syncer's manager after 50 days in sync as RolledBack, with actor, time and commits", async () => {
  const { world, commits } = await atTwo()
  world.pass(50 * DAY)
  assert.equal((await world.observed()).state, 'InSync')
  world.pass(DAY)
  const at = world.cluster.now
  world.apply(V1)
  const { state, changes, waits, report } = await world.observed()
  assert.deepEqual(
    { state, changes, waits },
    { state: 'Drifted', changes: ['a data.color rolled back', 'b data.x rolled back'], waits: [] },
  )
  const [change] = report.spec.changes
  assert.deepEqual([change?.actor.manager, change?.actor.at], [world.syncer, at])
  assert.deepEqual([change?.rolledBack?.commit, change?.rolledBack?.seen?.commit], commits)
  assert.match(
    change?.notes?.join() ?? '',
    /^rolled back: live is what [0-9a-f]{7} rendered, although [0-9a-f]{7} was live until 20/,
  )
  const again = await world.observed()
  assert.deepEqual(again.report.spec.changes, report.spec.changes)
})

test('waits for the applier of an object that a merge adds at five scans within the hour', async () => {
  const world = new RolloutWorld({ a: V1.a })
  world.apply({ a: V1.a })
  await world.observed()
  world.commit(V1)
  for (let scan = 1; scan <= 5; scan += 1) {
    world.pass(10)
    const { state, changes, waits } = await world.observed()
    assert.deepEqual(
      { state, changes, waits },
      { state: 'Behind', changes: [], waits: ['Behind b'] },
      `scan ${scan}`,
    )
  }
  world.pass(20)
  assert.deepEqual((await world.observed()).changes, ['b missing'])
})

test('stays rolled back for a fresh clone, and when git moves on', async () => {
  const { world } = await atTwo()
  world.apply(V1)
  await world.observed()
  world.commit(V3)
  const { changes, waits } = await world.observed()
  // What only the third commit brought nobody ever applied.
  assert.deepEqual(
    { changes, waits },
    {
      changes: ['a data.color rolled back', 'b data.x rolled back'],
      waits: ['Behind a data.size'],
    },
  )
  world.pass(3 * DAY)
  assert.deepEqual((await world.observed()).changes, [
    'a data.color rolled back',
    'b data.x rolled back',
  ])
})

test('rolls back one object alone and not the other', async () => {
  const { world } = await atTwo()
  world.apply(V1, { only: 'b' })
  assert.deepEqual((await world.observed()).changes, ['b data.x rolled back'])
})

test('an object that alone got the newer commit is rolled back, and the other is only behind', async () => {
  const world = new RolloutWorld(V1)
  world.apply(V1)
  await world.observed()
  world.commit(V2)
  world.apply(V2, { only: 'a' })
  assert.deepEqual((await world.observed()).waits, ['Behind b data.x'])
  world.apply(V1, { only: 'a' })
  const { changes, waits } = await world.observed()
  assert.deepEqual(
    { changes, waits },
    { changes: ['a data.color rolled back'], waits: ['Behind b data.x'] },
  )
})

test('detects a rollback although git moved on and its report is gone', async () => {
  const world = new RolloutWorld(V1)
  world.apply(V1)
  await world.observed()
  world.commit(V2)
  world.apply(V2, { only: 'a' })
  await world.observed()
  world.commit(V3)
  assert.deepEqual((await world.observed()).waits, ['Behind a data.size', 'Behind b data.x'])
  world.apply(V1, { only: 'a' })
  const { changes, waits } = await world.observed()
  assert.deepEqual(
    { changes, waits },
    { changes: ['a data.color rolled back'], waits: ['Behind a data.size', 'Behind b data.x'] },
  )
})

test('reports a removed field and object and a restored older object as rolled back', async () => {
  const world = new RolloutWorld({ a: { color: 'blue' } })
  world.apply({ a: { color: 'blue' } })
  await world.observed()
  world.commit({ a: { color: 'blue', size: '1' }, b: { x: '1' } })
  world.apply({ a: { color: 'blue', size: '1' }, b: { x: '1' } })
  assert.equal((await world.observed()).state, 'InSync')
  world.pass(1)
  world.apply({ a: { color: 'blue' } })
  assert.deepEqual((await world.observed()).changes, ['a data.size rolled back', 'b missing'])
})

test('a field that a person removes is no rollback', async () => {
  const world = new RolloutWorld({ a: { color: 'blue' } })
  world.apply({ a: { color: 'blue' } })
  await world.observed()
  world.commit({ a: { color: 'blue', size: '1' } })
  world.apply({ a: { color: 'blue', size: '1' } })
  assert.equal((await world.observed()).state, 'InSync')
  world.cluster.change(A, (live) => ({ ...live, data: { color: 'blue' } }))
  assert.deepEqual((await world.observed()).changes, ['a data.size'])
})

test('when v3 restores v1, live v1 is in sync, and v2 applied later is rolled back', async () => {
  const { world } = await atTwo()
  world.commit(V1)
  assert.equal((await world.observed()).state, 'Behind')
  world.apply(V1)
  assert.equal((await world.observed()).state, 'InSync')
  world.apply(V2)
  assert.deepEqual((await world.observed()).changes, [
    'a data.color rolled back',
    'b data.x rolled back',
  ])
})

/** Content that git has, leaves and takes back, each applied to the cluster only where a test says so. */
const [FIRST, AGAIN] = [
  { a: { x: '1' }, b: { x: '1' } },
  { a: { x: '3', y: '3' }, b: { x: '3', y: '2' } },
] as const

test('content between two equal commits is a rollback once the later one was seen in sync', async () => {
  const world = new RolloutWorld(FIRST)
  world.apply(FIRST)
  world.pass(1)
  world.commit(AGAIN)
  assert.equal((await world.observed()).state, 'Behind')
  world.pass(1)
  world.commit(FIRST)
  world.pass(1)
  world.apply(AGAIN)
  const newest = world.commit(AGAIN)
  assert.equal((await world.observed()).state, 'InSync')
  world.pass(1)
  world.apply(FIRST)
  const { state, changes, waits, report } = await world.observed()
  const rolledBack = [
    'a data.x rolled back',
    'a data.y rolled back',
    'b data.x rolled back',
    'b data.y rolled back',
  ]
  assert.deepEqual({ state, changes, waits }, { state: 'Drifted', changes: rolledBack, waits: [] })
  assert.equal(report.spec.changes[0]?.rolledBack?.seen?.commit, newest)
  assert.deepEqual((await world.observed()).changes, rolledBack)
})

test('a late apply of a commit that git left between two scans is behind', async () => {
  const world = new RolloutWorld(FIRST)
  world.pass(1)
  world.commit(AGAIN)
  world.apply(AGAIN)
  assert.equal((await world.observed()).state, 'InSync')
  world.pass(1)
  world.commit(FIRST)
  world.pass(1)
  world.commit(AGAIN)
  world.pass(1)
  world.apply(FIRST)
  assert.deepEqual((await world.observed()).waits, ['Behind a data.x', 'Behind b data.x'])
})

test('a hand edit of a rolled-back object is a separate difference, and the rollback stays reported', async () => {
  const { world } = await atTwo()
  world.apply(V1)
  world.hand(A, 'data.size', '9')
  assert.deepEqual((await world.observed()).changes, [
    'a data.color rolled back',
    'a data.size',
    'b data.x rolled back',
  ])
})

test('nothing is rolled back once git adopts what runs', async () => {
  const { world } = await atTwo()
  world.apply(V1)
  const { record } = await world.resolutionRequest('Adopt')
  assert.equal(record?.spec.plan, 'Adopt')
  await world.approve()
  assert.match(world.repository.text('main', 'apps/web/a.yaml') ?? '', /blue/)
  const { state, changes } = await world.observed()
  assert.deepEqual({ state, changes }, { state: 'InSync', changes: [] })
})

test('a decided Restore is Applying, and done when the syncer applied git', async () => {
  const { world } = await atTwo()
  world.apply(V1)
  await world.resolutionRequest('Restore')
  await world.approve()
  assert.equal((await world.observed()).state, 'Applying')
  world.apply(V2)
  assert.equal((await world.observed()).state, 'InSync')
})

test('an outage does not forget what was live before', async () => {
  const { world } = await atTwo()
  world.cluster.unreadable.add(A)
  assert.equal((await world.observed()).state, 'Unknown')
  world.cluster.unreadable.clear()
  world.apply(V1)
  assert.deepEqual((await world.observed()).changes, [
    'a data.color rolled back',
    'b data.x rolled back',
  ])
})

test('recognises equal contents under other commits after a history rewrite', async () => {
  const { world } = await atTwo()
  const main = 'refs/heads/main'
  const paths = [
    'apps/web/Kptfile',
    'apps/web/deployment.yaml',
    'apps/web/config.yaml',
    '.drift/policy.yaml',
    '.drift/at-once.yaml',
  ]
  const files = Object.fromEntries(
    paths.map((path) => [path, world.repository.text('main', path) ?? '']),
  )
  const at = world.clock - 600
  world.repository.branches.delete(main)
  world.repository.commitByHand('main', files, { at, author: 'eve@example.com' })
  world.commit(V1, at + 1)
  world.commit(V2, at + 2)
  assert.equal((await world.observed()).state, 'InSync')
  world.apply(V1)
  assert.deepEqual((await world.observed()).changes, [
    'a data.color rolled back',
    'b data.x rolled back',
  ])
})

test('after a forced reset, what was live is not in git, so older content is only behind', async () => {
  const world = new RolloutWorld(V1)
  const main = 'refs/heads/main'
  const first = world.repository.branches.get(main)
  world.apply(V1)
  await world.observed()
  const second = world.commit(V2)
  world.commit(V3)
  world.apply(V3)
  assert.equal((await world.observed()).state, 'InSync')
  assert.ok(first !== undefined)
  world.repository.branches.set(main, second as typeof first)
  world.apply(V1)
  const { state, waits } = await world.observed()
  assert.deepEqual(
    { state, waits },
    { state: 'Behind', waits: ['Behind a data.color', 'Behind b data.x'] },
  )
  world.pass(61)
  assert.notEqual((await world.observed()).report.status.stuckSince, undefined)
})

test('a syncer that does not apply within the hour is stuck with exit 1, and recovers without a trace', async () => {
  const world = new RolloutWorld(V1)
  world.apply(V1)
  await world.observed()
  world.commit(V2)
  const since = world.cluster.now
  assert.equal((await runInWorld(world, ['diff', 'apps/web'])).code, 0)
  assert.equal((await world.observed()).report.status.stuckSince, undefined)
  world.pass(60)
  const diff = await runInWorld(world, ['diff', 'apps/web'])
  assert.equal(diff.code, 1)
  const limit = new Date(Date.parse(since) + 3_600_000).toISOString().replace('.000', '')
  assert.match(diff.stdout, new RegExp(`^Behind \\(stuck since ${limit}\\): live is what `, 'm'))
  const { report } = await world.observed()
  assert.deepEqual([report.status.state, report.status.stuckSince], ['Behind', limit])
  const status = await runInWorld(world, ['status'])
  assert.equal(status.code, 1)
  assert.match(status.stdout, /! Behind \(stuck since 2026-/)
  world.pass(DAY)
  const written = reportText(world)
  await world.observed()
  assert.equal(reportText(world), written, 'that it is stuck still is no news')
  assert.match(written ?? '', /stuckSince/)
  world.apply(V2)
  assert.equal((await world.observed()).report.status.stuckSince, undefined)
})

test('commits faster than the limit do not reset the time of a dead syncer', async () => {
  const world = new RolloutWorld(V1)
  world.apply(V1)
  await world.observed()
  for (let more = 0; more < 5; more += 1) {
    world.commit({ ...V1, b: { x: `1${more}` } })
    await world.observed()
    world.pass(20)
  }
  assert.notEqual((await world.observed()).report.status.stuckSince, undefined)
})

test('takes the limit from the policy', async () => {
  const world = new RolloutWorld(V1, undefined, '{mode: Propose, detect: {stuckAfter: 5m}}')
  world.apply(V1)
  await world.observed()
  world.commit(V2)
  await world.observed()
  world.pass(6)
  assert.notEqual((await world.observed()).report.status.stuckSince, undefined)
})

test('without a ledger, reports older content applied long after the newest commit, with exit 1', async () => {
  const world = new RolloutWorld(V1)
  world.commit(V2)
  world.pass(3 * DAY)
  world.apply(V1)
  const diff = await runInWorld(world, ['diff', 'apps/web'])
  assert.equal(diff.code, 1)
  assert.match(
    diff.stdout,
    /within 1h: it wrote the object at 2026-11-24T.*, so it reads an older commit, or somebody applied one under its name/,
  )
})

function reportText({ repository }: RolloutWorld): string {
  const path = repository.paths('drift-ledger').find((each) => each.endsWith('/report.yaml'))
  return repository.text('drift-ledger', path ?? '') ?? ''
}
