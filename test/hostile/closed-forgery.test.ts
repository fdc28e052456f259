/** Somebody who may push to `proposed/` forges a record and closes or deletes it: only what backporch proposed can be declined. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import { readRepository } from '../../src/reconcile/repository/repository-view.ts'
import { formatInertDocument } from '../../src/record/write-document.ts'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { BOT_EMAIL } from '../fakes/memory-repository.ts'
import { TurnWorld, WEB } from '../fakes/turn-world.ts'

const signal = new AbortController().signal
const IMAGE = 'spec.template.spec.containers[name=app].image'

interface Stage {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  readonly branch: string
}

async function opened(policy = '{mode: Propose}'): Promise<Stage> {
  const world = new TurnWorld(policy)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [branch = ''] = world.repository.names()
  return { world, forge, branch }
}

function recordPath({ world: { repository }, branch }: Stage): string {
  return (
    repository.paths(branch).find((path) => path.startsWith('.drift/records/')) ??
    assert.fail('no record')
  )
}

async function amend(
  { world: { repository }, branch }: Stage,
  files: { readonly [path: string]: string | null },
): Promise<ObjectId> {
  const { parents, message, author } = await repository.commit(repository.head(branch))
  return repository.commitByHand(branch, files, {
    author: BOT_EMAIL,
    committer: BOT_EMAIL,
    parents,
    message,
    at: author.at,
  })
}

/** The record that backporch would write of drift to come, under the name of the open proposal. */
async function recordToCome(stage: Stage): Promise<string> {
  const { world } = stage
  world.edit(WEB, IMAGE, 'evil.example/nginx:1')
  const { record } = await world.plan({ dryRun: true })
  world.sync()
  world.edit(WEB, 'spec.replicas', 5)
  assert.ok(record !== undefined)
  return formatInertDocument(record)
}

function close({ world, forge, branch }: Stage, commit = world.repository.head(branch)): void {
  const number =
    forge.proposals.find(({ ref }) => ref === `refs/heads/${branch}`)?.number ??
    assert.fail('no proposal')
  forge.byHand(number, {
    state: 'closed',
    decidedBy: 'mallory',
    decidedAt: world.cluster.now,
    commit,
  })
}

async function declined({ world }: Stage): Promise<number> {
  return (await readRepository(world.repository, undefined, signal)).closed.filter(
    ({ status }) => status.outcome === 'Declined',
  ).length
}

test('a closed proposal with a record of future drift does not silence that drift', async () => {
  const stage = await opened()
  const { world } = stage
  await amend(stage, { [recordPath(stage)]: await recordToCome(stage) })
  close(stage)
  world.edit(WEB, IMAGE, 'evil.example/nginx:1')
  const { report, outcome } = await world.plan()
  assert.deepEqual([report.status.state, outcome], ['Drifted', 'created'])
  assert.equal(await declined(stage), 0)
})

for (const deleted of [false, true])
  test(`a closed forged commit${deleted ? ' with deleted branch' : ''} declines nothing: the drift is proposed again with a note`, async () => {
    const stage = await opened()
    const { world, forge, branch } = stage
    const text = world.repository.text(branch, recordPath(stage)) ?? ''
    const forged = await amend(stage, {
      [recordPath(stage)]: text.replace(
        /^( {2})plan: Restore$/m,
        '$1plan: Restore\n$1message: trust me',
      ),
    })
    close(stage, forged)
    if (deleted) world.repository.branches.delete(`refs/heads/${branch}`)
    const { notes, report } = await world.plan()
    assert.equal(await declined(stage), 0)
    assert.equal(report.status.state, 'Drifted')
    assert.match(
      notes.map(({ text: note }) => note).join('\n'),
      /was closed with a record that backporch did not push: its drift is proposed again/,
    )
    const open = forge.proposals.filter(({ state }) => state === 'open')
    assert.equal(open.length, 1)
    const writes = forge.writes.length
    const { notes: later } = await world.plan()
    assert.equal(forge.writes.length, writes, 'it is asked once')
    assert.equal(await declined(stage), 0)
    assert.equal(
      later.some(({ text: note }) => note.includes('was closed')),
      !deleted,
    )
  })

test('closing a branch that backporch never pushed declines nothing', async () => {
  const stage = await opened('{mode: Warn}')
  const { world, forge, branch: draft } = stage
  assert.match(draft, /^drafts\//)
  const branch = draft.replace('drafts/', 'proposed/')
  const path = recordPath(stage)
  const { parents, message, author } = await world.repository.commit(world.repository.head(draft))
  const text = (world.repository.text(draft, path) ?? '').replace(
    'lifecycle: Draft',
    'lifecycle: Proposed',
  )
  const commit = world.repository.commitByHand(
    branch,
    { [path]: text },
    { author: BOT_EMAIL, committer: BOT_EMAIL, parents, message, at: author.at },
  )
  await forge.ensureProposal(
    {
      ref: `refs/heads/${branch}`,
      commit,
      baseBranch: 'main',
      title: 'x',
      body: 'x',
      labels: [],
      draft: false,
      reviewers: [],
    },
    undefined,
  )
  close({ ...stage, branch })
  await world.plan()
  assert.equal(await declined(stage), 0)
  assert.equal((await world.plan()).report.status.state, 'Drifted')
})

test('closing a foreign commit on top of ours declines our proposal, because the record is ours', async () => {
  const stage = await opened()
  const { world, branch } = stage
  world.repository.commitByHand(branch, { 'apps/web/NOTES.md': 'mine' })
  close(stage)
  assert.equal((await world.plan()).outcome, 'silenced')
  assert.equal(await declined(stage), 1)
})
