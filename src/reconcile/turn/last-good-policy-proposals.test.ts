/** Open proposals, approvals and commands while the policy is unusable (docs/adr/0071-the-last-good-policy.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, ask, opened, resolutions, tick } from '../../../test/fakes/answered-proposal.ts'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import {
  EVIL,
  everything,
  IMAGE,
  openIn,
  PLACEMENT,
  POLICY,
  sceneOf,
  TYPO,
} from '../../../test/fakes/policy-scene.ts'
import { policyText, refused, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'

test('an open proposal is updated with the last good policy, says so, and ends with its drift', async () => {
  const scene = sceneOf()
  const { world, forge } = scene
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  await world.scan()
  const [proposal] = forge.proposals
  assert.equal(openIn(scene), 1)
  assert.equal(forge.statuses.get(`${proposal?.commit} drift/policy`)?.state, 'failure')
  world.edit(WEB, 'spec.replicas', 7)
  const updated = await world.plan()
  assert.equal(updated.outcome, 'updated')
  assert.match(forge.proposals[0]?.body ?? '', /`7`/)
  world.sync()
  assert.equal((await world.plan()).outcome, 'healed')
  assert.deepEqual(world.repository.names(), [])
})

test('while values are withheld an open proposal never changes, and ends with its drift', async () => {
  const scene = sceneOf()
  const { world, forge } = scene
  world.edit(WEB, 'spec.replicas', 5)
  await world.resolutionRequest('Adopt')
  const [before] = forge.proposals
  world.repository.commitByHand('main', { '.drift/place.policy': PLACEMENT('{namespace: [shop]}') })
  await world.scan()
  world.edit(WEB, IMAGE, EVIL)
  const { outcome, notes } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.match(
    notes.map(({ text }) => text).join('\n'),
    /the policy cannot be used \(\.drift\/place\.policy:4\).*it is left alone/,
  )
  const [after] = forge.proposals
  assert.deepEqual(
    [after?.commit, after?.body, after?.title],
    [before?.commit, before?.body, before?.title],
  )
  assert.doesNotMatch(everything(scene), /evil\.example\.com/)
  assert.doesNotMatch(forge.issues.get('dashboard')?.body ?? '', /Cannot adopt/)
  world.repository.commitByHand('main', { '.drift/place.policy': null })
  const corrected = await world.plan()
  assert.equal(corrected.outcome, 'updated')
  assert.deepEqual(
    corrected.report.spec.changes.map(({ path, resolution }) => [path, resolution]).sort(),
    [
      ['spec.replicas', 'Adopt'],
      [IMAGE, 'Restore'],
    ],
  )
})

test('while values are withheld a joint proposal stays unchanged, and later takes the next cluster', async () => {
  const world = new FleetWorld(4)
  world.edit([0, 1, 2])
  await world.scan()
  const [branch = ''] = world.repository.names()
  const [head, body] = [world.repository.head(branch), world.forge.proposals[0]?.body]
  world.repository.commitByHand('main', { '.drift/place.policy': PLACEMENT('{namespace: [shop]}') })
  world.edit([3])
  for (let turn = 0; turn < 3; turn += 1) await world.scan()
  assert.deepEqual(world.repository.names(), [branch])
  assert.deepEqual([world.repository.head(branch), world.forge.proposals[0]?.body], [head, body])
  world.repository.commitByHand('main', { '.drift/place.policy': null })
  await world.scan()
  assert.deepEqual(world.repository.names(), [branch])
  assert.match(world.forge.proposals[0]?.title ?? '', /in 4 clusters/)
})

test('approvals, plans and requested proposals are rejected; a rejection works', async () => {
  const { world, forge } = sceneOf()
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  const pushes = world.repository.pushes.length
  const approval = await refused(world.approve(), 'BP1005')
  assert.equal(approval.where, '.drift/policy.yaml:4')
  assert.match(approval.why, /the policy cannot be used: \.drift\/policy\.yaml:4: spec\.mode/)
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const)
    await refused(world.resolutionRequest(resolution), 'BP1005')
  assert.equal(world.repository.pushes.length, pushes)
  assert.equal(forge.proposals[0]?.state, 'open')
  await world.reject()
  assert.equal(forge.proposals[0]?.state, 'closed')
})

test('writing commands are rejected with file and line; queries and snooze are answered', async () => {
  const scene = await opened()
  scene.world.repository.commitByHand('main', { [POLICY]: TYPO })
  const pushes = scene.world.repository.pushes.length
  for (const command of [
    '/adopt 1',
    '/restore 1',
    '/release 1',
    '/recreate',
    '/ignore 1 -- why',
    '/unignore 1',
  ]) {
    const { outcome, text } = await ask(scene, command)
    assert.equal(outcome, 'refused', command)
    assert.match(text, /the policy cannot be used: `\.drift\/policy\.yaml:4`: `spec\.mode`/)
  }
  for (const command of ['/explain 1', '/help', '/show ignores', '/recheck', '/snooze 7d'])
    assert.equal((await ask(scene, command)).outcome, 'done', command)
  await tick(scene, /backporch:adopt=.*Deployment/)
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  assert.equal(scene.forge.proposals.length, 1)
  assert.ok(
    scene.world.repository.pushes
      .slice(pushes)
      .every((updates) => updates.every(({ ref }) => ref === 'refs/heads/drift-ledger')),
  )
})

test('an approval that ended between its merge and the ledger is completed', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  const { commit } = await world.approve()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  assert.equal((await world.approve()).commit, commit)
})

test('an earlier merge is settled only once the policy is valid', async () => {
  const world = new TurnWorld('{mode: Propose, settle: backporch}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  await world.approve()
  world.repository.commitByHand('main', {
    [POLICY]: policyText('{mode: Propse, settle: backporch}'),
  })
  const settles = async (): Promise<number> => {
    const { runFleetTurn } = await import('./run-turn.ts')
    const ports = {
      ...world.ports,
      clusters: [world.cluster],
      openWriter: () => assert.fail('a rehearsal opens no writer'),
    }
    world.pass(1)
    const { written } = await runFleetTurn(
      ports,
      world.request({ dryRun: true, rehearses: true }),
      new AbortController().signal,
    )
    return written.filter((line) => line.startsWith('apply')).length
  }
  assert.equal(await settles(), 0)
  world.repository.commitByHand('main', {
    [POLICY]: policyText('{mode: Propose, settle: backporch}'),
  })
  assert.equal(await settles(), 1)
})
