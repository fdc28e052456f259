/** A plan is a value: it is printed as JSON, read back, and applied with the same result. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { openRecordedCluster } from '@backporch/cluster/recording'
import { LocalForge } from '@backporch/forge/local-forge'
import { Failure } from '@backporch/kyaml/failure'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { MemoryPorch } from '../../../test/fakes/memory-porch.ts'
import { BOT_EMAIL, MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { applyStored } from '../../../test/fakes/stored-plan.ts'
import { turnRequest } from '../../../test/fakes/turn-request.ts'
import {
  CONFIG,
  KPTFILE,
  mergeByHand,
  policyText,
  TurnWorld,
  WEB,
  WEB_CONFIG,
} from '../../../test/fakes/turn-world.ts'
import { DEMO_FILES } from '../../cli/demo/demo-package.ts'
import recordings from '../../cli/demo/recordings.json' with { type: 'json' }
import { DECISIONS, TIMES } from '../../cli/demo/story.ts'
import type { FleetPorts, TurnRequest } from '../observe/turn-request.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'
import { runFleetTurn } from './run-turn.ts'

/** The turn that is compared, at the end of a story that each call makes anew. */
interface Scene {
  readonly ports: FleetPorts & { readonly repository: MemoryRepository }
  readonly request: TurnRequest
  /** What the turn wrote elsewhere. */
  readonly others?: () => unknown
}

/** Everything that a turn may have written. */
function written({ ports: { repository, forge }, others }: Scene): unknown {
  const pages =
    forge instanceof MemoryForge
      ? [
          ...[forge.proposals, forge.comments, [...forge.statuses], [...forge.issues]],
          ...[forge.writes, forge.issueWrites, forge.conversation],
        ]
      : []
  return [repository.everything(), [...repository.branches], repository.pushes, pages, others?.()]
}

async function compare(scene: () => Promise<Scene>, kinds: readonly string[]): Promise<void> {
  const [plain, stored] = [await scene(), await scene()]
  const before = JSON.stringify(written(plain))
  assert.equal(JSON.stringify(written(stored)), before, 'the story is the same each time')
  const result = await runFleetTurn(plain.ports, plain.request, new AbortController().signal)
  const { actions, applied } = await applyStored(stored.ports, stored.request)
  assert.notEqual(JSON.stringify(written(plain)), before, 'the turn writes something')
  assert.deepEqual(written(stored), written(plain))
  const { updates, proposals, answers, settled, unsettled } = result
  assert.deepEqual(
    [applied.written, applied.reported, applied.updates, applied.proposals, applied.answers],
    [result.written, result.reported, updates, proposals, answers],
  )
  assert.deepEqual([applied.settled.length, applied.unsettled], [settled.length, unsettled])
  assert.deepEqual(
    [...applied.refused.values()],
    result.units.flatMap((unit) =>
      unit.state === 'planned' && unit.refused !== undefined ? [unit.refused] : [],
    ),
  )
  assert.deepEqual(
    kinds.filter((kind) => !JSON.stringify(actions).includes(`"kind":"${kind}"`)),
    [],
    'the plan has actions of these kinds',
  )
}

function sceneOf(world: TurnWorld, more: Pick<FleetPorts, 'openWriter'> = {}): Scene {
  world.pass(1)
  const { cluster, ...ports } = world.ports
  return {
    ports: { ...ports, clusters: [cluster], ...more },
    request: world.request({ requestedActions: NO_REQUESTED_ACTIONS }),
  }
}

function hosted(policy?: string, files?: Record<string, string>): [TurnWorld, MemoryForge] {
  const world = new TurnWorld(policy, files)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  return [world, forge]
}

async function opened(policy?: string): Promise<[TurnWorld, MemoryForge]> {
  const [world, forge] = hosted(policy)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  return [world, forge]
}

async function merge(world: TurnWorld, forge: MemoryForge): Promise<void> {
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
}

test('applies the stored plan of a drift with the same result as a turn', async () => {
  await compare(async () => {
    const [world] = hosted()
    world.edit(WEB, 'spec.replicas', 5)
    return sceneOf(world)
  }, ['push', 'propose', 'keep-numbers', 'issues'])
})

test('applies the stored plan of a merge', async () => {
  await compare(async () => {
    const [world, forge] = await opened()
    await merge(world, forge)
    return sceneOf(world)
  }, ['forge', 'push'])
})

test('applies the stored plan of a merge that backporch settles in the cluster', async () => {
  await compare(async () => {
    const [world, forge] = await opened('{mode: Propose, settle: backporch}')
    await merge(world, forge)
    await world.scan()
    const openWriter = async () => ({
      writer: {
        write: async (change: ApprovedWrite): Promise<void> => {
          world.cluster.writes.push(change)
          world.edit(WEB, 'spec.replicas', 3, world.syncer)
        },
      },
      close: () => undefined,
    })
    return { ...sceneOf(world, { openWriter }), others: () => world.cluster.writes }
  }, ['settle'])
})

for (const command of ['/adopt', '/adopt 9', '/ignore 1 -- KEDA'])
  test(`applies the stored plan of the command ${command}`, async () => {
    await compare(async () => {
      const [world, forge] = await opened()
      forge.permissions.set('ada', 'write')
      forge.comment(1, 'ada', command)
      return sceneOf(world)
    }, ['acknowledge', 'answer'])
  })

test('applies the stored plan of a policy whose change was merged', async () => {
  await compare(async () => {
    const [world, forge] = await opened()
    forge.permissions.set('ada', 'write')
    forge.comment(1, 'ada', '/ignore 1 -- KEDA')
    await world.scan({ requestedActions: NO_REQUESTED_ACTIONS })
    forge.byHand(2, { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
    return sceneOf(world)
  }, ['delete-branch'])
})

test('applies the stored plan of an approval through Porch', async () => {
  await compare(async () => {
    const world = new TurnWorld()
    world.edit(WEB, 'spec.replicas', 5)
    await world.scan()
    const porch = new MemoryPorch(world.repository)
    porch.approve('apps/web', porch.workspaces('proposed', 'apps/web')[0] ?? '')
    return sceneOf(world)
  }, ['land', 'push'])
})

const STORM =
  '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 3, stormShare: 0, digest: off}}'

/** Packages with a ConfigMap each, which differs in all of them. */
function packages(names: string, policy: string): TurnWorld {
  const files = [...names].flatMap((name) => [
    [`apps/${name}/Kptfile`, KPTFILE.replace('web', name)],
    [`apps/${name}/config.yaml`, CONFIG.replace('name: web', `name: ${name}`)],
  ])
  const [world] = hosted(policy, {
    ...Object.fromEntries(files),
    '.drift/at-once.yaml': policyText(policy).replace('name: test', 'name: zz-at-once'),
  })
  for (const name of names) world.edit(`/ConfigMap/shop/${name}`, 'data.color', 'red')
  return world
}

test('applies the stored plan of a storm and of its end', async () => {
  await compare(async () => sceneOf(packages('abcdefgh', STORM)), ['push', 'issues'])
  await compare(async () => {
    const world = packages('abcdefgh', STORM)
    await world.scan()
    world.sync()
    return sceneOf(world)
  }, ['push', 'forge'])
})

test('applies the stored plan of pushes that a rule rejects', async () => {
  const rule = new Failure({
    ...{ code: 'BP4002', what: 'the push was refused', why: 'a rule', remedy: 'allow it' },
    retry: 'on-change',
  })
  await compare(async () => {
    const world = packages('abcdefgh', STORM.replace('stormThreshold: 3', 'stormThreshold: 0'))
    world.edit(WEB_CONFIG, 'data.color', 'red')
    world.repository.beforePush = (updates) => {
      if (updates.some(({ ref }) => ref.includes('/apps/c/'))) throw rule
    }
    return sceneOf(world)
  }, ['push', 'propose'])
})

test('applies the stored plan of a joint proposal that supersedes single ones', async () => {
  await compare(async () => {
    const world = new FleetWorld(4)
    world.edit([0])
    await world.scan()
    world.edit([1])
    await world.scan()
    // The branch of the first is there, and the forge has lost its pull request.
    const [first] = world.forge.proposals
    assert.ok(first !== undefined)
    world.forge.proposals[0] = { ...first, number: 99, ref: 'refs/heads/other', state: 'closed' }
    world.edit([2])
    world.pass()
    const { repository, forge, clusters } = world
    return { ports: { repository, forge, clusters }, request: world.request() }
  }, ['push', 'propose', 'moved', 'issues'])
})

const folder = mkdtempSync(join(tmpdir(), 'stored-plan-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The packages and the recorded cluster of `backporch demo`. */
function demo(): Scene {
  for (const [path, value] of Object.entries({ ...recordings.schemas, ...recordings.drifted }))
    write(join(folder, path), JSON.stringify(value))
  const repository = new MemoryRepository()
  repository.commitByHand('main', DEMO_FILES, { at: Date.parse(TIMES.committed) / 1000 })
  return {
    ports: {
      repository,
      forge: new LocalForge(repository),
      clusters: [openRecordedCluster({ path: folder, observedAt: '' })],
    },
    request: demoRequest({}),
  }
}

function demoRequest(more: Partial<Parameters<typeof turnRequest>[0]>): TurnRequest {
  return turnRequest({
    clock: { now: () => new Date(TIMES.adopted) },
    key: createRedactionKey(new Uint8Array(32).fill(7)),
    bot: { email: BOT_EMAIL },
    renderer: new InProcessRenderer(),
    ...more,
  })
}

test('applies the stored plans of the demo and of an Adopt in it', async () => {
  await compare(async () => demo(), ['push'])
  await compare(async () => {
    const scene = demo()
    await runFleetTurn(scene.ports, scene.request, new AbortController().signal)
    const selectors = DECISIONS.adopt[2].split(',')
    const resolutionRequest = { resolution: 'Adopt', selectors, message: 'campaign week' } as const
    return { ...scene, request: demoRequest({ packages: ['apps/web'], resolutionRequest }) }
  }, ['push', 'propose'])
})
