/** A dry run names every write that the run after it makes, and makes none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import {
  CONFIG,
  DEPLOYMENT,
  KPTFILE,
  mergeByHand,
  TurnWorld,
  WEB,
  WEB_CONFIG,
} from '../../../test/fakes/turn-world.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'
import { runFleetTurn } from './run-turn.ts'

async function written(world: TurnWorld, forge: MemoryForge): Promise<readonly string[]> {
  const refs = JSON.stringify([...world.repository.branches])
  forge.writeCount.dryRun = true
  const rehearsal = await world.scan({
    dryRun: true,
    rehearses: true,
    requestedActions: NO_REQUESTED_ACTIONS,
  })
  forge.writeCount.dryRun = false
  assert.deepEqual([rehearsal.updates, JSON.stringify([...world.repository.branches])], [[], refs])
  world.pass(-1)
  const run = await world.scan({ requestedActions: NO_REQUESTED_ACTIONS })
  assert.deepEqual(rehearsal.written, run.written)
  return run.written
}

test('a drifted unit: lists branch, ledger, pull request, statuses and dashboard in run order', async () => {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  const first = await written(world, forge)
  assert.match(
    first.join('\n'),
    /^create branch proposed\/apps\/web\/drift-[0-9a-f]{8}\ncreate branch drift-ledger\n/,
  )
  assert.deepEqual(
    first.slice(2).map((line) => line.replace(/proposed[^\s:]+/, 'BRANCH')),
    [
      'open a pull request from BRANCH: "chore(drift): restore Deployment/web replicas to 3 in prod (live 5)" (labels: drift, drift-plan/restore, drift-risk/medium)',
      'set the commit statuses of BRANCH: drift/fresh success, drift/render success, drift/policy success, drift/applier success',
      'write the issue dashboard',
    ],
  )
  assert.deepEqual(await written(world, forge), [])
})

test('lists the writes when drift changes, is decided and ends', async () => {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.edit(WEB, 'spec.replicas', 6)
  assert.match(
    (await written(world, forge)).join('\n'),
    /^update pull request #1: "chore.* \(live 6\)" \(labels: drift, drift-plan\/restore, drift-risk\/medium\)$/m,
  )
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  assert.ok((await written(world, forge)).includes('create tag apps/web/v1'))
  world.sync()
  assert.ok((await written(world, forge)).includes('write the outcome comment on #1'))
  assert.deepEqual(await written(world, forge), [])
})

test('lists the writes of commands in comments', async () => {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  forge.comment(1, 'ada', '/adopt')
  const adopted = await written(world, forge)
  assert.match(
    adopted.join('\n'),
    /^update pull request #1: "fix.*replicas 5.*" \(labels: drift, drift-plan\/adopt, drift-risk\/medium\)$/m,
  )
  assert.equal(adopted.at(-1), 'answer commands on #1')
  forge.comment(1, 'ada', '/adopt 9')
  assert.deepEqual(await written(world, forge), ['answer commands on #1'])
  forge.comment(1, 'ada', '/ignore 1 -- KEDA')
  assert.deepEqual(await written(world, forge), [
    'open a pull request that changes the policy (ignore)',
    'answer commands on #1',
  ])
})

test('a proposal with a note on impossible Adopts is unchanged in a dry run', async () => {
  const setters =
    'image: ghcr.io/kptdev/krm-functions-catalog/apply-setters:v0.2.0\n    configMap: {color: blue}'
  const world = new TurnWorld(undefined, {
    'apps/web/Kptfile': `${KPTFILE}pipeline:\n  mutators:\n  - ${setters}\n`,
    'apps/web/deployment.yaml': DEPLOYMENT.replace(
      'value: blue',
      'value: blue # kpt-set: ${color}',
    ),
    'apps/web/config.yaml': CONFIG.replace('color: blue', 'color: blue # kpt-set: ${color}'),
  })
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.scan()
  assert.match(forge.proposals[0]?.body ?? '', /setter color/)
  assert.deepEqual(await written(world, forge), [])
})

test('a write to the cluster that a merge authorises comes last and is listed beforehand', async () => {
  const world = new TurnWorld('{mode: Propose, settle: backporch}')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  await world.scan()
  const opened: string[] = []
  const openWriter = async (cluster: string) => {
    opened.push(cluster)
    const write = async (change: ApprovedWrite): Promise<void> => {
      world.cluster.writes.push(change)
      world.edit(WEB, 'spec.replicas', 3, world.syncer)
    }
    return { writer: { write }, close: () => opened.push('closed') }
  }
  const fleet = { ...world.ports, clusters: [world.cluster], openWriter }
  const { signal } = new AbortController()
  forge.writeCount.dryRun = true
  const rehearsal = await runFleetTurn(
    fleet,
    world.request({ dryRun: true, rehearses: true }),
    signal,
  )
  forge.writeCount.dryRun = false
  assert.match(
    rehearsal.written.at(-1) ?? '',
    /^apply 1 approved change of drift-[0-9a-f]{8} to prod$/,
  )
  assert.deepEqual([opened, world.cluster.writes, rehearsal.settled], [[], [], []])
  assert.deepEqual((await world.scan({ dryRun: true, rehearses: false })).written, [])
  const run = await runFleetTurn(fleet, world.request(), signal)
  assert.deepEqual(run.written, rehearsal.written)
  assert.deepEqual(
    [opened, world.cluster.writes.length, run.unsettled],
    [['prod', 'closed'], 1, []],
  )
  assert.deepEqual(
    run.settled.map(({ result }) => result),
    [{ writes: 1, handedOver: 0 }],
  )
  assert.deepEqual((await runFleetTurn(fleet, world.request(), signal)).settled, [], 'once')
})
