/** `controller --dry-run` reports what a real turn would write, once while it stays, and writes nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { mergeByHand, TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { createAppliedTransition } from '../controller/transitions.ts'

const NOTHING = (): void => undefined

function hostedWorld(policy = '{mode: Propose}'): {
  readonly world: TurnWorld
  readonly forge: MemoryForge
} {
  const world = new TurnWorld(policy)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  return { world, forge }
}

/** All that a turn could write to: git, the forge, the cluster. */
async function everything({ world, forge }: ReturnType<typeof hostedWorld>): Promise<string> {
  const { refs } = await world.repository.listRefs()
  const hosted = [
    forge.proposals,
    forge.comments,
    [...forge.statuses],
    [...forge.issues],
    forge.writes,
  ]
  return JSON.stringify([[...refs], hosted, world.cluster.writes])
}

const actionsOf = (stderr: string): unknown[] =>
  logEvents(stderr, 'plan').map(({ actions }) => actions)
const withoutIds = (lists: unknown[]): string =>
  JSON.stringify(lists).replace(/drift-[0-9a-f]{8}/g, 'drift-ID')

test('reports each planned write to git and forge once, and a real run then makes them', async () => {
  const context = hostedWorld()
  const { world } = context
  world.edit(WEB, 'spec.replicas', 5)
  const before = await everything(context)
  const { code, stdout, stderr } = await runInWorld(world, ['controller', '--dry-run'], {
    waits: [
      NOTHING,
      NOTHING,
      () => world.edit(WEB, 'spec.replicas', 3),
      NOTHING,
      () => world.edit(WEB, 'spec.replicas', 5),
      NOTHING,
    ],
  })
  assert.deepEqual([code, stdout, await everything(context)], [0, '', before])
  const lists = actionsOf(stderr)
  const [drifted, inSync, again, ...more] = lists.map((list) =>
    JSON.stringify(list).replace(/drift-[0-9a-f]{8}/g, 'drift-ID'),
  )
  assert.deepEqual(more, [], stderr)
  const branch = 'proposed/apps/web/drift-ID'
  const ofDrift = [
    `create branch ${branch}`,
    'create branch drift-ledger',
    `open a pull request from ${branch}: "chore(drift): restore Deployment/web replicas to 3 in prod (live 5)" (labels: drift, drift-plan/restore, drift-risk/medium)`,
    `set the commit statuses of ${branch}: drift/fresh success, drift/render success, drift/policy success, drift/applier success`,
    'write the issue dashboard',
  ]
  assert.deepEqual(JSON.parse(drifted ?? ''), ofDrift)
  assert.deepEqual(JSON.parse(again ?? ''), ofDrift)
  assert.notEqual(inSync, drifted)
  assert.deepEqual(
    logEvents(stderr, 'turn').map(({ outcome, writes, transitions }) => [
      outcome,
      writes,
      transitions,
    ]),
    [5, 5, 5, 1, 1, 5, 5].map((writes) => ['succeeded', writes, 0]),
  )
  assert.equal(logEvents(stderr, 'started')[0]?.['dryRun'], true)
  const real = await runInWorld(world, ['controller'], { waits: [] })
  assert.deepEqual(actionsOf(real.stderr), [])
  assert.equal(logEvents(real.stderr, 'turn')[0]?.['writes'], 5)
  assert.notEqual(await everything(context), before)
})

test('the text output equals that of scan --dry-run', async () => {
  const scanned = hostedWorld()
  const watched = hostedWorld()
  for (const { world } of [scanned, watched]) world.edit(WEB, 'spec.replicas', 5)
  const scan = (await runInWorld(scanned.world, ['scan', '--dry-run'])).stdout
  const lines = scan.slice(scan.indexOf('dry run: '))
  assert.match(lines, /^dry run: nothing is written\. A real run would now:\n {2}create branch/)
  const { stderr } = await runInWorld(
    watched.world,
    ['controller', '--dry-run', '--log-format', 'text'],
    { waits: [NOTHING, NOTHING] },
  )
  assert.ok(stderr.includes(`2026-11-21T10:01:00Z  ${lines}`), `${stderr}\n${lines}`)
  assert.equal(stderr.split('dry run: nothing is written').length, 2)
})

test('reports an authorised write to the cluster without making it', async () => {
  const context = hostedWorld('{mode: Propose, settle: backporch}')
  const { world, forge } = context
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  await world.scan()
  const before = await everything(context)
  const dry = await runInWorld(world, ['controller', '--dry-run'], { waits: [NOTHING, NOTHING] })
  assert.equal(await everything(context), before)
  const lists = actionsOf(dry.stderr)
  assert.equal(lists.length, 1, withoutIds(lists))
  assert.match(withoutIds(lists), /"apply 1 approved change of drift-ID to prod"/)
  assert.equal(world.cluster.writes.length, 0)
  await runInWorld(world, ['controller'], { waits: [] })
  assert.ok(world.cluster.writes.length > 0, 'a real run writes it')
})

test('logs why an approved change could not be written to the cluster', async () => {
  const { world, forge } = hostedWorld('{mode: Propose, settle: backporch}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  await world.scan()
  const openWriter = (): Promise<never> => {
    throw new Failure({
      code: 'BP3003',
      what: 'no writes',
      why: 'the role is read-only',
      remedy: 'allow patch',
    })
  }
  const { stderr } = await runInWorld(world, ['controller'], { waits: [], openWriter })
  assert.deepEqual(
    logEvents(stderr, 'failure').map(({ code, what }) => [code, what]),
    [['BP3003', 'no writes']],
  )
})

test('approved changes that were written to a cluster are an event with their package and episode', async () => {
  const { world } = hostedWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const { record } = await world.plan()
  assert.ok(record)
  const pending = {
    cluster: 'prod',
    packagePath: 'apps/web',
    record,
    commit: record.spec.unit.commit as ObjectId,
  }
  assert.deepEqual(createAppliedTransition({ pending, result: { writes: 1, handedOver: 0 } }), {
    outcome: 'applied',
    cluster: 'prod',
    package: 'apps/web',
    episode: record.metadata.name,
    detail: `sent 1 write to prod for 1 approved change (${record.metadata.name})`,
  })
})
