import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { mergeByHand, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { readRepository } from '../repository/repository-view.ts'

/** A pull request that was merged on the forge, before a turn saw it. */
async function merged(policy?: string): Promise<{ world: TurnWorld; forge: MemoryForge }> {
  const world = new TurnWorld(policy)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  return { world, forge }
}

const reported = (forge: MemoryForge, from: number) =>
  forge.writes.slice(from).filter((write) => !write.includes('issue'))

test('a merge goes from waiting to verified, with a status on its commit and one comment', async () => {
  const { world, forge } = await merged()
  const sent = forge.writes.length
  const mergeCommit = world.repository.head('main')
  await world.plan()
  assert.deepEqual(reported(forge, sent), ['status drift/restored pending'])
  world.sync()
  await world.plan()
  assert.deepEqual(reported(forge, sent), [
    'status drift/restored pending',
    'status drift/restored success',
    'comment #1 outcome',
  ])
  assert.ok(
    [...forge.statuses.keys()].some(
      (key) => key.includes(mergeCommit) && key.includes('drift/restored'),
    ),
  )
  assert.match(
    forge.comments.at(-1)?.body ?? '',
    /^Verified at 2026-11-21 10:0\d UTC: the cluster matches git again\.\n$/,
  )
  await world.plan()
  assert.equal(reported(forge, sent).length, 3)
})

test('a merge verified in the turn that finds it is reported once, not as waiting', async () => {
  const { world, forge } = await merged()
  const sent = forge.writes.length
  world.sync()
  await world.plan()
  assert.deepEqual(reported(forge, sent), ['status drift/restored success', 'comment #1 outcome'])
})

test('a merge that is never applied is reported after its time limit and proposed again', async () => {
  const { world, forge } = await merged('{mode: Propose, decide: {verifyTimeout: 10m}}')
  await world.plan()
  world.pass(7)
  assert.equal((await world.plan()).report.status.state, 'Applying')
  const sent = forge.writes.length
  world.pass(2)
  const plan = await world.plan()
  assert.deepEqual([plan.report.status.state, plan.outcome], ['Drifted', 'created'])
  assert.deepEqual(reported(forge, sent).slice(0, 3), [
    'status drift/restored failure',
    'comment #1 outcome',
    'open #2',
  ])
  assert.match(
    forge.comments.at(-1)?.body ?? '',
    /^\*\*Merged, and at .* the cluster still differs from git\*\*: /,
  )
  assert.match(
    forge.proposals[1]?.body ?? '',
    /\*\*Restore failed:\*\* `drift-[0-9a-f]{8}` restored the same fields and was merged/,
  )
  const again = forge.writes.length
  for (let turn = 0; turn < 5; turn += 1) await world.plan()
  assert.equal(forge.writes.length, again)
  world.sync()
  assert.equal((await world.plan()).outcome, 'healed')
})

test('a merge found late still gets its full time limit', async () => {
  const { world, forge } = await merged('{mode: Propose, decide: {verifyTimeout: 10m}}')
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-01T10:00:00Z' })
  assert.equal((await world.plan()).report.status.state, 'Applying')
  assert.equal((await world.plan()).report.status.state, 'Applying')
})

/** An open proposal on a forge that does not close it when its branch goes. */
async function leftOpen(): Promise<{ world: TurnWorld; forge: MemoryForge }> {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  forge.leavesOpen = true
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  return { world, forge }
}

/** How a proposal ends, in a turn or before it. */
const ENDS: readonly (readonly [
  how: string,
  end: (world: TurnWorld, branch: string) => Promise<void>,
  outcome: string,
])[] = [
  ['withdrawn', async (world) => world.sync(), 'Healed'],
  [
    'a person deleted its branch',
    async (world, branch) => void world.repository.branches.delete(`refs/heads/${branch}`),
    'Declined',
  ],
  [
    'it was merged with git, which the forge missed',
    async (world, branch) => {
      await mergeByHand(world, branch)
      world.sync()
    },
    'Merged',
  ],
]

for (const [how, end, outcome] of ENDS) {
  test(`a proposal that the forge left open after its branch ended is closed: ${how}`, async () => {
    const { world, forge } = await leftOpen()
    await end(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
    await world.plan()
    const endOf = async () =>
      (await readRepository(world.repository, 'main', new AbortController().signal)).closed.map(
        ({ status }) => status.outcome,
      )
    assert.deepEqual(
      [await endOf(), forge.proposals[0]?.state],
      [[outcome], 'open'],
      'the forge has its time',
    )
    for (let turn = 0; turn < 3; turn += 1) await world.plan()
    assert.deepEqual(
      [await endOf(), forge.proposals[0]?.state],
      [[outcome], 'closed'],
      'our close is no decision of a person',
    )
    assert.equal(forge.writes.filter((write) => write === 'close #1').length, 1)
  })
}

test('a branch that a person restored after its proposal ended stays open', async () => {
  const { world, forge } = await leftOpen()
  const ref = forge.proposals[0]?.ref ?? ''
  const commit = world.repository.branches.get(ref)
  world.sync()
  await world.plan()
  if (commit !== undefined) world.repository.branches.set(ref, commit)
  await world.plan()
  assert.ok(!forge.writes.includes('close #1'))
})

test('a joint proposal is verified when its last cluster is', async () => {
  const world = new FleetWorld(3)
  world.edit([0, 1, 2])
  await world.scan()
  const [branch = ''] = world.repository.names().filter((name) => name.startsWith('proposed/'))
  world.merge(branch)
  world.sync([world.cluster(0)])
  await world.scan()
  const verified = () =>
    world.forge.comments.filter(({ body }) => body.startsWith('Verified')).length
  assert.equal(verified(), 0)
  world.sync()
  await world.scan()
  assert.equal(verified(), 1)
})

test('a foreign commit on the branch is reported once', async () => {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  world.repository.commitByHand((forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''), {
    'apps/web/NOTES.md': 'mine',
  })
  for (let turn = 0; turn < 3; turn += 1) await world.plan()
  assert.deepEqual(
    forge.comments.map(({ topic }) => topic),
    ['edited'],
  )
})

test('while the cluster is unobservable the pull request stays, marked once as possibly outdated', async () => {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const { identify } = world.cluster
  world.cluster.identify = async () => {
    throw new Error('down')
  }
  const sent = forge.writes.length
  for (let turn = 0; turn < 3; turn += 1) await assert.rejects(world.plan())
  assert.deepEqual(reported(forge, sent), ['status drift/fresh pending'])
  assert.equal(forge.proposals[0]?.state, 'open')
  world.cluster.identify = identify
  await world.plan()
  assert.equal(reported(forge, sent).at(-1), 'status drift/fresh success')
})

test('the reviewers are the owners of the package', async () => {
  const world = new TurnWorld(undefined, {
    CODEOWNERS: '* @acme/everybody\n/apps/web/ @ada @acme/shop ops@acme.example\n',
  })
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  let requested: readonly string[] = []
  const { ensureProposal } = forge
  forge.ensureProposal = async (wanted, known) => {
    requested = wanted.reviewers
    return ensureProposal.call(forge, wanted, known)
  }
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  assert.deepEqual(requested, ['ada', 'acme/shop'])
})

/** Closed, seen to be closed, and then reopened with its branch. */
async function reopened(): Promise<{ world: TurnWorld; forge: MemoryForge; ref: string }> {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const { ref, commit } = forge.proposals[0] ?? { ref: '', commit: '' }
  forge.byHand(1, { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  await world.plan()
  world.repository.branches.set(ref, commit as never)
  forge.byHand(1, { state: 'open', decidedBy: undefined, decidedAt: undefined })
  await world.plan()
  return { world, forge, ref }
}

test('a merge after a reopen is the decision', async () => {
  const { world, forge, ref } = await reopened()
  await mergeByHand(world, ref.replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'ada', decidedAt: '2026-11-21T10:05:30Z' })
  await world.plan()
  const { closed } = await readRepository(world.repository, undefined, new AbortController().signal)
  assert.deepEqual(
    closed.map(({ status }) => [status.outcome, status.decidedBy, status.revision]),
    [['Merged', 'ada', 'v1']],
  )
  world.sync()
  await world.plan()
  assert.match(forge.comments.at(-1)?.body ?? '', /^Verified/)
  await world.plan()
  assert.deepEqual((await world.plan()).updates, [])
})

test('a second close after a reopen silences from then on', async () => {
  const { world, forge, ref } = await reopened()
  forge.byHand(1, { state: 'closed', decidedBy: 'ada', decidedAt: '2026-11-21T10:03:30Z' })
  await world.plan()
  const { closed } = await readRepository(world.repository, undefined, new AbortController().signal)
  assert.deepEqual(
    closed.map(({ status }) => [status.outcome, status.decidedBy, status.silentUntil]),
    [['Declined', 'ada', '2026-12-21T10:03:30Z']],
  )
  assert.equal(world.repository.branches.has(ref), false)
  assert.deepEqual((await world.plan()).updates, [])
})

test('drift that heals after a reopen is Healed', async () => {
  const { world } = await reopened()
  world.sync()
  assert.equal((await world.plan()).outcome, 'healed')
})
