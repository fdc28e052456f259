/** Decisions about a unit that could not be observed in the turn that finds them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { MemoryPorch } from '../../../test/fakes/memory-porch.ts'
import {
  KPTFILE,
  mergeByHand,
  policyText,
  proposed,
  refused,
  TurnWorld,
  WEB,
} from '../../../test/fakes/turn-world.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { type DriftReport, driftReportSchema } from '../../record/documents/drift-report.ts'
import { parseDocument } from '../../record/write-document.ts'

const PACKAGE = 'apps/web'

function closed({ repository }: TurnWorld): readonly ClosedEpisode[] {
  const paths = repository.paths('drift-ledger').filter((path) => path.startsWith('closed/'))
  return paths.map(
    (path) =>
      parseGoYaml(repository.text('drift-ledger', path) ?? '', path).documents[0]
        ?.value as unknown as ClosedEpisode,
  )
}

function statusOf({ repository }: TurnWorld): DriftReport['status'] {
  const path = 'clusters/prod/apps--web/report.yaml'
  return parseDocument(repository.text('drift-ledger', path) ?? '', driftReportSchema, path).status
}

interface Obstacle {
  readonly name: string
  /** The next turn does not observe the package. */
  set(world: TurnWorld): void
  lift(world: TurnWorld): void
  scan(world: TurnWorld): Promise<unknown>
}

const UNREADABLE = { 'apps/web/zz.yaml': 'a: [\n' }
const GONE = { 'apps/web/zz.yaml': null }
const OTHER_FUNCTION = `${KPTFILE}pipeline:\n  mutators:\n  - image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.5\n    configMap: {namespace: shop}\n`

const OBSTACLES: readonly Obstacle[] = [
  {
    name: 'with unreadable files',
    set: ({ repository }) => void repository.commitByHand('main', UNREADABLE),
    lift: ({ repository }) => void repository.commitByHand('main', GONE),
    scan: (world) => world.scan(),
  },
  {
    name: 'with an unavailable function',
    set: ({ repository }) =>
      void repository.commitByHand('main', { 'apps/web/Kptfile': OTHER_FUNCTION }),
    lift: ({ repository }) => void repository.commitByHand('main', { 'apps/web/Kptfile': KPTFILE }),
    scan: (world) => world.scan(),
  },
  {
    name: 'in an unreachable cluster',
    set: ({ cluster }) => {
      cluster.identify = async () => {
        throw new Failure({ code: 'BP3001', what: 'cannot read', why: 'refused', remedy: 'wait' })
      }
    },
    lift: ({ cluster }) => void Reflect.deleteProperty(cluster, 'identify'),
    scan: (world) => refused(world.scan(), 'BP3001'),
  },
]

async function withForge(): Promise<TurnWorld> {
  const world = new TurnWorld()
  world.forge = new MemoryForge(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  return world
}

function workspaceOf({ repository }: TurnWorld): string {
  const [workspace = ''] = new MemoryPorch(repository).workspaces('proposed', PACKAGE)
  assert.notEqual(workspace, '')
  return workspace
}

for (const { name, set, lift, scan } of OBSTACLES)
  describe(`a package ${name}`, () => {
    it('is silenced by a rejection through Porch, and its branch is deleted', async () => {
      const world = await proposed()
      const workspace = workspaceOf(world)
      set(world)
      new MemoryPorch(world.repository).reject(PACKAGE, workspace)
      await scan(world)
      const [episode] = closed(world)
      assert.deepEqual(
        [episode?.status.outcome, episode?.status.reason],
        ['Declined', 'the proposal was rejected through Porch'],
      )
      assert.deepEqual(world.repository.names(), [])
      const { state, lifecycle, plan, episode: open } = statusOf(world)
      assert.deepEqual([state, lifecycle, plan, open], ['Unknown', '', '', ''])
      const { pushes } = world.repository
      const before = pushes.length
      await scan(world)
      assert.equal(pushes.length, before, 'the second turn writes')
      lift(world)
      const { outcome } = await world.plan()
      assert.equal(outcome, 'silenced')
    })

    it('is decided by an approval through Porch, and the record lands', async () => {
      const world = await proposed()
      const workspace = workspaceOf(world)
      set(world)
      new MemoryPorch(world.repository).approve(PACKAGE, workspace, {})
      await scan(world)
      const [episode] = closed(world)
      assert.deepEqual(
        [episode?.status.outcome, episode?.status.publishedBy, episode?.status.revision],
        ['Merged', 'porch', 'v1'],
      )
      assert.equal(
        world.repository.paths('main').filter((path) => path.startsWith('.drift/records/')).length,
        1,
      )
      assert.equal(statusOf(world).lifecycle, '')
    })

    it('is decided by a manual merge, and its revision is tagged', async () => {
      const world = await proposed()
      const workspace = workspaceOf(world)
      set(world)
      await mergeByHand(world, `proposed/${PACKAGE}/${workspace}`)
      await scan(world)
      const [episode] = closed(world)
      assert.deepEqual([episode?.status.outcome, episode?.status.revision], ['Merged', 'v1'])
      assert.deepEqual(world.repository.names(), ['apps/web/v1'])
    })

    it('is silenced after its branch was deleted', async () => {
      const world = await proposed()
      const workspace = workspaceOf(world)
      set(world)
      world.repository.branches.delete(`refs/heads/proposed/${PACKAGE}/${workspace}`)
      await scan(world)
      assert.equal(closed(world)[0]?.status.reason, 'the branch was deleted')
      lift(world)
      const { outcome } = await world.plan()
      assert.equal(outcome, 'silenced')
    })

    it('is silenced after its pull request was closed, with a comment there', async () => {
      const world = await withForge()
      const { forge } = world
      assert.ok(forge)
      set(world)
      forge.byHand(1, { state: 'closed', decidedBy: 'Ada' })
      await scan(world)
      const [episode] = closed(world)
      assert.deepEqual([episode?.status.outcome, episode?.status.decidedBy], ['Declined', 'Ada'])
      assert.deepEqual(world.repository.names(), [])
    })

    it('keeps undecided proposals', async () => {
      const world = await proposed()
      const names = world.repository.names()
      set(world)
      await scan(world)
      assert.deepEqual(closed(world), [])
      assert.deepEqual(world.repository.names(), names)
      assert.equal(statusOf(world).lifecycle, 'Proposed')
    })
  })

describe('a package that does not render', () => {
  it('keeps a foreign commit on the rejected branch', async () => {
    const world = await proposed()
    const workspace = workspaceOf(world)
    world.repository.commitByHand('main', UNREADABLE)
    new MemoryPorch(world.repository).reject(PACKAGE, workspace)
    world.repository.commitByHand(`drafts/${PACKAGE}/${workspace}`, {
      'apps/web/mine.yaml': 'a: 1\n',
    })
    await world.scan()
    assert.deepEqual(world.repository.names(), [`drafts/${PACKAGE}/${workspace}`])
  })

  it('does not block decisions of other packages when its own push is rejected', async () => {
    const world = await proposed()
    const workspace = workspaceOf(world)
    world.repository.commitByHand('main', {
      ...UNREADABLE,
      'apps/shop/Kptfile': KPTFILE.replace('web', 'shop'),
      'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
      '.drift/policy.yaml': policyText('{mode: Propose}'),
    })
    new MemoryPorch(world.repository).reject(PACKAGE, workspace)
    world.repository.beforePush = (updates) => {
      if (updates.every(({ ref }) => !ref.includes('/apps/web/'))) return
      throw new Failure({ code: 'BP4002', what: 'refused', why: 'a rule', remedy: 'allow it' })
    }
    const { reported } = await world.scan()
    assert.deepEqual(
      reported.map(({ code }) => code),
      ['BP4002'],
    )
    const [draft, other, ...more] = world.repository.names()
    assert.deepEqual([draft, more], [`drafts/${PACKAGE}/${workspace}`, []])
    assert.match(other ?? '', /^proposed\/apps\/shop\/drift-/)
  })

  it('records no decision in a read-only turn', async () => {
    const world = await proposed()
    const workspace = workspaceOf(world)
    world.repository.commitByHand('main', UNREADABLE)
    new MemoryPorch(world.repository).reject(PACKAGE, workspace)
    const { plan } = await world.scan({ dryRun: true })
    assert.deepEqual(plan.decided, [])
    assert.deepEqual(closed(world), [])
  })
})
