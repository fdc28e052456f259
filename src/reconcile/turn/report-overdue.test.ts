/** What a proposal says, and whom it mentions, when nobody decides for a long time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'

const DAY = 24 * 60
const OWNERS =
  '* @org/everybody\n/apps/ ops@example.com\n/apps/web/deployment.yaml @ada @org/web ops@example.com\n'

async function opened(
  policy = '{mode: Propose}',
): Promise<{ world: TurnWorld; forge: MemoryForge }> {
  const world = new TurnWorld(policy, { CODEOWNERS: OWNERS })
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  return { world, forge }
}

function requested(forge: MemoryForge): readonly string[] {
  return forge.comments.flatMap(({ topic, body }) => (topic === 'overdue' ? [body] : []))
}

test('after the reminder, the file owners are mentioned once, and it is first on the dashboard', async () => {
  const { world, forge } = await opened()
  world.pass(7 * DAY)
  await world.plan()
  assert.deepEqual(requested(forge), [])
  assert.ok(forge.proposals[0]?.labels.includes('drift-state/stale'))
  assert.match(forge.proposals[0]?.body ?? '', /\*\*Waiting\*\* for a decision since/)
  assert.match(forge.issues.get('dashboard')?.body ?? '', /\*\*waits long\*\*/)
  world.pass(7 * DAY)
  await world.plan()
  const [body, ...more] = requested(forge)
  assert.deepEqual(more, [])
  assert.match(
    body ?? '',
    /longer than 14 days \(drift `[0-9a-f]{8}`\)\. @ada @org\/web, you own its files/,
  )
  assert.doesNotMatch(body ?? '', /everybody|ops@/)
  assert.ok(forge.proposals[0]?.labels.includes('drift-state/stale'))
  assert.match(forge.proposals[0]?.body ?? '', /\*\*Overdue:\*\* no decision for 14 days/)
  assert.match(forge.issues.get('dashboard')?.body ?? '', /\*\*no decision for 14 days\*\*/)
  const sent = [forge.writes.length, forge.issueWrites.length, world.repository.pushes.length]
  for (let turn = 0; turn < 5; turn += 1) await world.plan()
  assert.deepEqual(
    [forge.writes.length, forge.issueWrites.length, world.repository.pushes.length],
    sent,
  )
  world.pass(14 * DAY)
  await world.plan()
  assert.deepEqual(requested(forge), [body], 'not again')
  assert.match(forge.issues.get('dashboard')?.body ?? '', /\*\*no decision for 28 days\*\*/)
})

test('changed drift is escalated again in the same comment', async () => {
  const { world, forge } = await opened(
    '{mode: Propose, decide: {remindAfter: 1d, escalateAfter: 2d}}',
  )
  world.pass(2 * DAY)
  await world.plan()
  const [before] = requested(forge)
  world.edit(WEB, 'spec.replicas', 6)
  await world.plan()
  const [after, ...more] = requested(forge)
  assert.deepEqual(more, [])
  assert.notEqual(after, before)
  const drift = /\(drift `(\w+)`\)/
  assert.equal(after?.replace(drift, ''), before?.replace(drift, ''))
})

test('a crash before the escalation repeats it in the next turn; a snooze prevents it', async () => {
  const { world, forge } = await opened()
  world.pass(14 * DAY)
  forge.beforeWrite = (write) => {
    if (write.startsWith('comment')) throw new Error('killed')
  }
  await assert.rejects(world.plan())
  forge.beforeWrite = () => undefined
  await world.plan()
  assert.equal(requested(forge).length, 1)

  const other = await opened()
  other.forge.permissions.set('ada', 'write')
  other.forge.comment(1, 'ada', '/snooze 10w')
  const { report } = await other.world.plan({ requestedActions: NO_REQUESTED_ACTIONS })
  assert.equal(report.status.snoozedUntil, '2027-01-30T10:00:00Z')
  other.world.pass(20 * DAY)
  await other.world.plan()
  assert.deepEqual(requested(other.forge), [])
})

test('the riskiest proposal comes first, and a waiting one is marked in its place', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/old/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: old}\n',
    'apps/old/config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old, namespace: shop}\ndata: {color: blue}\n',
  })
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  world.forge = forge
  world.edit('/ConfigMap/shop/old', 'data.color', 'red')
  await world.scan()
  world.pass(14 * DAY)
  world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'nginx:1.28')
  await world.scan()
  const rows = (forge.issues.get('dashboard')?.body ?? '')
    .split('\n')
    .filter((line) => line.includes('pulls/'))
  assert.deepEqual(
    rows.map((row) => /`apps\/\w+`/.exec(row)?.[0]),
    ['`apps/web`', '`apps/old`'],
  )
  assert.match(rows[1] ?? '', /no decision for 14 days/)
})

test('a proposal of many clusters is escalated once and labelled', async () => {
  const world = new FleetWorld(3)
  world.forge.now = () => world.cluster(0).now
  world.edit([0, 1, 2], 5)
  await world.scan()
  world.pass(14 * DAY)
  await world.scan()
  await world.scan()
  assert.equal(world.forge.proposals.length, 1)
  assert.equal(requested(world.forge).length, 1)
  assert.ok(world.forge.proposals[0]?.labels.includes('drift-state/stale'))
  assert.match(world.forge.proposals[0]?.body ?? '', /\*\*Overdue:\*\*/)
})

test('values from a cluster never decide who is mentioned', async () => {
  const { world, forge } = await opened()
  world.edit(WEB_CONFIG, 'data.color', '@all @org/web2')
  world.pass(14 * DAY)
  await world.plan()
  assert.deepEqual([...new Set(requested(forge).join('').match(/@\S*/g))], ['@ada', '@org/web,'])
})
