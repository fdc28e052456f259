/** Which commit has the last good policy, over whole turns: how far back the search goes, and what happens if there is none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommitView } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { policyText, refused, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { TurnCache } from '../observe/turn-cache.ts'

const POLICY = '.drift/policy.yaml'
const TYPO = policyText('{mode: Propse}')

test('without any earlier valid policy the turn fails and says that none was found', async () => {
  const world = new TurnWorld('{mode: Propse}')
  world.repository.commitByHand('main', { 'README.md': 'x\n' })
  const { why } = await refused(world.scan(), 'BP1005')
  assert.match(
    why,
    /^\.drift\/policy\.yaml:4: spec\.mode: .*\n {7}no earlier commit has a policy that can be used$/,
  )
})

test('a shallow clone without a valid policy fails and says where its history ends', async () => {
  const world = new TurnWorld()
  const cut = world.repository.head('main')
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  const end = world.repository.head('main')
  const { repository } = world
  const [commit, list] = [repository.commit.bind(repository), repository.list.bind(repository)]
  const beyond = <Answer>(id: string, work: () => Promise<Answer>): Promise<Answer> =>
    id === cut
      ? Promise.reject(
          new Failure({
            code: 'BP4011',
            what: 'cannot read',
            why: 'the clone is shallow',
            remedy: 'fetch it',
          }),
        )
      : work()
  repository.commit = (id): Promise<CommitView> => beyond(id, () => commit(id))
  repository.list = (id, path) => beyond(id, () => list(id, path))
  const { why } = await refused(world.scan(), 'BP1005')
  assert.match(
    why,
    new RegExp(
      `the clone ends at commit ${end.slice(0, 7)}, and none of its commits has a policy that can be used`,
    ),
  )
})

test('the search follows first parents: a merged policy counts from the merge on', async () => {
  const world = new TurnWorld('{mode: Warn}')
  const { repository } = world
  const good = repository.head('main')
  repository.commitByHand('side', { [POLICY]: policyText('{mode: Off}') })
  const side = repository.head('side')
  repository.commitByHand('main', { [POLICY]: TYPO }, { parents: [good, side] })
  const { view } = await world.scan()
  assert.equal(view.policies.lastGood?.commit, good)
})

test('a commit without a policy counts as valid, with the shipped default', async () => {
  const world = new TurnWorld('{mode: Propose}', { [POLICY]: '', '.drift/at-once.yaml': '' })
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  world.edit(WEB, 'spec.replicas', 5)
  const { units } = await world.scan()
  assert.equal(units[0]?.state === 'planned' && units[0].observation.policy.mode, 'Warn')
})

test('turns of one process search the history once, and go on from there', async () => {
  const world = new TurnWorld()
  const { repository } = world
  const good = repository.head('main')
  for (let index = 0; index < 30; index += 1)
    repository.commitByHand('main', { [POLICY]: TYPO, 'README.md': `${index}\n` })
  const between = new TurnCache()
  const listed: string[] = []
  const list = repository.list.bind(repository)
  repository.list = (id, path) => {
    if (path === '.drift') listed.push(id)
    return list(id, path)
  }
  await world.scan({ between })
  assert.equal(listed.length, 30)
  listed.length = 0
  repository.commitByHand('main', { 'README.md': 'x\n' })
  const { view } = await world.scan({ between })
  assert.equal(view.policies.lastGood?.commit, good)
  assert.equal(listed.length, 2)
})
