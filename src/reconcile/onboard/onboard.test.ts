import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { withMetadata } from '../../../test/fakes/live-object.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { BOT_EMAIL } from '../../../test/fakes/memory-repository.ts'
import { CONFIG, DEPLOYMENT, KPTFILE, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { type Onboarded, type OnboardRequest, runOnboarding } from './onboard.ts'

/** A repository without a policy, and a cluster that differs from it. */
function driftedWorld(hosted = true): TurnWorld {
  const world = new TurnWorld()
  const policies = world.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  world.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  if (hosted) world.forge = new MemoryForge(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  return world
}

async function init(world: TurnWorld, more: Partial<OnboardRequest> = {}): Promise<Onboarded> {
  world.pass(1)
  const request = {
    turn: world.request(),
    again: false,
    remove: false,
    confirm: async () => true,
    ...more,
  }
  return runOnboarding(world.ports, request, new AbortController().signal)
}

function forgeOf(world: TurnWorld): MemoryForge {
  assert.ok(world.forge)
  return world.forge
}

test('opens a proposal with the files and the expected effect; a repeat writes nothing', async () => {
  const world = driftedWorld()
  const first = await init(world)
  assert.deepEqual(world.repository.names(), ['drift/configure'])
  assert.match(
    world.repository.text('drift/configure', '.drift/default.policy') ?? '',
    /\n {2}mode: Warn\n/,
  )
  assert.equal(world.repository.text('drift/configure', 'apps/web/config.yaml'), CONFIG)
  assert.equal(first.opened?.label, '#1')
  const { body, title } = forgeOf(world).proposals[0] ?? { body: '', title: '' }
  assert.match(body, /With this policy \(1 package: 1 Warn\): \*\*0 pull requests today\*\*/)
  assert.match(body, /everywhere: \*\*1 pull request today\*\* \(0 critical, 0 high\)/)
  assert.match(body, /\| `apps\/web` \| `prod` \| 1 \| medium \| `kubectl-edit` \(human tool\) \|/)
  assert.equal(title, 'chore(drift): configure Backporch')
  const [pushes, writes] = [world.repository.pushes.length, forgeOf(world).writes.length]
  const second = await init(world, { confirm: () => assert.fail('nobody is asked again') })
  assert.deepEqual(
    [second.updates, world.repository.pushes.length, forgeOf(world).writes.length],
    [[], pushes, writes],
  )
})

test('a dry run or a declined confirmation writes nothing', async () => {
  const world = driftedWorld()
  const dry = await init(world, {
    turn: world.request({ dryRun: true }),
    confirm: () => assert.fail('asked'),
  })
  assert.deepEqual(
    dry.files.map(({ path }) => path),
    ['.drift/default.policy'],
  )
  assert.equal((await init(world, { confirm: async () => false })).refused, true)
  assert.deepEqual([world.repository.pushes, forgeOf(world).writes], [[], []])
})

test('onboarding records no drift; the ledger has only the pushed commit', async () => {
  const world = driftedWorld()
  await init(world)
  assert.deepEqual(world.repository.names(), ['drift/configure'])
  assert.deepEqual(world.repository.paths('drift-ledger'), ['pushed/drift/configure.yaml'])
  assert.match(
    world.repository.text('drift-ledger', 'pushed/drift/configure.yaml') ?? '',
    new RegExp(world.repository.head('drift/configure')),
  )
})

test('removal leaves nothing behind, and deletes a ledger without other content', async () => {
  const world = driftedWorld()
  await init(world)
  await init(world, { remove: true })
  assert.deepEqual([...world.repository.branches.keys()], ['refs/heads/main'])
  await init(world, { again: true })
  world.repository.commitByHand('drift-ledger', { 'closed/2026/11/a.yaml': 'x' })
  await init(world, { remove: true })
  assert.deepEqual(world.repository.names(), [])
  assert.deepEqual(world.repository.paths('drift-ledger'), [
    'closed/2026/11/a.yaml',
    'pushed/drift/configure.yaml',
  ])
})

test('the proposal text follows a policy edited on the branch, which is never overwritten', async () => {
  const world = driftedWorld()
  await init(world)
  const text = world.repository.text('drift/configure', '.drift/default.policy') ?? ''
  const head = world.repository.commitByHand('drift/configure', {
    '.drift/default.policy': text.replace('mode: Warn', 'mode: Propose'),
  })
  world.edit('/ConfigMap/shop/web', 'data.color', 'red')
  const again = await init(world, { confirm: () => assert.fail('nobody is asked again') })
  assert.equal(world.repository.head('drift/configure'), head)
  assert.deepEqual(again.updates, [])
  const [{ body } = { body: '' }] = forgeOf(world).proposals
  assert.match(body, /1 package: 1 Propose\): \*\*1 pull request today\*\*/)
  assert.match(body, /\*\*Edited by `ada@example.com`\*\*/)
  const { length } = forgeOf(world).writes
  await init(world)
  assert.equal(forgeOf(world).writes.length, length, 'and once only')
})

test('an ignore rule on the branch hides its drift, and mode Off counts as Off', async () => {
  const world = driftedWorld()
  await init(world)
  const spec = '{mode: Off, ignore: [{paths: [spec.replicas], reason: x}]}'
  const policy = `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: a}\nspec: ${spec}\n`
  world.repository.commitByHand('drift/configure', { '.drift/default.policy': policy })
  const { subject } = await init(world)
  assert.deepEqual(
    [subject?.expected?.modes, subject?.expected?.proposals, subject?.expected?.muted],
    [{ Propose: 0, Warn: 0, Off: 1 }, [], { fields: 1, rules: 1 }],
  )
})

test('an invalid policy on the branch is reported in the text with its line', async () => {
  const world = driftedWorld()
  await init(world)
  world.repository.commitByHand('drift/configure', {
    '.drift/default.policy':
      'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: a}\nspec: {mod: x}\n',
  })
  await init(world)
  assert.match(
    forgeOf(world).proposals[0]?.body ?? '',
    /not valid.*\n\n- `\.drift\/default\.policy:4: unknown field spec\.mod`/,
  )
  world.repository.commitByHand('drift/configure', { '.drift/default.policy': null })
  await init(world)
  assert.match(
    forgeOf(world).proposals[0]?.body ?? '',
    /there is no DriftPolicy under \.drift\/ on this branch/,
  )
})

test('an unedited branch is updated with newly found rules', async () => {
  const world = driftedWorld()
  await init(world)
  world.cluster.change(WEB, (live) =>
    withMetadata(live, { annotations: { 'projectsveltos.io/driftDetectionIgnore': 'ok' } }),
  )
  const before = world.repository.head('drift/configure')
  const again = await init(world)
  assert.deepEqual(
    again.updates.map(({ ref, from }) => [ref, ref === 'refs/heads/drift/configure' ? from : '']),
    [
      ['refs/heads/drift/configure', before],
      ['refs/heads/drift-ledger', ''],
    ],
  )
  assert.match(
    world.repository.text('drift/configure', '.drift/default.policy') ?? '',
    /Sveltos ignores it/,
  )
  assert.deepEqual(again.subject?.expected?.muted, { fields: 1, rules: 1 })
  assert.deepEqual(again.subject?.expected?.proposals, [])
})

test('after the merge the repository is enrolled, the branch deleted and nothing more is done', async () => {
  const world = driftedWorld()
  await init(world)
  world.repository.branches.set('refs/heads/main', world.repository.head('drift/configure'))
  forgeOf(world).byHand(1, { state: 'merged', decidedBy: 'ada' })
  const merged = await init(world, { confirm: () => assert.fail('asked') })
  assert.equal(merged.plan.kind, 'enrolled')
  assert.deepEqual([...world.repository.branches.keys()], ['refs/heads/main'])
  assert.deepEqual(world.repository.names(), [])
  const { length } = world.repository.pushes
  assert.equal((await init(world)).plan.kind, 'enrolled')
  assert.equal(world.repository.pushes.length, length)
  assert.equal(
    (await world.plan()).report.status.lifecycle,
    'Draft',
    'and the merged policy is what a scan goes by',
  )
})

test('after a close the branch is deleted, and a new proposal needs a request', async () => {
  const world = driftedWorld()
  await init(world)
  forgeOf(world).byHand(1, { state: 'closed', decidedBy: 'ada', decidedAt: '2026-11-21T10:02:00Z' })
  const closed = await init(world, { confirm: () => assert.fail('asked') })
  assert.equal(closed.plan.kind, 'declined')
  assert.deepEqual([...world.repository.branches.keys()], ['refs/heads/main'])
  assert.equal((await init(world)).updates.length, 0)
  const again = await init(world, { again: true })
  assert.equal(again.opened?.label, '#2')
})

test('after a close an edited branch stays', async () => {
  const world = driftedWorld()
  await init(world)
  world.repository.commitByHand('drift/configure', { notes: 'mine' })
  forgeOf(world).byHand(1, { state: 'closed' })
  await init(world)
  assert.deepEqual(world.repository.names(), ['drift/configure'])
  await init(world, { remove: true })
  assert.deepEqual(world.repository.names(), [])
})

test('without a forge the branch is the proposal', async () => {
  const world = driftedWorld(false)
  const first = await init(world)
  assert.deepEqual(
    [first.opened?.number, world.repository.names()],
    [undefined, ['drift/configure']],
  )
  assert.equal((await init(world, { confirm: () => assert.fail('asked') })).updates.length, 0)
  world.repository.commitByHand('main', { 'apps/web/config.yaml': CONFIG.replace('blue', 'red') })
  assert.equal(
    (await init(world)).updates.length,
    0,
    'another commit on the base changes nothing of it',
  )
  const head = world.repository.head('drift/configure')
  world.repository.commitByHand(
    'main',
    {
      '.drift/default.policy':
        world.repository.text('drift/configure', '.drift/default.policy') ?? '',
    },
    { parents: [world.repository.head('main'), head] },
  )
  assert.equal((await init(world)).plan.kind, 'enrolled')
  assert.deepEqual(world.repository.names(), [], 'the merged branch goes')
})

test('packages absent from the cluster are not counted, and a placement lists the present ones', async () => {
  const world = driftedWorld()
  const gone = DEPLOYMENT.replaceAll('web', 'gone')
  world.repository.commitByHand('main', {
    'apps/gone/Kptfile': KPTFILE.replace('web', 'gone'),
    'apps/gone/deployment.yaml': gone,
  })
  const { subject } = await init(world)
  assert.deepEqual(
    [subject?.packages, subject?.elsewhere, subject?.expected?.proposals.length],
    [1, 1, 1],
  )
  assert.match(
    world.repository.text('drift/configure', '.drift/default.policy') ?? '',
    /kind: Placement\n(?:.*\n)*? {2}packages:\n {2}- apps\/web\n---\n/,
  )
})

test('resources that cannot be listed are reported and stop nothing', async () => {
  const world = driftedWorld()
  world.cluster.unreadable.add('autoscaling/HorizontalPodAutoscaler')
  const { subject } = await init(world)
  assert.deepEqual(subject?.notObserved, ['every HorizontalPodAutoscaler: BP3003, it is forbidden'])
})

test('an unreadable package is reported in the text', async () => {
  const world = driftedWorld()
  world.repository.commitByHand('main', {
    'apps/bad/Kptfile': KPTFILE.replace('web', 'bad'),
    'apps/bad/x.yaml': 'a: [',
  })
  const { subject } = await init(world)
  assert.deepEqual(
    subject?.expected?.failed.map(({ packageName, code }) => [packageName, code]),
    [['apps/bad', 'BP1110']],
  )
  assert.equal(subject?.packages, 2, 'and no placement hides it')
})

test('a run that ended between the push and the proposal is completed by the next one', async () => {
  const world = driftedWorld()
  forgeOf(world).beforeWrite = () => {
    throw new Failure({ code: 'BP5001', what: 'no answer', why: 'it ended', remedy: 'again' })
  }
  await assert.rejects(init(world))
  forgeOf(world).beforeWrite = () => undefined
  const { updates, opened } = await init(world)
  assert.deepEqual([updates, opened?.label], [[], '#1'])
})

test('a branch that moved meanwhile is read again, and the foreign commit is kept', async () => {
  const world = driftedWorld()
  world.repository.beforePush = () => {
    world.repository.beforePush = () => undefined
    world.repository.commitByHand('drift/configure', { '.drift/default.policy': 'kind: x' })
  }
  const { updates } = await init(world)
  assert.deepEqual(updates, [])
  assert.equal(world.repository.text('drift/configure', '.drift/default.policy'), 'kind: x')
})

test('an amended commit or a merge of the base makes the branch foreign', async () => {
  for (const change of [
    { author: BOT_EMAIL, committer: 'ada@example.com' },
    { author: BOT_EMAIL, committer: BOT_EMAIL, merge: true },
  ]) {
    const world = driftedWorld()
    await init(world)
    const parents =
      change.merge === true
        ? [world.repository.head('drift/configure'), world.repository.head('main')]
        : undefined
    const head = world.repository.commitByHand(
      'drift/configure',
      { 'README.md': '' },
      { ...change, ...(parents === undefined ? {} : { parents }) },
    )
    assert.deepEqual((await init(world)).updates, [])
    assert.equal(world.repository.head('drift/configure'), head)
  }
})

test('the same repository and cluster give the same commit at any time', async () => {
  const [one, other] = [driftedWorld(), driftedWorld()]
  await init(one)
  other.pass(60)
  await init(other)
  assert.equal(one.repository.head('drift/configure'), other.repository.head('drift/configure'))
})
