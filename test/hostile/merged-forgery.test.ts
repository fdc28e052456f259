/** A forged proposal is merged in spite of its red statuses: who merged decided, and what nobody proposed is never written by itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listPendingSettles } from '../../src/plan/unit/pending-settles.ts'
import { readRepository } from '../../src/reconcile/repository/repository-view.ts'
import { settleByWriting } from '../../src/reconcile/turn/settle.ts'
import type { ClosedEpisode } from '../../src/record/documents/closed-episode.ts'
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
  const record =
    world.repository.paths(branch).find((path) => path.startsWith('.drift/records/')) ?? ''
  return { world, forge, branch, record }
}

/** In the name of the bot, with the message of the bot. */
async function amend(
  { world: { repository }, branch }: Stage,
  files: { readonly [path: string]: string | null },
): Promise<void> {
  const { parents, message, author } = await repository.commit(repository.head(branch))
  repository.commitByHand(branch, files, {
    author: BOT_EMAIL,
    committer: BOT_EMAIL,
    parents,
    message,
    at: author.at,
  })
}

/** Merging this would put the cluster back, by the hand of backporch. */
function flipped({ world, branch, record }: Stage): { readonly [path: string]: string } {
  const text = world.repository.text(branch, record) ?? ''
  assert.match(text, /resolution: Adopt/)
  return {
    [record]: text
      .replaceAll('resolution: Adopt', 'resolution: Restore')
      .replace('plan: Adopt', 'plan: Restore'),
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
    const files = Object.fromEntries(
      repository.paths(branch).map((path) => [path, repository.text(branch, path) ?? null]),
    )
    repository.commitByHand('main', files, {
      parents: [repository.head('main'), repository.head(branch)],
    })
    repository.branches.delete(`refs/heads/${branch}`)
  },
}

async function closedEpisodes({ repository }: TurnWorld): Promise<readonly ClosedEpisode[]> {
  return (await readRepository(repository, undefined, signal)).closed
}

function printMerged(
  { world, forge, branch }: Stage,
  commit = world.repository.head(branch),
): void {
  const number = forge.proposals.find(({ ref }) => ref === `refs/heads/${branch}`)?.number ?? 0
  forge.byHand(number, {
    state: 'merged',
    decidedBy: 'mallory',
    decidedAt: world.cluster.now,
    commit,
  })
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
  for (const pending of listPendingSettles(turn))
    await settleByWriting(
      { ...world.ports, writer: writer as never },
      world.request(),
      pending,
      signal,
    ).catch(() => 0)
  return sent
}

for (const [style, merge] of Object.entries(STYLES)) {
  for (const hosted of [true, false]) {
    test(`a flipped resolution, merged (${style}, ${hosted ? 'on a forge' : 'git alone'}): is recorded as altered and not settled`, async () => {
      const stage = await opened(SETTLES, hosted)
      const { world } = stage
      await amend(stage, flipped(stage))
      await world.scan()
      if (hosted) printMerged(stage)
      await merge(stage)
      assert.equal(await settled(world), 0)
      assert.equal(await settled(world), 0)
      const [closed, ...more] = await closedEpisodes(world)
      assert.equal(more.length, 0)
      assert.equal(closed?.status.outcome, 'Merged')
      assert.equal(closed?.spec.plan, 'Restore')
      assert.match(closed?.status.altered ?? '', /(not one|not a commit) that backporch pushed/)
      if (hosted) assert.equal(closed?.status.decidedBy, 'mallory')
    })

    test(`settles a merge (${style}, ${hosted ? 'on a forge' : 'git alone'}) of what backporch proposed`, async () => {
      const stage = await opened('{mode: Propose, settle: backporch}', hosted)
      const { world } = stage
      if (hosted) printMerged(stage)
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
    assert.match(
      (await closedEpisodes(stage.world))[0]?.status.altered ?? '',
      /files are not those/,
    )
  })
}

test('accepts an older proposal of ours that was merged while a newer one was pushed', async () => {
  const stage = await opened('{mode: Propose, settle: backporch}')
  const { world, branch } = stage
  const older = world.repository.head(branch)
  world.edit(WEB, 'spec.replicas', 6)
  await world.plan()
  world.repository.branches.set(`refs/heads/${branch}`, older)
  printMerged(stage, older)
  await STYLES['squash']?.(stage)
  await world.scan()
  const [closed] = await closedEpisodes(world)
  assert.equal(closed?.status.outcome, 'Merged')
  assert.equal(closed?.status.altered, undefined)
})

test('records but does not settle a merge that the ledger does not know', async () => {
  const stage = await opened('{mode: Propose, settle: backporch}')
  const { world } = stage
  printMerged(stage)
  await STYLES['squash']?.(stage)
  world.repository.branches.delete('refs/heads/drift-ledger')
  assert.equal(await settled(world), 0)
  assert.match((await closedEpisodes(world))[0]?.status.altered ?? '', /ledger does not know/)
})

const DEPLOYED = 'apps/web/deployment.yaml'

/** A merge commit of the proposal as we pushed it, with what somebody edits between the merge and its commit. */
function mergeWith(
  { world: { repository }, branch }: Stage,
  edits: { readonly [path: string]: string | null },
): void {
  const head = repository.head(branch)
  const proposed = repository
    .paths(branch)
    .filter((path) => repository.text(branch, path) !== repository.text('main', path))
    .map((path) => [path, repository.text(branch, path) ?? null])
  repository.commitByHand(
    'main',
    { ...Object.fromEntries(proposed), ...edits },
    { parents: [repository.head('main'), head] },
  )
  repository.branches.delete(`refs/heads/${branch}`)
}

function mainText({ world }: Stage, path: string): string {
  return world.repository.text('main', path) ?? ''
}

const EVIL_MERGES: {
  readonly [what: string]: (stage: Stage) => { readonly [path: string]: string | null }
} = {
  'another value in the package': (stage) => ({
    [DEPLOYED]: mainText(stage, DEPLOYED).replace('nginx:1.27', 'evil.example/nginx:1.27'),
  }),
  'an added file': () => ({ '.github/workflows/x.yml': 'on: push\n' }),
  'a deleted file': () => ({ 'apps/web/config.yaml': null }),
}

for (const [what, edits] of Object.entries(EVIL_MERGES)) {
  for (const hosted of [true, false]) {
    test(`${what}, edited while our own commit was merged (${hosted ? 'on a forge' : 'git alone'}): is altered and not settled`, async () => {
      const stage = await opened('{mode: Propose, settle: backporch}', hosted)
      if (hosted) printMerged(stage)
      mergeWith(stage, edits(stage))
      assert.equal(await settled(stage.world), 0)
      const [closed] = await closedEpisodes(stage.world)
      assert.equal(closed?.status.outcome, 'Merged')
      assert.match(closed?.status.altered ?? '', /its files are not those/)
    })
  }
}

test('a merge that keeps the record but omits the proposed change is altered', async () => {
  const stage = await opened()
  const before = mainText(stage, DEPLOYED)
  assert.notEqual(stage.world.repository.text(stage.branch, DEPLOYED), before)
  mergeWith(stage, { [DEPLOYED]: before })
  await stage.world.scan()
  assert.match(
    (await closedEpisodes(stage.world))[0]?.status.altered ?? '',
    /its files are not those/,
  )
})

const MOVED_ON: { readonly [what: string]: (stage: Stage) => { readonly [path: string]: string } } =
  {
    'in another file': () => ({ 'apps/other.yaml': 'a: 1\n' }),
    'in the same file, elsewhere': (stage) => ({
      [DEPLOYED]: `# one\n# two\n${mainText(stage, DEPLOYED).replace('value: blue', 'value: red')}`,
    }),
  }

for (const [where, files] of Object.entries(MOVED_ON)) {
  for (const style of [
    'merge commit',
    'squash by the forge',
    'squash by the forge, with the branch gone',
  ] as const) {
    test(`a merge (${style}) after the base moved ${where} is as proposed`, async () => {
      const stage = await opened(SETTLES)
      const { world, branch } = stage
      const moved = files(stage)
      const proposed = world.repository.text(branch, DEPLOYED) ?? ''
      const merged =
        moved[DEPLOYED] === undefined
          ? proposed
          : `# one\n# two\n${proposed.replace('value: blue', 'value: red')}`
      assert.match(merged, /replicas: 5/)
      const head = world.repository.head(branch)
      printMerged(stage)
      world.repository.commitByHand('main', moved)
      const changed = world.repository
        .paths(branch)
        .filter((path) => path.startsWith('.drift/records/') || path === 'apps/web/Kptfile')
      const rest = Object.fromEntries(
        changed.map((path) => [path, world.repository.text(branch, path) ?? null]),
      )
      const more =
        style === 'merge commit' ? { parents: [world.repository.head('main'), head] } : {}
      world.repository.commitByHand('main', { ...rest, [DEPLOYED]: merged }, more)
      if (style !== 'squash by the forge') world.repository.branches.delete(`refs/heads/${branch}`)
      await world.scan()
      const [closed] = await closedEpisodes(world)
      assert.equal(closed?.status.outcome, 'Merged')
      assert.equal(closed?.status.altered, undefined)
    })
  }
}

test('a merge with further edits after the base moved in the same file is altered', async () => {
  const stage = await opened(SETTLES)
  const { world, branch } = stage
  const proposed = world.repository.text(branch, DEPLOYED) ?? ''
  world.repository.commitByHand('main', { [DEPLOYED]: `# one\n${mainText(stage, DEPLOYED)}` })
  mergeWith(stage, {
    [DEPLOYED]: `# one\n${proposed.replace('nginx:1.27', 'evil.example/nginx:1.27')}`,
  })
  await world.scan()
  assert.match((await closedEpisodes(world))[0]?.status.altered ?? '', /its files are not those/)
})
