/** Rules of a repository for commits and pull requests, over whole turns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { policyText, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'
import { runTurn } from './run-turn.ts'

const COMMIT = 'commit: {signOff: false, subjectPrefix: "OPS-42:"}'
const PULL_REQUEST =
  'pullRequest: {reviewers: ["@ann"], assignees: [bob], labels: [gitops], milestone: Q4, draft: true, footer: "## Checklist\\n- [x] none"}'

function worldOf(house: string): { world: TurnWorld; forge: MemoryForge } {
  const policy = `{mode: Propose, detect: {minAge: 0s, settle: 0s}${house === '' ? '' : `, ${house}`}}`
  const world = new TurnWorld('{}', {
    '.drift/policy.yaml': policyText(policy),
    '.drift/at-once.yaml': '',
  })
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  return { world, forge }
}

test('commit, title, body, labels and people follow the policy, and a second turn writes nothing', async () => {
  const { world, forge } = worldOf(`${COMMIT}, ${PULL_REQUEST}`)
  await world.scan()
  const [pull] = forge.proposals
  assert.match(pull?.title ?? '', /^OPS-42: restore Deployment\/web replicas to 3/)
  assert.ok(pull?.labels.includes('gitops') && pull.labels.includes('drift'))
  assert.match(pull?.body ?? '', /-->\n\n## Checklist\n- \[x\] none\n$/)
  const wanted = forge.wanted.at(-1)
  assert.deepEqual(
    [wanted?.reviewers, wanted?.assignees, wanted?.milestone, wanted?.draft],
    [['ann'], ['bob'], 'Q4', true],
  )
  assert.ok(pull !== undefined)
  const { message } = await world.repository.commit(pull.commit)
  assert.match(message, /^OPS-42: restore Deployment\/web replicas to 3/)
  const writes = forge.writes.length
  await world.scan()
  assert.equal(forge.writes.length, writes)
})

test('a draft stays one until a person marks it ready, and does not become one again', async () => {
  const { world, forge } = worldOf(PULL_REQUEST)
  await world.scan()
  await world.scan()
  const [before] = forge.proposals
  assert.equal(before?.draft, true)
  if (before !== undefined) forge.proposals[0] = { ...before, draft: false }
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, false)
})

test('a branch pushed before the policy change stays recognised, even without its ledger entry', async () => {
  const { world, forge } = worldOf('')
  await world.scan()
  const [{ ref = '' } = {}] = forge.proposals
  const before = world.repository.branches.get(ref)
  world.repository.commitByHand('main', {
    '.drift/policy.yaml': policyText(
      `{mode: Propose, detect: {minAge: 0s, settle: 0s}, ${COMMIT}}`,
    ),
  })
  world.repository.branches.delete('refs/heads/drift-ledger')
  await world.scan()
  const pull = forge.proposals.find((proposal) => proposal.ref === ref)
  assert.match(pull?.title ?? '', /^OPS-42: /)
  assert.notEqual(before, undefined)
  assert.deepEqual(forge.comments, [], 'nobody is told that the branch is not ours')
})

test('an ignore proposal and an approved merge follow the policy too', async () => {
  const { world, forge } = worldOf(`${COMMIT}, ${PULL_REQUEST}`)
  await world.scan()
  forge.permissions.set('ada', 'write')
  forge.comment(1, 'ada', '/ignore 1 -- KEDA trial')
  world.pass(1)
  await runTurn(
    world.ports,
    world.request({ requestedActions: NO_REQUESTED_ACTIONS }),
    new AbortController().signal,
  )
  const ignore = forge.proposals.find(({ ref }) => ref.startsWith('refs/heads/drift/ignore-'))
  assert.ok(ignore !== undefined)
  assert.match(ignore.title, /^OPS-42: ignore Deployment\/web spec\.replicas$/)
  assert.match(
    (await world.repository.commit(ignore.commit)).message,
    /^OPS-42: ignore Deployment\/web/,
  )
  assert.deepEqual([ignore.labels.includes('gitops'), ignore.draft], [true, true])
  await world.approve()
  const merged = await world.repository.commit(
    world.repository.branches.get('refs/heads/main') ?? assert.fail(),
  )
  assert.match(merged.message, /^OPS-42: restore Deployment\/web replicas to 3/)
})

test('a joint proposal of several clusters follows the policy', async () => {
  const world = new FleetWorld(
    3,
    `{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, digest: off}, ${COMMIT}, ${PULL_REQUEST}}`,
  )
  world.edit([0, 1, 2])
  await world.scan()
  const [pull] = world.forge.proposals
  assert.ok(pull !== undefined)
  assert.equal(pull.title, 'OPS-42: restore Deployment/web in 3 clusters (one cause)')
  assert.match(
    (await world.repository.commit(pull.commit)).message,
    /^OPS-42: restore Deployment\/web in 3 clusters \(one cause\)\n/,
  )
  assert.match(pull.body, /## Checklist/)
  const writes = world.forge.writes.length
  await world.scan()
  assert.equal(world.forge.writes.length, writes)
})
