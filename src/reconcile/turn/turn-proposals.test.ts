import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import {
  CONFIG,
  KPTFILE,
  mergeByHand,
  refused,
  TurnWorld,
  WEB,
} from '../../../test/fakes/turn-world.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { readRepository } from '../repository/repository-view.ts'

/** One open pull request about `spec.replicas`. */
async function opened(): Promise<{ world: TurnWorld; forge: MemoryForge }> {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  return { world, forge }
}

async function closedEpisodes(world: TurnWorld): Promise<readonly ClosedEpisode[]> {
  return (await readRepository(world.repository, undefined, new AbortController().signal)).closed
}

const CLOSED = { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' } as const

test('a proposal is opened once with its statuses, and nothing existing is sent again', async () => {
  const { world, forge } = await opened()
  assert.deepEqual(forge.writes, [
    'open #1',
    'status drift/fresh success',
    'status drift/render success',
    'status drift/policy success',
    'status drift/applier success',
  ])
  const [proposal] = forge.proposals
  assert.equal(
    proposal?.title,
    'chore(drift): restore Deployment/web replicas to 3 in prod (live 5)',
  )
  assert.match(proposal?.body ?? '', /kubectl-edit/)
  assert.equal(proposal?.commit, world.repository.head(world.repository.names()[0] ?? ''))
  const sent = forge.writes.length
  for (let turn = 0; turn < 10; turn += 1) await world.plan()
  assert.equal(forge.writes.length, sent)
})

test('a new proposal is opened before existing ones are updated', async () => {
  const other = {
    'apps/zoo/Kptfile': KPTFILE.replace('web', 'zoo'),
    'apps/zoo/config.yaml': CONFIG.replace('name: web', 'name: zoo'),
  }
  const world = new TurnWorld('{mode: Propose}', other)
  const reported: string[] = []
  class Watched extends MemoryForge {
    override ensureProposal(...wanted: Parameters<MemoryForge['ensureProposal']>) {
      reported.push(wanted[0].ref.replace(/^.*\/(apps\/[a-z]+)\/.*$/, '$1'))
      return super.ensureProposal(...wanted)
    }
  }
  world.forge = new Watched(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.edit('/ConfigMap/shop/zoo', 'data.timeout', '1')
  reported.length = 0
  await world.scan()
  assert.deepEqual(reported, ['apps/zoo', 'apps/web'])
})

test('changed drift edits the same pull request', async () => {
  const { world, forge } = await opened()
  world.edit(WEB, 'spec.replicas', 6)
  await world.plan()
  assert.equal(forge.proposals.length, 1)
  assert.ok(forge.writes.includes('edit #1'))
  assert.match(forge.proposals[0]?.title ?? '', /\(live 6\)/)
})

test('a pull request that an interrupted turn did not open is opened by the next one', async () => {
  const { world, forge } = await opened()
  forge.proposals.length = 0
  forge.writes.length = 0
  await world.plan()
  assert.equal(forge.writes[0], 'open #1')
})

test('a close in the browser is reported once, deletes the branch and silences this drift', async () => {
  const { world, forge } = await opened()
  forge.byHand(1, CLOSED)
  const { report, updates } = await world.plan()
  assert.equal(report.status.state, 'Silenced')
  assert.deepEqual(world.repository.names(), [])
  assert.ok(updates.some(({ to }) => to === null))
  const [episode] = await closedEpisodes(world)
  assert.deepEqual(episode?.status, {
    outcome: 'Declined',
    decidedBy: 'grace',
    at: '2026-11-21T10:01:30Z',
    silentUntil: '2026-12-21T10:01:30Z',
    reason: 'the proposal was closed',
  })
  assert.match(forge.comments[0]?.body ?? '', /This drift is silenced until 2026-12-21/)
  const sent = forge.writes.length
  for (let turn = 0; turn < 10; turn += 1) assert.equal((await world.plan()).outcome, 'silenced')
  assert.equal(forge.writes.length, sent)
  world.edit(WEB, 'spec.replicas', 7)
  assert.equal((await world.plan()).outcome, 'created')
  assert.equal(forge.proposals.length, 2)
})

test('a close together with the branch deletion has the same effect', async () => {
  const { world, forge } = await opened()
  forge.byHand(1, CLOSED)
  world.repository.branches.delete(forge.proposals[0]?.ref ?? '')
  assert.equal((await world.plan()).report.status.state, 'Silenced')
  const [episode] = await closedEpisodes(world)
  assert.deepEqual(
    [episode?.status.decidedBy, episode?.status.at],
    ['grace', '2026-11-21T10:01:30Z'],
  )
  assert.equal(forge.comments.length, 1)
})

test('the close comment comes before the ledger entry, so that a crash repeats it', async () => {
  const { world, forge } = await opened()
  forge.byHand(1, CLOSED)
  forge.beforeWrite = (write) => {
    if (write.startsWith('comment')) throw new Error('killed')
  }
  await assert.rejects(world.plan())
  assert.deepEqual(await closedEpisodes(world), [])
  forge.beforeWrite = () => undefined
  await world.plan()
  assert.equal(forge.comments.length, 1)
  assert.equal((await closedEpisodes(world)).length, 1)
})

test('a reopened pull request with its restored branch is open again', async () => {
  const { world, forge } = await opened()
  const branch = forge.proposals[0]?.ref ?? ''
  const head = world.repository.branches.get(branch)
  assert.ok(head !== undefined)
  forge.byHand(1, CLOSED)
  await world.plan()
  world.repository.branches.set(branch, head)
  // The branch alone is the step before it: nothing is raised, and nothing deleted.
  assert.equal((await world.plan()).outcome, 'silenced')
  assert.ok(world.repository.branches.has(branch))
  forge.byHand(1, { state: 'open', decidedBy: undefined, decidedAt: undefined })
  const { report, outcome } = await world.plan()
  assert.deepEqual([report.status.state, report.status.lifecycle], ['Drifted', 'Proposed'])
  assert.ok(outcome === 'unchanged' || outcome === 'updated')
  assert.equal(forge.proposals.length, 1)
})

for (const [name, isDeleted] of [
  ['and keeps the branch', false],
  ['and deletes the branch', true],
] as const) {
  test(`when the forge merges ${name}, the merger is recorded and one revision published`, async () => {
    const { world, forge } = await opened()
    const branch = forge.proposals[0]?.ref ?? ''
    await mergeByHand(world, branch.replace('refs/heads/', ''))
    forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
    if (isDeleted) world.repository.branches.delete(branch)
    assert.equal((await world.plan()).report.status.state, 'Applying')
    const [episode] = await closedEpisodes(world)
    assert.equal(episode?.status.outcome, 'Merged')
    assert.deepEqual([episode?.status.decidedBy, episode?.status.revision], ['grace', 'v1'])
    await world.plan()
    assert.deepEqual(world.repository.names(), ['apps/web/v1'])
    world.sync()
    assert.equal((await world.plan()).report.status.state, 'InSync')
  })
}

test("in a merge queue nothing happens while it waits, and the queue's commit counts as merged", async () => {
  const { world, forge } = await opened()
  const { repository } = world
  const branch = forge.proposals[0]?.ref ?? ''
  const main = repository.head('main')
  // The queue has a branch of its own, with the pull requests that are before this one.
  const before = repository.commitByHand(
    'gh-readonly-queue/main/pr-1-0123',
    { 'docs/other.md': 'of another pull request\n' },
    { parents: [main] },
  )
  const changed = repository.paths(branch.replace('refs/heads/', ''))
  const files = Object.fromEntries(
    changed.map((path) => [path, repository.text(branch.replace('refs/heads/', ''), path) ?? null]),
  )
  const queued = repository.commitByHand('gh-readonly-queue/main/pr-1-0123', files, {
    parents: [before],
    committer: 'noreply@github.com',
  })
  const [sent, refs] = [forge.writes.length, new Map(repository.branches)]
  await world.plan()
  assert.equal(forge.writes.length, sent)
  assert.deepEqual(repository.branches, refs)
  repository.branches.set('refs/heads/main', queued)
  repository.branches.delete('refs/heads/gh-readonly-queue/main/pr-1-0123')
  repository.branches.delete(branch)
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  assert.equal((await world.plan()).report.status.state, 'Applying')
  const [episode] = await closedEpisodes(world)
  assert.deepEqual(
    [episode?.status.outcome, episode?.status.decidedBy, episode?.status.revision],
    ['Merged', 'grace', 'v1'],
  )
  world.sync()
  assert.equal((await world.plan()).report.status.state, 'InSync')
})

test('a merge between reading git and reading the forge is no rejection', async () => {
  const { world, forge } = await opened()
  world.repository.branches.delete(forge.proposals[0]?.ref ?? '')
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  await world.plan()
  assert.deepEqual(await closedEpisodes(world), [])
})

test('when the cluster heals, this is reported and the branch withdrawn, closing the pull request', async () => {
  const { world, forge } = await opened()
  world.sync()
  assert.equal((await world.plan()).outcome, 'healed')
  assert.match(forge.comments[0]?.body ?? '', /without a merge/)
  assert.deepEqual(world.repository.names(), [])
  const sent = forge.writes.length
  await world.plan()
  assert.equal(forge.writes.length, sent)
})

test('with a foreign commit on the branch, the pull request keeps its text', async () => {
  const { world, forge } = await opened()
  world.repository.commitByHand((forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''), {
    'apps/web/NOTES.md': 'mine',
  })
  const sent = forge.writes.length
  world.edit(WEB, 'spec.replicas', 9)
  assert.equal((await world.plan()).outcome, 'foreign')
  assert.equal(forge.writes.filter((write) => write.startsWith('edit')).length, 0)
  assert.deepEqual(forge.writes.slice(sent), [
    'status drift/fresh failure',
    'status drift/render failure',
    'status drift/policy failure',
    'status drift/applier failure',
    'comment #1 edited',
  ])
})

test('a close is a decision about the record, even with a foreign commit on top', async () => {
  for (const [isKept, withTurn] of [
    [true, true],
    [false, true],
    [false, false],
  ]) {
    const { world, forge } = await opened()
    const ref = forge.proposals[0]?.ref ?? ''
    const head = world.repository.commitByHand(ref.replace('refs/heads/', ''), {
      'apps/web/NOTES.md': 'mine',
    })
    if (withTurn) await world.plan()
    if (!isKept) world.repository.branches.delete(ref)
    forge.byHand(1, { ...CLOSED, commit: head })
    await world.plan()
    const [episode] = await closedEpisodes(world)
    assert.equal(episode?.status.outcome, 'Declined')
    assert.equal((await world.plan()).report.status.state, 'Silenced')
    assert.equal(forge.proposals.length, 1)
  }
})

test('a reopened pull request gets its branch back and is continued', async () => {
  const { world, forge } = await opened()
  const ref = forge.proposals[0]?.ref ?? ''
  forge.byHand(1, CLOSED)
  await world.plan()
  assert.equal(world.repository.branches.has(ref), false)
  forge.leavesOpen = true
  forge.byHand(1, { state: 'open', decidedBy: undefined, decidedAt: undefined })
  await world.plan()
  assert.equal(world.repository.branches.get(ref), forge.proposals[0]?.commit)
  assert.equal(forge.proposals[0]?.state, 'open')
  world.edit(WEB, 'spec.replicas', 9)
  assert.equal((await world.plan()).outcome, 'updated')
  assert.equal(forge.proposals.length, 1)
})

test('a branch that the forge updates by merge or rebase is no foreign edit', async () => {
  const { world, forge } = await opened()
  const { repository } = world
  const branch = (forge.proposals[0]?.ref ?? '').replace('refs/heads/', '')
  const readme = { 'README.md': 'for all' }
  for (const parents of [
    () => [repository.head(branch), repository.head('main')],
    () => [repository.head('main')],
  ]) {
    readme['README.md'] += '!'
    repository.commitByHand('main', readme)
    const { message } = await repository.commit(repository.head(branch))
    repository.commitByHand(branch, readme, { parents: parents(), message })
    assert.equal((await world.plan()).outcome, 'updated')
    assert.deepEqual((await repository.commit(repository.head(branch))).parents, [
      repository.head('main'),
    ])
    assert.equal((await world.plan()).outcome, 'unchanged')
  }
  repository.commitByHand('main', { 'README.md': 'last' })
  repository.commitByHand(
    branch,
    { 'README.md': 'last' },
    { parents: [repository.head(branch), repository.head('main')] },
  )
  world.sync()
  assert.equal((await world.plan()).outcome, 'healed')
})

test("an update with a person's edit, or from another branch, makes the branch foreign", async () => {
  for (const [files, from] of [
    [{ 'README.md': 'new', 'apps/web/NOTES.md': 'mine' }, 'main'],
    [{ 'README.md': 'new' }, 'theirs'],
  ] as const) {
    const { world, forge } = await opened()
    const { repository } = world
    const branch = (forge.proposals[0]?.ref ?? '').replace('refs/heads/', '')
    repository.branches.set('refs/heads/theirs', repository.head('main'))
    repository.commitByHand(from, { 'README.md': 'new' })
    repository.commitByHand(branch, files, {
      parents: [repository.head(branch), repository.head(from)],
    })
    assert.equal((await world.plan()).outcome, 'foreign')
  }
})

test('a forge that does not answer stops the turn before anything is written', async () => {
  const { world, forge } = await opened()
  world.edit(WEB, 'spec.replicas', 9)
  forge.readProposals = async () => {
    throw new Error('no answer')
  }
  const pushes = world.repository.pushes.length
  await refused(world.plan(), 'BP9001').catch(() => undefined)
  assert.equal(world.repository.pushes.length, pushes)
})
