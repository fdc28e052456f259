/** A forged proposal is merged in spite of its red statuses: who merged decided, and what nobody proposed is never written by itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRepository } from '../../src/reconcile/repository-view.ts'
import { pendingSettles, settleByWriting } from '../../src/reconcile/settle.ts'
import type { ClosedEpisode } from '../../src/record/schema.ts'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { BOT_EMAIL } from '../fakes/memory-repository.ts'
import { mergeByHand, TurnWorld, WEB } from '../fakes/turn-world.ts'

const SETTLES = '{mode: Propose, settle: backporch, decide: {defaultPlan: Adopt}}'
const signal = new AbortController().signal

interface Stage {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  readonly branch: string
  readonly record: string
}

/** An open pull request that keeps what somebody changed: nothing of it goes to the cluster. */
async function opened(policy = SETTLES, hosted = true): Promise<Stage> {
  const world = new TurnWorld(policy)
  const forge = new MemoryForge(world.repository)
  if (hosted) world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [branch = ''] = world.repository.names()
  const record = world.repository.paths(branch).find((path) => path.startsWith('.drift/records/')) ?? ''
  return { world, forge, branch, record }
}

/** In the name of the bot, with the message of the bot. */
async function amend({ world: { repository }, branch }: Stage, files: { readonly [path: string]: string | null }): Promise<void> {
  const { parents, message, author } = await repository.commit(repository.head(branch))
  repository.commitByHand(branch, files, { author: BOT_EMAIL, committer: BOT_EMAIL, parents, message, at: author.at })
}

/** Merging this would put the cluster back, by the hand of backporch. */
function flipped({ world, branch, record }: Stage): { readonly [path: string]: string } {
  const text = world.repository.text(branch, record) ?? ''
  assert.match(text, /resolution: Adopt/)
  return {
    [record]: text.replaceAll('resolution: Adopt', 'resolution: Restore').replace('plan: Adopt', 'plan: Restore'),
    'apps/web/deployment.yaml': world.repository.text('main', 'apps/web/deployment.yaml') ?? '',
  }
}

const STYLES: { readonly [style: string]: (stage: Stage) => Promise<void> } = {
  squash: async ({ world, branch }) => {
    await mergeByHand(world, branch)
    world.repository.branches.delete(`refs/heads/${branch}`)
  },
  'squash, with the branch left': async ({ world, branch }) => mergeByHand(world, branch),
  'merge commit': async ({ world: { repository }, branch }) => {
    const files = Object.fromEntries(repository.paths(branch).map((path) => [path, repository.text(branch, path) ?? null]))
    repository.commitByHand('main', files, { parents: [repository.head('main'), repository.head(branch)] })
    repository.branches.delete(`refs/heads/${branch}`)
  },
}

async function closedEpisodes({ repository }: TurnWorld): Promise<readonly ClosedEpisode[]> {
  return (await readRepository(repository, undefined, signal)).closed
}

function tellMerged({ world, forge, branch }: Stage, commit = world.repository.head(branch)): void {
  const number = forge.proposals.find(({ ref }) => ref === `refs/heads/${branch}`)?.number ?? 0
  forge.byHand(number, { state: 'merged', decidedBy: 'mallory', decidedAt: world.cluster.now, commit })
}

/** Everything that settling would send in the next turn. */
async function settled(world: TurnWorld): Promise<number> {
  // The turn that finds the merge writes it down.
  await world.scan()
  const turn = await world.scan()
  let sent = 0
  const writer = {
    write: async () => {
      sent += 1
    },
  }
  for (const pending of pendingSettles(turn))
    await settleByWriting(world.ports, writer as never, world.request(), pending, signal).catch(() => 0)
  return sent
}

for (const [style, merge] of Object.entries(STYLES)) {
  for (const hosted of [true, false]) {
    test(`a flipped resolution, merged (${style}, ${hosted ? 'on a forge' : 'git alone'}): recorded for what was merged, and not settled`, async () => {
      const stage = await opened(SETTLES, hosted)
      const { world } = stage
      await amend(stage, flipped(stage))
      await world.scan()
      if (hosted) tellMerged(stage)
      await merge(stage)
      assert.equal(await settled(world), 0)
      assert.equal(await settled(world), 0)
      const [closed, ...more] = await closedEpisodes(world)
      assert.equal(more.length, 0)
      assert.equal(closed?.status.outcome, 'Merged')
      assert.equal(closed?.spec.plan, 'Restore')
      assert.match(closed?.status.altered ?? '', /no(ne| commit) that backporch pushed/)
      if (hosted) assert.equal(closed?.status.decidedBy, 'mallory')
    })

    test(`what backporch proposed, merged (${style}, ${hosted ? 'on a forge' : 'git alone'}), is settled`, async () => {
      const stage = await opened('{mode: Propose, settle: backporch}', hosted)
      const { world } = stage
      if (hosted) tellMerged(stage)
      await merge(stage)
      assert.notEqual(await settled(world), 0)
      const [closed] = await closedEpisodes(world)
      assert.equal(closed?.status.outcome, 'Merged')
      assert.equal(closed?.status.altered, undefined)
    })
  }

  test(`another file than proposed, merged (${style}, git alone): the record is ours, the content is not`, async () => {
    const stage = await opened('{mode: Propose, settle: backporch}', false)
    await amend(stage, { '.github/workflows/x.yml': 'on: push\n' })
    await merge(stage)
    assert.equal(await settled(stage.world), 0)
    assert.match((await closedEpisodes(stage.world))[0]?.status.altered ?? '', /files are not those/)
  })
}

test('an older proposal of ours, merged while a newer one was pushed, is what we proposed', async () => {
  const stage = await opened('{mode: Propose, settle: backporch}')
  const { world, branch } = stage
  const older = world.repository.head(branch)
  world.edit(WEB, 'spec.replicas', 6)
  await world.plan()
  world.repository.branches.set(`refs/heads/${branch}`, older)
  tellMerged(stage, older)
  await STYLES['squash']?.(stage)
  await world.scan()
  const [closed] = await closedEpisodes(world)
  assert.equal(closed?.status.outcome, 'Merged')
  assert.equal(closed?.status.altered, undefined)
})

test('a merge of which the ledger knows nothing is recorded, and not settled', async () => {
  const stage = await opened('{mode: Propose, settle: backporch}')
  const { world } = stage
  tellMerged(stage)
  await STYLES['squash']?.(stage)
  world.repository.branches.delete('refs/heads/drift-ledger')
  assert.equal(await settled(world), 0)
  assert.match((await closedEpisodes(world))[0]?.status.altered ?? '', /ledger does not know/)
})
