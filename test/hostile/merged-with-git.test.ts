/** Git has a merge that the forge does not have: the decision is a merge, and the pull request says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { mergeByHand, TurnWorld, WEB } from '../fakes/turn-world.ts'
import { closedOf } from './race-sweep.ts'

/** A pull request is open, and git has its merge. */
async function mergedInGit(): Promise<{ world: TurnWorld; forge: MemoryForge }> {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  return { world, forge }
}

const decisions = ({ repository }: TurnWorld): readonly string[][] =>
  closedOf(repository).map(({ status }) => [status.outcome, status.decidedBy])

const text = (forge: MemoryForge, topic: string): readonly string[] =>
  forge.comments.filter((comment) => comment.topic === topic).map(({ body }) => body)

test('comments once on a closed pull request that it is a merge, if the forge never knows', async () => {
  const { world, forge } = await mergedInGit()
  for (let turn = 0; turn < 3; turn += 1) await world.plan()
  assert.deepEqual(decisions(world), [['Merged', 'ada@example.com <ada@example.com>']])
  assert.equal(forge.proposals[0]?.state, 'closed')
  const [merged = '', ...more] = text(forge, 'merged')
  assert.deepEqual(more, [])
  assert.match(
    merged,
    /^\*\*Merged\*\* by .*ada.*: .* on the base branch contains it\. Memory does not recognise that merge and shows this pull request as closed/,
  )
  world.sync()
  await world.plan()
  assert.match(text(forge, 'outcome').join(), /^Verified at /)
  assert.deepEqual(text(forge, 'merged'), [merged], 'and stays')
  assert.equal(forge.writes.filter((write) => write === 'comment #1 merged').length, 1)
})

test('treats a pull request that was merged with git and then closed as merged', async () => {
  const { world, forge } = await mergedInGit()
  forge.byHand(1, { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  await world.plan()
  assert.deepEqual(decisions(world), [['Merged', 'ada@example.com <ada@example.com>']])
  assert.equal(text(forge, 'merged').length, 1)
})

test('keeps the branch until the forge records its own merge, and takes the decider from it', async () => {
  const { world, forge } = await mergedInGit()
  forge.beforeEndCheck = ({ ref }) => {
    assert.ok(world.repository.branches.has(ref), 'the branch is still there')
    forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  }
  await world.plan()
  await world.plan()
  assert.deepEqual(decisions(world), [['Merged', 'grace']])
  assert.equal(forge.proposals[0]?.state, 'merged')
  assert.deepEqual(text(forge, 'merged'), [], 'the page says it')
})
