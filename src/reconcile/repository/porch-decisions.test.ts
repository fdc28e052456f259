/** Decisions through Porch, over the turns of a repository in memory. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { MemoryPorch } from '../../../test/fakes/memory-porch.ts'
import { proposed, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'

const PACKAGE = 'apps/web'

function refusal(): Failure {
  return new Failure({
    code: 'BP4002',
    what: 'a rule refused the push',
    why: 'the branch is protected',
    remedy: 'exempt the account',
  })
}

function only(list: readonly string[]): string {
  assert.equal(list.length, 1, list.join())
  return list[0] ?? ''
}

function closed({ repository }: TurnWorld): readonly ClosedEpisode[] {
  const paths = repository.paths('drift-ledger').filter((path) => path.startsWith('closed/'))
  return paths.map(
    (path) =>
      parseGoYaml(repository.text('drift-ledger', path) ?? '', path).documents[0]
        ?.value as unknown as ClosedEpisode,
  )
}

function records({ repository }: TurnWorld): string[] {
  return repository.paths('main').filter((path) => path.startsWith('.drift/records/'))
}

async function assertQuiet(world: TurnWorld): Promise<void> {
  const { updates } = await world.plan()
  assert.deepEqual(updates, [], 'the next turn writes')
}

async function drafted(policy = '{mode: Warn}'): Promise<TurnWorld> {
  const world = new TurnWorld(policy)
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal((await world.plan()).outcome, 'created')
  return world
}

for (const copies of [false, true])
  describe(`an approval ${copies ? 'by commits of its own' : 'by a merge'}`, () => {
    it('is a decision by the tagger at the tagged commit, and the record lands on the base branch', async () => {
      const world = await proposed()
      const porch = new MemoryPorch(world.repository)
      const workspace = only(porch.workspaces('proposed', PACKAGE))
      const commit = porch.approve(PACKAGE, workspace, { copies })
      const { notes, outcome } = await world.plan()
      assert.equal(outcome, 'applying')
      assert.deepEqual(
        notes.map(({ text }) => text),
        [`${workspace} was approved through Porch as v1 by admin@example.com`],
      )
      const [episode, ...more] = closed(world)
      assert.deepEqual(more, [])
      assert.equal(episode?.status.outcome, 'Merged')
      assert.equal(episode.status.commit, commit)
      assert.equal(episode.status.revision, 'v1')
      assert.equal(episode.status.altered, undefined)
      assert.match(
        only(records(world)),
        new RegExp(`/prod/apps--web/\\d{8}-${workspace.slice(6)}\\.record$`),
      )
      assert.deepEqual(world.repository.names(), ['apps/web/v1'])
      await assertQuiet(world)
      world.sync()
      assert.equal((await world.plan()).report.status.state, 'InSync')
      assert.notEqual(closed(world)[0]?.status.verifiedAt, undefined)
      await assertQuiet(world)
    })
  })

describe('an approval', () => {
  it('of an earlier state is no decision on the last proposal, and remaining drift is proposed again', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    const cached = world.repository.head(`proposed/${PACKAGE}/${workspace}`)
    world.edit(WEB, 'spec.replicas', 7)
    await world.plan()
    porch.approve(PACKAGE, workspace, { cached })
    const { notes, outcome } = await world.plan()
    assert.match(
      notes[0]?.text ?? '',
      /it is not what was proposed, .*: [0-9a-f]{7} is an earlier state of the proposal/,
    )
    assert.equal(outcome, 'created')
    assert.notEqual(only(porch.workspaces('proposed', PACKAGE)), workspace)
    await assertQuiet(world)
  })

  it('of edited content names the file that differs from the proposal', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    const branch = `proposed/${PACKAGE}/${workspace}`
    const text = world.repository.text(branch, 'apps/web/config.yaml') ?? ''
    world.repository.commitByHand(branch, { 'apps/web/config.yaml': text.replace('blue', 'red') })
    porch.approve(PACKAGE, workspace)
    await world.plan()
    assert.equal(
      closed(world)[0]?.status.altered,
      'apps/web/config.yaml is not what backporch proposed',
    )
  })

  it('of a proposal with a foreign record uses the ledger record, and the foreign one does not land', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    const branch = `proposed/${PACKAGE}/${workspace}`
    const [path = ''] = world.repository
      .paths(branch)
      .filter((each) => each.startsWith('.drift/records/'))
    const text = world.repository.text(branch, path) ?? ''
    world.repository.commitByHand(branch, { [path]: text.replace('git: 3', 'git: 1') })
    porch.approve(PACKAGE, workspace)
    await world.plan()
    const [episode] = closed(world)
    assert.equal(episode?.status.altered, 'its record is not the last one that backporch pushed')
    assert.equal(episode.spec.changes[0]?.git, 3)
    assert.match(world.repository.text('main', only(records(world))) ?? '', /git: 3/)
  })

  it("does not count when the tag's commit is not on the base branch", async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    world.repository.branches.set(
      'refs/tags/apps/web/v1',
      world.repository.head(`proposed/${PACKAGE}/${workspace}`),
    )
    const { outcome } = await world.plan()
    assert.notEqual(outcome, 'applying')
    assert.deepEqual(closed(world), [])
    assert.equal(only(porch.workspaces('proposed', PACKAGE)), workspace)
  })

  it('of an unknown workspace decides nothing', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    const branch = `proposed/${PACKAGE}/${workspace}`
    const [path = ''] = world.repository
      .paths(branch)
      .filter((each) => each.startsWith('.drift/records/'))
    const forged = (world.repository.text(branch, path) ?? '')
      .replaceAll(workspace.slice(6), 'deadbeef')
      .replace('replicas', 'paused')
    world.repository.branches.set(
      `refs/heads/proposed/${PACKAGE}/drift-deadbeef`,
      world.repository.head('main'),
    )
    world.repository.commitByHand(`proposed/${PACKAGE}/drift-deadbeef`, {
      [path.replace(workspace.slice(6), 'deadbeef')]: forged,
    })
    porch.approve(PACKAGE, 'drift-deadbeef')
    await world.plan()
    assert.deepEqual(closed(world), [])
    assert.deepEqual(records(world), [])
  })

  it('of an unchanged draft decides nothing, and the drift is recorded again with a new name', async () => {
    const world = await drafted()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('drafts', PACKAGE))
    porch.propose(PACKAGE, workspace)
    porch.approve(PACKAGE, workspace)
    const { notes, outcome } = await world.plan()
    assert.equal(
      notes[0]?.text,
      `${workspace} was published through Porch as v1 by admin@example.com, and it is a draft: nothing is decided`,
    )
    assert.equal(outcome, 'created')
    assert.equal(closed(world)[0]?.status.outcome, 'Published')
    assert.notEqual(only(porch.workspaces('drafts', PACKAGE)), workspace)
    assert.deepEqual(records(world), [])
    await assertQuiet(world)
  })

  it('counts even if the base branch rejects its record, and the record is retried', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    porch.approve(PACKAGE, only(porch.workspaces('proposed', PACKAGE)))
    let refuses = true
    world.repository.beforePush = (updates) => {
      if (refuses && updates.some(({ ref }) => ref === 'refs/heads/main')) throw refusal()
    }
    const { reported } = await world.scan()
    assert.deepEqual(
      reported.map(({ code }) => code),
      ['BP4002'],
    )
    assert.equal(closed(world)[0]?.status.outcome, 'Merged')
    assert.deepEqual(records(world), [])
    refuses = false
    await world.scan()
    assert.equal(records(world).length, 1)
    await assertQuiet(world)
  })
})

for (const rendered of [false, true])
  describe(`a draft that a person proposes${rendered ? ', with a rendering of Porch' : ''}`, () => {
    it('stays a proposal from then on, whatever the policy says', async () => {
      const world = await drafted()
      const porch = new MemoryPorch(world.repository)
      const workspace = only(porch.workspaces('drafts', PACKAGE))
      porch.propose(PACKAGE, workspace, rendered)
      const { notes, outcome, report } = await world.plan()
      assert.equal(
        notes[0]?.text,
        `${workspace} was proposed through Porch${rendered ? ' by admin@example.com' : ''}`,
      )
      assert.equal(outcome, 'updated')
      assert.equal(report.status.lifecycle, 'Proposed')
      assert.equal(only(porch.workspaces('proposed', PACKAGE)), workspace)
      await assertQuiet(world)
    })
  })

describe('a Porch rendering commit', () => {
  it('on a draft is not a foreign commit, and the draft is recreated without it', async () => {
    const world = await drafted()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('drafts', PACKAGE))
    porch.render(PACKAGE, workspace)
    assert.equal((await world.plan()).outcome, 'updated')
    assert.doesNotMatch(
      world.repository.text(`drafts/${PACKAGE}/${workspace}`, 'apps/web/Kptfile') ?? '',
      /Rendered/,
    )
    await assertQuiet(world)
  })

  it('that changes a value is a foreign commit', async () => {
    const world = await drafted()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('drafts', PACKAGE))
    const path = 'apps/web/config.yaml'
    const text = (world.repository.text(`drafts/${PACKAGE}/${workspace}`, path) ?? '').replace(
      'blue',
      'red',
    )
    porch.render(PACKAGE, workspace, { [path]: text })
    const head = world.repository.head(`drafts/${PACKAGE}/${workspace}`)
    assert.equal((await world.plan()).outcome, 'foreign')
    assert.equal(world.repository.head(`drafts/${PACKAGE}/${workspace}`), head)
  })
})

it('an approval after an edit, a rejection and a new proposal is compared with the original proposal', async () => {
  const world = await drafted()
  const porch = new MemoryPorch(world.repository)
  const workspace = only(porch.workspaces('drafts', PACKAGE))
  porch.propose(PACKAGE, workspace, true)
  await world.plan()
  world.repository.commitByHand(`proposed/${PACKAGE}/${workspace}`, { 'apps/web/note.md': 'x\n' })
  porch.reject(PACKAGE, workspace)
  await world.plan()
  porch.propose(PACKAGE, workspace)
  porch.approve(PACKAGE, workspace, { copies: true })
  await world.plan()
  assert.equal(closed(world)[0]?.status.outcome, 'Merged')
  assert.match(closed(world)[0]?.status.altered ?? '', /note\.md is not what backporch proposed/)
})

describe('a rejection', () => {
  it('declines the drift for the time that the policy gives', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    porch.reject(PACKAGE, workspace)
    const { outcome } = await world.plan()
    assert.equal(outcome, 'silenced')
    assert.equal(closed(world)[0]?.status.outcome, 'Declined')
    assert.deepEqual(world.repository.names(), [])
    await assertQuiet(world)
  })

  it('does not count when someone pushed a commit to the draft', async () => {
    const world = await proposed()
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    porch.reject(PACKAGE, workspace)
    world.repository.commitByHand(`drafts/${PACKAGE}/${workspace}`, {
      'apps/web/config.yaml': 'a: b\n',
    })
    const { outcome } = await world.plan()
    assert.equal(outcome, 'foreign')
    assert.deepEqual(closed(world), [])
    assert.equal(only(porch.workspaces('drafts', PACKAGE)), workspace)
  })
})

describe('approval: porch', () => {
  it('never changes a workspace: an update gets a new workspace and the old branch is withdrawn', async () => {
    const world = await proposed('{mode: Propose, approval: porch}')
    const porch = new MemoryPorch(world.repository)
    const first = only(porch.workspaces('proposed', PACKAGE))
    world.edit(WEB, 'spec.replicas', 7)
    await world.plan()
    const second = only(porch.workspaces('proposed', PACKAGE))
    assert.equal(second, `${first}-2`)
    // The base branch moves in the package.
    world.repository.commitByHand('main', { 'apps/web/NOTES.md': 'new\n' })
    await world.plan()
    assert.equal(only(porch.workspaces('proposed', PACKAGE)), `${first}-3`)
    // Another plan.
    await world.resolutionRequest('Adopt', ['1'])
    const third = only(porch.workspaces('proposed', PACKAGE))
    assert.equal(third, `${first}-4`)
    await assertQuiet(world)
  })

  it('stores the record in the package folder, from which it lands on the base branch', async () => {
    const world = await proposed('{mode: Propose, approval: porch}')
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('proposed', PACKAGE))
    assert.match(
      world.repository.text(`proposed/${PACKAGE}/${workspace}`, 'apps/web/.drift-record') ?? '',
      /kind: DriftRecord/,
    )
    // Without ancestry and without the branch, nothing else says what was proposed.
    porch.approve(PACKAGE, workspace, { copies: true })
    world.repository.branches.delete(`refs/heads/proposed/${PACKAGE}/${workspace}`)
    assert.ok(world.repository.text('main', 'apps/web/.drift-record'))
    const { outcome } = await world.plan()
    assert.equal(outcome, 'applying')
    assert.equal(closed(world)[0]?.status.altered, undefined)
    assert.equal(records(world).length, 1)
    assert.equal(world.repository.text('main', 'apps/web/.drift-record'), undefined)
    await assertQuiet(world)
  })

  it('proposes a draft that a person proposed, under a new name', async () => {
    const world = await drafted('{mode: Warn, approval: porch}')
    const porch = new MemoryPorch(world.repository)
    const workspace = only(porch.workspaces('drafts', PACKAGE))
    porch.propose(PACKAGE, workspace, true)
    await world.plan()
    assert.equal(only(porch.workspaces('proposed', PACKAGE)), `${workspace}-2`)
    assert.deepEqual(porch.workspaces('drafts', PACKAGE), [])
    await assertQuiet(world)
  })

  it('accepts an approval of a withdrawn workspace that Porch had cached', async () => {
    const world = await proposed('{mode: Propose, approval: porch}')
    const porch = new MemoryPorch(world.repository)
    const first = only(porch.workspaces('proposed', PACKAGE))
    const cached = world.repository.head(`proposed/${PACKAGE}/${first}`)
    world.edit(WEB, 'spec.replicas', 7)
    await world.plan()
    porch.approve(PACKAGE, first, { cached })
    await world.plan()
    const [episode] = closed(world).filter(({ status }) => status.outcome === 'Merged')
    assert.equal(`drift-${episode?.metadata.name}`, first)
    assert.equal(episode?.status.revision, 'v1')
    assert.equal(porch.workspaces('proposed', PACKAGE).length, 1)
    await assertQuiet(world)
  })
})
