import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOT_EMAIL } from '../../../test/fakes/memory-repository.ts'
import {
  CONFIG,
  KPTFILE,
  mergeByHand,
  proposed,
  refused,
  stateOf,
  TurnWorld,
  WEB,
  WEB_CONFIG,
} from '../../../test/fakes/turn-world.ts'

const FOREIGN: readonly (readonly [name: string, more: { author?: string; committer?: string }])[] =
  [
    ["on top of the bot's commit", {}],
    [
      "amended from the bot's commit (git commit --amend)",
      { author: BOT_EMAIL, committer: 'ada@example.com' },
    ],
  ]

for (const [name, more] of FOREIGN) {
  test(`a branch with a foreign commit ${name} is never pushed to again`, async () => {
    const world = await proposed()
    const [branch = ''] = world.repository.names()
    const ours = await world.repository.commit(world.repository.head(branch))
    const theirs = world.repository.commitByHand(
      branch,
      { 'apps/web/NOTES.md': 'mine' },
      more.author === undefined ? {} : { ...more, parents: ours.parents },
    )
    for (const change of [5, 6, 3]) {
      world.edit(WEB, 'spec.replicas', change)
      assert.equal((await world.plan()).outcome, 'foreign')
    }
    world.sync()
    assert.equal((await world.plan()).outcome, 'foreign')
    assert.equal(world.repository.head(branch), theirs)
    world.edit(WEB, 'spec.replicas', 8)
    await refused(world.resolutionRequest('Adopt'), 'BP2009')
    await refused(world.approve(), 'BP2009')
    assert.equal(world.repository.head(branch), theirs)
  })
}

test('a branch without its record is foreign, and other packages continue', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  const record =
    world.repository.paths(branch).find((path) => path.startsWith('.drift/records/')) ?? ''
  const theirs = world.repository.commitByHand(branch, { [record]: null })
  world.repository.commitByHand('main', {
    'apps/api/Kptfile': KPTFILE,
    'apps/api/config.yaml': CONFIG.replaceAll('web', 'api'),
  })
  world.sync()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit('/ConfigMap/shop/api', 'data.color', 'red')
  const { units } = await world.scan()
  assert.deepEqual(
    units.map((unit) => (unit.state === 'planned' ? unit.plan.outcome : unit.failures[0].why)),
    ['created', 'foreign'],
  )
  assert.equal(world.repository.head(branch), theirs)
  assert.doesNotMatch(world.repository.everything(), /outcome: Declined/)
})

test('a manual merge closes the episode, tags the revision and deletes the branch', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  await mergeByHand(world, branch)
  assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
})

test('a merge whose branch the forge deleted closes the episode too, once, with the tag on the base branch', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  await mergeByHand(world, branch)
  world.repository.branches.delete(`refs/heads/${branch}`)
  assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
  assert.equal(
    world.repository.branches.get('refs/tags/apps/web/v1'),
    world.repository.head('main'),
  )
  assert.match(world.repository.everything(), /outcome: Merged/)
  await world.plan()
  assert.deepEqual((await world.plan()).updates, [])
  world.sync()
  assert.deepEqual(await stateOf(world), ['InSync', 'none'])
})

test('a manually merged branch with later commits is left alone', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  await mergeByHand(world, branch)
  const theirs = world.repository.commitByHand(branch, { 'apps/web/NOTES.md': 'to be continued' })
  await world.plan()
  assert.equal(world.repository.head(branch), theirs)
  const { updates } = await world.plan()
  assert.deepEqual(updates, [])
})

test('a merged draft stays open, and a later proposal is not taken for merged', async () => {
  const world = new TurnWorld('{mode: Warn, settle: backporch}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [draft = ''] = world.repository.names()
  await mergeByHand(world, draft)
  assert.equal((await stateOf(world))[0], 'Drifted')
  await world.resolutionRequest('Restore')
  assert.equal((await stateOf(world))[0], 'Drifted')
  assert.deepEqual(
    world.repository.names().map((name) => name.split('/')[0]),
    ['proposed'],
  )
})

test('a deleted branch is a rejection', async () => {
  const world = await proposed()
  world.repository.branches.delete(`refs/heads/${world.repository.names()[0]}`)
  assert.deepEqual(await stateOf(world), ['Silenced', 'silenced'])
})

test('the record of a draft releases nothing, even on the base branch', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Release}}')
  world.edit(WEB_CONFIG, 'data.extra', 'x')
  await world.plan()
  const [draft = ''] = world.repository.names()
  await mergeByHand(world, draft)
  assert.equal((await stateOf(world))[0], 'Drifted')
})
