import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withMetadata } from '../../../test/fakes/live-object.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { BOT_EMAIL } from '../../../test/fakes/memory-repository.ts'
import { CONFIG, DEPLOYMENT, KPTFILE, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { Failure } from '../../failure.ts'
import { type Onboarded, type OnboardRequest, onboard } from './onboard.ts'

/** A repository without a policy, and a cluster that differs from it. */
function world(hosted = true): TurnWorld {
  const created = new TurnWorld()
  const policies = created.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  created.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  if (hosted) created.forge = new MemoryForge(created.repository)
  created.edit(WEB, 'spec.replicas', 5)
  return created
}

async function init(created: TurnWorld, more: Partial<OnboardRequest> = {}): Promise<Onboarded> {
  created.pass(1)
  const request = { ...created.request(), again: false, remove: false, confirm: async () => true, ...more }
  return onboard(created.ports, request, new AbortController().signal)
}

function forgeOf(created: TurnWorld): MemoryForge {
  assert.ok(created.forge)
  return created.forge
}

test('a proposal with the files and what to expect; said again it writes nothing at all', async () => {
  const created = world()
  const first = await init(created)
  assert.deepEqual(created.repository.names(), ['drift/configure'])
  assert.equal(created.repository.text('drift/configure', '.sourceignore'), '# Records of Backporch are no manifests.\n/.drift/\n')
  assert.match(created.repository.text('drift/configure', '.drift/policy.yaml') ?? '', /\n {2}mode: Warn\n/)
  assert.equal(created.repository.text('drift/configure', 'apps/web/config.yaml'), CONFIG)
  assert.equal(first.opened?.label, '#1')
  const { body, title } = forgeOf(created).proposals[0] ?? { body: '', title: '' }
  assert.match(body, /As the policy stands \(1 package: 1 Warn\): \*\*0 pull requests today\*\*/)
  assert.match(body, /everywhere: \*\*1 pull request today\*\* \(0 critical, 0 high\)/)
  assert.match(body, /\| `apps\/web` \| `prod` \| 1 \| medium \| `kubectl-edit` \(human tool\) \|/)
  assert.equal(title, 'chore(drift): configure Backporch')
  const [pushes, writes] = [created.repository.pushes.length, forgeOf(created).writes.length]
  const second = await init(created, { confirm: () => assert.fail('nobody is asked again') })
  assert.deepEqual([second.updates, created.repository.pushes.length, forgeOf(created).writes.length], [[], pushes, writes])
})

test('nothing is written on a dry run, and nothing after a no', async () => {
  const created = world()
  const dry = await init(created, { dryRun: true, confirm: () => assert.fail('asked') })
  assert.equal(dry.files.length, 2)
  assert.equal((await init(created, { confirm: async () => false })).refused, true)
  assert.deepEqual([created.repository.pushes, forgeOf(created).writes], [[], []])
})

test('looking writes nothing for the drift itself: no draft, and in the ledger only which commit was pushed', async () => {
  const created = world()
  await init(created)
  assert.deepEqual(created.repository.names(), ['drift/configure'])
  assert.deepEqual(created.repository.paths('drift-ledger'), ['pushed/drift/configure.yaml'])
  assert.match(
    created.repository.text('drift-ledger', 'pushed/drift/configure.yaml') ?? '',
    new RegExp(created.repository.head('drift/configure')),
  )
})

test('taken back, nothing is left: the ledger goes where it knows nothing else', async () => {
  const created = world()
  await init(created)
  await init(created, { remove: true })
  assert.deepEqual([...created.repository.branches.keys()], ['refs/heads/main'])
  await init(created, { again: true })
  created.repository.commitByHand('drift-ledger', { 'closed/2026/11/a.yaml': 'x' })
  await init(created, { remove: true })
  assert.deepEqual(created.repository.names(), [])
  assert.deepEqual(created.repository.paths('drift-ledger'), ['closed/2026/11/a.yaml', 'pushed/drift/configure.yaml'])
})

test('the text follows a policy that somebody edits on the branch, which is never pushed over', async () => {
  const created = world()
  await init(created)
  const text = created.repository.text('drift/configure', '.drift/policy.yaml') ?? ''
  const head = created.repository.commitByHand('drift/configure', { '.drift/policy.yaml': text.replace('mode: Warn', 'mode: Propose') })
  created.edit('/ConfigMap/shop/web', 'data.color', 'red')
  const again = await init(created, { confirm: () => assert.fail('nobody is asked again') })
  assert.equal(created.repository.head('drift/configure'), head)
  assert.deepEqual(again.updates, [])
  const [{ body } = { body: '' }] = forgeOf(created).proposals
  assert.match(body, /1 package: 1 Propose\): \*\*1 pull request today\*\*/)
  assert.match(body, /\*\*Edited by `ada@example.com`\*\*/)
  const { length } = forgeOf(created).writes
  await init(created)
  assert.equal(forgeOf(created).writes.length, length, 'and once only')
})

test('a rule on the branch mutes what it covers, and Off counts as Off', async () => {
  const created = world()
  await init(created)
  const spec = '{mode: Off, ignore: [{paths: [spec.replicas], reason: x}]}'
  const policy = `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: a}\nspec: ${spec}\n`
  created.repository.commitByHand('drift/configure', { '.drift/policy.yaml': policy })
  const { subject } = await init(created)
  assert.deepEqual(
    [subject?.expected?.modes, subject?.expected?.proposals, subject?.expected?.muted],
    [{ Propose: 0, Warn: 0, Off: 1 }, [], { fields: 1, rules: 1 }],
  )
})

test('a policy on the branch that is not valid is told in the text, with its line', async () => {
  const created = world()
  await init(created)
  created.repository.commitByHand('drift/configure', {
    '.drift/policy.yaml': 'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: a}\nspec: {mod: x}\n',
  })
  await init(created)
  assert.match(forgeOf(created).proposals[0]?.body ?? '', /not valid.*\n\n- `\.drift\/policy\.yaml:4: unknown field spec\.mod`/)
  created.repository.commitByHand('drift/configure', { '.drift/policy.yaml': null })
  await init(created)
  assert.match(forgeOf(created).proposals[0]?.body ?? '', /there is no DriftPolicy under \.drift\/ on this branch/)
})

test('our own branch follows what is found: a rule that came since is proposed too', async () => {
  const created = world()
  await init(created)
  created.cluster.change(WEB, (live) => withMetadata(live, { annotations: { 'projectsveltos.io/driftDetectionIgnore': 'ok' } }))
  const before = created.repository.head('drift/configure')
  const again = await init(created)
  assert.deepEqual(
    again.updates.map(({ ref, from }) => [ref, ref === 'refs/heads/drift/configure' ? from : '']),
    [
      ['refs/heads/drift/configure', before],
      ['refs/heads/drift-ledger', ''],
    ],
  )
  assert.match(created.repository.text('drift/configure', '.drift/policy.yaml') ?? '', /Sveltos ignores it/)
  assert.deepEqual(again.subject?.expected?.muted, { fields: 1, rules: 1 })
  assert.deepEqual(again.subject?.expected?.proposals, [])
})

test('merged: enrolled, the branch is gone, and then nothing more is done', async () => {
  const created = world()
  await init(created)
  created.repository.branches.set('refs/heads/main', created.repository.head('drift/configure'))
  forgeOf(created).byHand(1, { state: 'merged', decidedBy: 'ada' })
  const merged = await init(created, { confirm: () => assert.fail('asked') })
  assert.equal(merged.plan.kind, 'enrolled')
  assert.deepEqual([...created.repository.branches.keys()], ['refs/heads/main'])
  assert.deepEqual(created.repository.names(), [])
  const { length } = created.repository.pushes
  assert.equal((await init(created)).plan.kind, 'enrolled')
  assert.equal(created.repository.pushes.length, length)
  assert.equal((await created.plan()).report.status.lifecycle, 'Draft', 'and the merged policy is what a scan goes by')
})

test('closed: the branch is gone, nothing is proposed again unasked, and asked it is', async () => {
  const created = world()
  await init(created)
  forgeOf(created).byHand(1, { state: 'closed', decidedBy: 'ada', decidedAt: '2026-11-21T10:02:00Z' })
  const closed = await init(created, { confirm: () => assert.fail('asked') })
  assert.equal(closed.plan.kind, 'declined')
  assert.deepEqual([...created.repository.branches.keys()], ['refs/heads/main'])
  assert.equal((await init(created)).updates.length, 0)
  const again = await init(created, { again: true })
  assert.equal(again.opened?.label, '#2')
})

test('closed after somebody edited the branch: their commit stays', async () => {
  const created = world()
  await init(created)
  created.repository.commitByHand('drift/configure', { notes: 'mine' })
  forgeOf(created).byHand(1, { state: 'closed' })
  await init(created)
  assert.deepEqual(created.repository.names(), ['drift/configure'])
  await init(created, { remove: true })
  assert.deepEqual(created.repository.names(), [])
})

test('without a forge the branch is the proposal', async () => {
  const created = world(false)
  const first = await init(created)
  assert.deepEqual([first.opened?.number, created.repository.names()], [undefined, ['drift/configure']])
  assert.equal((await init(created, { confirm: () => assert.fail('asked') })).updates.length, 0)
  created.repository.commitByHand('main', { 'apps/web/config.yaml': CONFIG.replace('blue', 'red') })
  assert.equal((await init(created)).updates.length, 0, 'another commit on the base changes nothing of it')
  const head = created.repository.head('drift/configure')
  created.repository.commitByHand(
    'main',
    { '.drift/policy.yaml': created.repository.text('drift/configure', '.drift/policy.yaml') ?? '' },
    { parents: [created.repository.head('main'), head] },
  )
  assert.equal((await init(created)).plan.kind, 'enrolled')
  assert.deepEqual(created.repository.names(), [], 'the merged branch goes')
})

test('a line of .sourceignore that came onto the base meanwhile is kept', async () => {
  const created = world()
  await init(created)
  created.repository.commitByHand('main', { '.sourceignore': '/docs/\n' })
  assert.notDeepEqual((await init(created)).updates, [])
  assert.match(created.repository.text('drift/configure', '.sourceignore') ?? '', /^\/docs\/\n# .*\n\/\.drift\/\n$/)
})

test('packages of which the cluster has nothing are not counted, and a placement says which it has', async () => {
  const created = world()
  const gone = DEPLOYMENT.replaceAll('web', 'gone')
  created.repository.commitByHand('main', { 'apps/gone/Kptfile': KPTFILE.replace('web', 'gone'), 'apps/gone/deployment.yaml': gone })
  const { subject } = await init(created)
  assert.deepEqual([subject?.packages, subject?.elsewhere, subject?.expected?.proposals.length], [1, 1, 1])
  assert.match(
    created.repository.text('drift/configure', '.drift/policy.yaml') ?? '',
    /kind: Placement\n(?:.*\n)*? {2}packages:\n {2}- apps\/web\n$/,
  )
})

test('what the cluster does not let us list is told, and stops nothing', async () => {
  const created = world()
  created.cluster.unreadable.add('autoscaling/HorizontalPodAutoscaler')
  const { subject } = await init(created)
  assert.deepEqual(subject?.notObserved, ['every HorizontalPodAutoscaler: BP3003, it is forbidden'])
})

test('a package that cannot be read is told in the text', async () => {
  const created = world()
  created.repository.commitByHand('main', { 'apps/bad/Kptfile': KPTFILE.replace('web', 'bad'), 'apps/bad/x.yaml': 'a: [' })
  const { subject } = await init(created)
  assert.deepEqual(
    subject?.expected?.failed.map(({ packageName, code }) => [packageName, code]),
    [['apps/bad', 'BP1110']],
  )
  assert.equal(subject?.packages, 2, 'and no placement hides it')
})

test('a run that ended between the push and the proposal is completed by the next one', async () => {
  const created = world()
  forgeOf(created).beforeWrite = () => {
    throw new Failure({ code: 'BP5001', what: 'no answer', why: 'it ended', remedy: 'again' })
  }
  await assert.rejects(init(created))
  forgeOf(created).beforeWrite = () => undefined
  const { updates, opened } = await init(created)
  assert.deepEqual([updates, opened?.label], [[], '#1'])
})

test('the branch moved while it was looked at: read again, and theirs is kept', async () => {
  const created = world()
  created.repository.beforePush = () => {
    created.repository.beforePush = () => undefined
    created.repository.commitByHand('drift/configure', { '.drift/policy.yaml': 'kind: x' })
  }
  const { updates } = await init(created)
  assert.deepEqual(updates, [])
  assert.equal(created.repository.text('drift/configure', '.drift/policy.yaml'), 'kind: x')
})

test('a commit that somebody amended, or merged the base into, is theirs', async () => {
  for (const change of [
    { author: BOT_EMAIL, committer: 'ada@example.com' },
    { author: BOT_EMAIL, committer: BOT_EMAIL, merge: true },
  ]) {
    const created = world()
    await init(created)
    const parents = change.merge === true ? [created.repository.head('drift/configure'), created.repository.head('main')] : undefined
    const head = created.repository.commitByHand(
      'drift/configure',
      { '.sourceignore': '' },
      { ...change, ...(parents === undefined ? {} : { parents }) },
    )
    assert.deepEqual((await init(created)).updates, [])
    assert.equal(created.repository.head('drift/configure'), head)
  }
})

test('the same repository and cluster give the same commit, whenever it is made', async () => {
  const [one, other] = [world(), world()]
  await init(one)
  other.pass(60)
  await init(other)
  assert.equal(one.repository.head('drift/configure'), other.repository.head('drift/configure'))
})
