import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEPLOYMENT, proposed, refused, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

/** Replicas were restored by a merge that nobody applied yet; the colour changed after that. */
async function applying(): Promise<TurnWorld> {
  const world = await proposed()
  await world.approve()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { report } = await world.plan()
  assert.deepEqual(
    report.spec.changes.map(({ path }) => path),
    ['data.color', 'spec.replicas'],
  )
  return world
}

for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
  test(`${resolution} of a change whose merged decision is being applied is refused, and names the decision`, async () => {
    const world = await applying()
    const before = new Map(world.repository.branches)
    const failure = await refused(world.resolutionRequest(resolution, ['2']), 'BP2008')
    assert.equal(failure.what, 'the decision about Deployment shop/web spec.replicas is made already')
    assert.match(failure.why, /^drift-[0-9a-f]{8} \(v1\) was merged to restore it, and the cluster does not agree yet$/)
    assert.equal(failure.remedy, 'let it be applied, then backporch scan apps/web; decide anew if it differs after that')
    assert.deepEqual(world.repository.branches, before)
  })
}

test('a selection of which a part is decided is refused as a whole, and says how to select the rest', async () => {
  const world = await applying()
  const failure = await refused(world.resolutionRequest('Adopt', ['1,2']), 'BP2008')
  assert.match(failure.what, /spec\.replicas is made already$/)
  assert.doesNotMatch(failure.what, /color/)
  assert.match(failure.remedy, /select only the changes that are still open/)
  const { record } = await world.resolutionRequest('Adopt', ['1'])
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => [path, resolution]),
    [['data.color', 'Adopt']],
  )
})

test('without a selection the open changes are meant, and the decided ones stay decided', async () => {
  const world = await applying()
  const { record } = await world.resolutionRequest('Adopt')
  assert.deepEqual(
    record?.spec.changes.map(({ path }) => path),
    ['data.color'],
  )
})

test('where everything is decided, nothing to decide does not claim that live agrees with git', async () => {
  const world = await proposed()
  await world.approve()
  const failure = await refused(world.resolutionRequest('Adopt'), 'BP2008')
  assert.match(failure.why, /^what differs \(1\) was decided: it is merged/)
})

test('a field that is decided and changes once more can be decided again', async () => {
  const world = await applying()
  world.edit(WEB, 'spec.replicas', 7)
  const { record } = await world.resolutionRequest('Release', ['2'])
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => `${path} ${resolution}`),
    ['data.color Restore', 'spec.replicas Release'],
  )
})

test('of a package that only waits for its syncer, nothing to decide says so, which commit, and what to do', async () => {
  const world = new TurnWorld()
  const moved = world.repository.commitByHand('main', { 'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 4') })
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
    const { why, remedy } = await refused(world.resolutionRequest(resolution), 'BP2008')
    assert.match(why, /^what differs \(1\) waits for the syncer and is no drift: live is what [0-9a-f]{7} rendered, git has /)
    assert.ok(why.includes(`git has ${moved.slice(0, 7)} since`), why)
    assert.equal(remedy, 'let the syncer apply it, then backporch scan apps/web; to keep what is live, revert that commit')
  }
})

test('of a package whose differences are ignored, nothing to decide does not claim that live agrees with git', async () => {
  const world = new TurnWorld('{mode: Propose, ignore: [{paths: [spec.replicas], reason: autoscaled}]}')
  world.edit(WEB, 'spec.replicas', 5)
  const { why, remedy } = await refused(world.resolutionRequest('Restore'), 'BP2008')
  assert.deepEqual([why, remedy], ['what differs (1) is ignored or released, so it is no drift', 'backporch diff --show-ignored lists it'])
})
