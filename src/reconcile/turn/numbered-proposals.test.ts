/** A pull request is found by its number, even if people renamed its branch or changed its base. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import { getPartAt, isJsonObject, type Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { mergeByHand, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'

interface Scene {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  /** Full ref name. */
  readonly ref: string
}

async function opened(): Promise<Scene> {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  const [proposal] = forge.proposals
  assert.ok(proposal)
  return { world, forge, ref: proposal.ref }
}

function documentOf({ repository }: TurnWorld, path: string): Json {
  return parseGoYaml(repository.text('drift-ledger', path) ?? '', path).documents[0]?.value ?? null
}

function closed(world: TurnWorld): readonly ClosedEpisode['status'][] {
  const paths = world.repository.paths('drift-ledger').filter((path) => path.startsWith('closed/'))
  return paths.map((path) => {
    const document = documentOf(world, path)
    assert.ok(isJsonObject(document))
    return (document as unknown as ClosedEpisode).status
  })
}

function kept({ world, ref }: Scene, field: 'pullRequest' | 'pullRequestUrl'): Json | undefined {
  return getPartAt(
    documentOf(world, `pushed/${ref.slice('refs/heads/'.length)}.yaml`),
    'spec',
    field,
  )
}

function numberKept(scene: Scene): Json | undefined {
  return kept(scene, 'pullRequest')
}

/** As a forge does it: the pull request goes with its branch. */
function rename({ world, forge, ref }: Scene, name: string): void {
  const { branches } = world.repository
  branches.set(`refs/heads/${name}`, branches.get(ref) as ObjectId)
  forge.byHand(1, { ref: `refs/heads/${name}` })
  branches.delete(ref)
}

describe('the number of a pull request', () => {
  it('is in the ledger after the turn that opened it, and the next turn writes nothing', async () => {
    const scene = await opened()
    assert.equal(numberKept(scene), 1)
    assert.equal(kept(scene, 'pullRequestUrl'), 'https://forge.example/pulls/1')
    assert.match(scene.world.repository.pushes.flat().at(-1)?.ref ?? '', /drift-ledger$/)
    const before = scene.world.repository.pushes.length
    await scene.world.scan()
    assert.equal(scene.world.repository.pushes.length, before)
  })

  it('gets its address when an earlier version stored only the number', async () => {
    const scene = await opened()
    const path = `pushed/${scene.ref.slice('refs/heads/'.length)}.yaml`
    const text = scene.world.repository.text('drift-ledger', path) ?? ''
    scene.world.repository.commitByHand('drift-ledger', {
      [path]: text.replace(/^ +pullRequestUrl: .*\n/m, ''),
    })
    assert.equal(kept(scene, 'pullRequestUrl'), undefined)
    await scene.world.scan()
    assert.equal(kept(scene, 'pullRequestUrl'), 'https://forge.example/pulls/1')
  })

  it('stays when the branch is recreated', async () => {
    const scene = await opened()
    scene.world.edit(WEB, 'spec.replicas', 7)
    await scene.world.scan()
    assert.equal(numberKept(scene), 1)
    assert.equal(scene.forge.proposals.length, 1)
  })

  it('is stored by the next turn if the process ended before that', async () => {
    const world = new TurnWorld()
    const forge = new MemoryForge(world.repository)
    world.forge = forge
    world.edit(WEB, 'spec.replicas', 5)
    forge.afterWrite = (write) => {
      if (write === 'open #1') throw new Error('the process ended')
    }
    await assert.rejects(world.scan())
    forge.afterWrite = () => undefined
    await world.scan()
    const ref = forge.proposals[0]?.ref ?? ''
    assert.equal(numberKept({ world, forge, ref }), 1)
    assert.equal(forge.proposals.length, 1)
  })
})

describe('a pull request whose branch was renamed', () => {
  it('stays open: nothing is proposed twice or silenced', async () => {
    const scene = await opened()
    rename(scene, 'my-fix')
    for (let turn = 0; turn < 2; turn += 1) {
      const { report, notes, outcome } = await scene.world.plan()
      assert.deepEqual([report.status.lifecycle, outcome], ['Proposed', 'foreign'])
      assert.match(notes.map(({ text }) => text).join(), /somebody renamed its branch to my-fix/)
    }
    assert.equal(scene.forge.proposals.length, 1)
    assert.deepEqual(closed(scene.world), [])
    assert.deepEqual(scene.world.repository.names(), ['my-fix'])
  })

  for (const gone of [false, true])
    it(`is declined by the person who closed it${gone ? ', even if the branch is gone' : ''}`, async () => {
      const scene = await opened()
      rename(scene, 'my-fix')
      await scene.world.scan()
      scene.forge.byHand(1, { state: 'closed', decidedBy: 'grace' })
      if (gone) scene.world.repository.branches.delete('refs/heads/my-fix')
      const { outcome } = await scene.world.plan()
      assert.equal(outcome, 'silenced')
      const [status] = closed(scene.world)
      assert.deepEqual(
        [status?.outcome, status?.decidedBy, status?.reason],
        ['Declined', 'grace', 'the proposal was closed'],
      )
      assert.equal(scene.forge.proposals.length, 1)
      assert.equal((await scene.world.plan()).outcome, 'silenced')
    })

  it('is declined even if a person committed to it', async () => {
    const scene = await opened()
    rename(scene, 'my-fix')
    scene.world.repository.commitByHand('my-fix', { 'apps/web/mine.yaml': 'a: 1\n' })
    scene.forge.byHand(1, {
      state: 'closed',
      decidedBy: 'grace',
      commit: scene.world.repository.head('my-fix'),
    })
    assert.equal((await scene.world.plan()).outcome, 'silenced')
    assert.equal(closed(scene.world)[0]?.decidedBy, 'grace')
  })

  it('is decided by a merge', async () => {
    const scene = await opened()
    rename(scene, 'my-fix')
    await mergeByHand(scene.world, 'my-fix')
    scene.forge.byHand(1, { state: 'merged', decidedBy: 'grace' })
    assert.equal((await scene.world.plan()).outcome, 'applying')
    assert.deepEqual(
      closed(scene.world).map(({ outcome, decidedBy }) => [outcome, decidedBy]),
      [['Merged', 'grace']],
    )
  })
})

describe('a pull request moved to another base', () => {
  it('is moved back, and no second one is opened', async () => {
    const { world, forge } = await opened()
    world.repository.branches.set('refs/heads/staging', world.repository.head('main'))
    forge.byHand(1, { baseBranch: 'staging' })
    await world.scan()
    assert.deepEqual(
      forge.proposals.map(({ baseBranch, state }) => [baseBranch, state]),
      [['main', 'open']],
    )
  })

  for (const gone of [false, true])
    it(`is declined by the person who closed it${gone ? ', even if the branch is gone' : ''}`, async () => {
      const { world, forge, ref } = await opened()
      forge.byHand(1, { baseBranch: 'staging', state: 'closed', decidedBy: 'grace' })
      if (gone) world.repository.branches.delete(ref)
      assert.equal((await world.plan()).outcome, 'silenced')
      assert.equal(closed(world)[0]?.decidedBy, 'grace')
      assert.equal(forge.proposals.length, 1)
    })

  for (const gone of [false, true])
    it(`decides nothing here if merged there${gone ? ', even if its branch is gone' : ''}`, async () => {
      const { world, forge, ref } = await opened()
      forge.byHand(1, { baseBranch: 'staging', state: 'merged', decidedBy: 'grace' })
      if (gone) world.repository.branches.delete(ref)
      const { report } = await world.plan()
      assert.equal(report.status.lifecycle, 'Proposed')
      assert.deepEqual(closed(world), [])
      assert.deepEqual(
        forge.proposals.map(({ state, baseBranch }) => [state, baseBranch]),
        [
          ['merged', 'staging'],
          ['open', 'main'],
        ],
      )
      const before = world.repository.pushes.length
      await world.scan()
      assert.equal(world.repository.pushes.length, before)
    })
})

describe('a stored number', () => {
  it('of an unrelated pull request, as after a forge migration, is ignored', async () => {
    const scene = await opened()
    const { world, forge, ref } = scene
    world.repository.branches.set('refs/heads/feature', world.repository.head('main'))
    forge.byHand(1, { ref: 'refs/heads/feature', commit: world.repository.head('main') })
    world.repository.branches.delete(ref)
    assert.equal((await world.plan()).outcome, 'silenced')
    assert.equal(closed(world)[0]?.reason, 'the branch was deleted')
  })
})
