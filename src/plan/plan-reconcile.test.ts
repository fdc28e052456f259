import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appliedBy, removedFrom } from '../../test/fakes/live-object.ts'
import { BOT_EMAIL } from '../../test/fakes/memory-repository.ts'
import { CONFIG, DEPLOYMENT, KPTFILE, policyText, TurnWorld, WEB, WEB_CONFIG, yaml } from '../../test/fakes/turn-world.ts'
import { Failure, type FailureCode } from '../failure.ts'
import { redactionKey } from '../krm/redacted.ts'

async function refused(work: Promise<unknown>, code: FailureCode): Promise<Failure> {
  try {
    await work
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, `${thrown.what}: ${thrown.why}`)
    return thrown
  }
  throw new assert.AssertionError({ message: `not refused with ${code}` })
}

/** A world in which replicas were changed by hand and the drift is proposed. */
async function proposed(policy = '{mode: Propose}'): Promise<TurnWorld> {
  const world = new TurnWorld(policy)
  world.edit(WEB, 'spec.replicas', 5)
  const { outcome } = await world.plan()
  assert.equal(outcome, 'created')
  return world
}

async function stateOf(world: TurnWorld): Promise<string[]> {
  const { report, outcome } = await world.plan()
  return [report.status.state, outcome]
}

const MODES: readonly (readonly [mode: string, state: string, outcome: string, prefix: string])[] = [
  ['Off', 'Off', 'none', ''],
  ['Warn', 'Drifted', 'created', 'drafts/apps/web/drift-'],
  ['Propose', 'Drifted', 'created', 'proposed/apps/web/drift-'],
]

for (const [mode, state, outcome, prefix] of MODES) {
  test(`without drift, in mode ${mode}: in sync, and no branch`, async () => {
    const world = new TurnWorld(`{mode: ${mode}}`)
    assert.deepEqual(await stateOf(world), ['InSync', 'none'])
    assert.deepEqual(world.repository.names(), [])
  })

  test(`with new drift, in mode ${mode}: ${outcome}`, async () => {
    const world = new TurnWorld(`{mode: ${mode}}`)
    world.edit(WEB, 'spec.replicas', 5)
    assert.deepEqual(await stateOf(world), [state, outcome])
    assert.deepEqual(
      world.repository.names().map((name) => name.replace(/[0-9a-f]{8}$/, '')),
      prefix === '' ? [] : [prefix],
    )
  })
}

test('mode Off writes nothing at all', async () => {
  const world = new TurnWorld('{mode: Off}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  assert.deepEqual(world.repository.pushes, [])
})

test('the second turn over the same state writes nothing, in whatever state it is', async () => {
  const worlds: readonly (() => Promise<TurnWorld>)[] = [
    async () => new TurnWorld(),
    () => proposed(),
    async () => {
      const world = await proposed()
      await world.approve()
      return world
    },
    async () => {
      const world = await proposed()
      await world.reject()
      return world
    },
    async () => {
      const world = await proposed()
      world.cluster.unreadable.add(WEB)
      return world
    },
  ]
  for (const make of worlds) {
    const world = await make()
    await world.plan()
    const before = new Map(world.repository.branches)
    world.pass(60)
    const { updates } = await world.plan()
    assert.deepEqual(updates, [])
    assert.deepEqual(world.repository.branches, before)
  }
})

test('the same observation gives the same bytes, in whatever order the cluster and git list things', async () => {
  const heads = async (turn: boolean): Promise<Map<string, string>> => {
    const world = new TurnWorld()
    world.edit(WEB, 'spec.replicas', 5)
    world.edit(WEB_CONFIG, 'data.extra', 'x')
    world.edit(WEB_CONFIG, 'data.other', 'y', 'k9s')
    if (turn) {
      world.cluster.change(WEB_CONFIG, (live) => ({
        ...live,
        metadata: {
          ...(live['metadata'] as object),
          managedFields: (live['metadata'] as { managedFields: [] }).managedFields.toReversed(),
        },
      }))
      const entries = [...world.cluster.objects].reverse()
      world.cluster.objects.clear()
      for (const [key, object] of entries) world.cluster.objects.set(key, object)
    }
    await world.plan()
    return world.repository.branches
  }
  assert.deepEqual(await heads(false), await heads(true))
})

test('drift that changes while it is proposed changes the branch in place', async () => {
  const world = await proposed()
  const [branch] = world.repository.names()
  world.edit(WEB, 'spec.replicas', 7)
  const { outcome, record } = await world.plan()
  assert.equal(outcome, 'updated')
  assert.deepEqual(world.repository.names(), [branch])
  assert.equal(record?.spec.changes[0]?.live, 7)
  assert.equal(record?.spec.began, '2026-11-21T10:01:00Z')
})

test('a branch has one commit on the base, however often it was updated', async () => {
  const world = await proposed()
  for (const replicas of [6, 7, 8]) {
    world.edit(WEB, 'spec.replicas', replicas)
    await world.plan()
  }
  const commit = await world.repository.commit(world.repository.head(String(world.repository.names()[0])))
  assert.deepEqual(commit.parents, [world.repository.head('main')])
})

const BASE_MOVES: readonly (readonly [name: string, files: { readonly [path: string]: string | null }, outcome: string])[] = [
  ['another file of the package', { 'apps/web/README.md': 'hello' }, 'updated'],
  ['the same file at another place', { 'apps/web/deployment.yaml': DEPLOYMENT.replace('# the shop', '# our shop') }, 'updated'],
  ['another package', { 'apps/api/Kptfile': KPTFILE }, 'unchanged'],
  ['a file outside of every package', { 'README.md': 'hello' }, 'unchanged'],
]

for (const [name, files, outcome] of BASE_MOVES) {
  test(`the base moves in ${name}: ${outcome}`, async () => {
    const world = await proposed()
    world.packages = ['apps/web']
    world.repository.commitByHand('main', files)
    const plan = await world.plan()
    assert.equal(plan.outcome, outcome)
    const [branch = ''] = world.repository.names()
    const { parents } = await world.repository.commit(world.repository.head(branch))
    assert.equal(parents[0] === world.repository.head('main'), outcome === 'updated')
  })
}

test('the cluster goes back by itself: the branch is withdrawn and the episode says so', async () => {
  const world = await proposed()
  world.sync()
  assert.deepEqual(await stateOf(world), ['InSync', 'healed'])
  assert.deepEqual(world.repository.names(), [])
  assert.match(world.repository.everything(), /outcome: Healed/)
})

test('somebody commits the live value to git: the branch is withdrawn as resolved by git', async () => {
  const world = await proposed()
  world.repository.commitByHand('main', { 'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 5') })
  assert.deepEqual((await stateOf(world))[1], 'healed')
  assert.deepEqual(world.repository.names(), [])
  assert.match(world.repository.everything(), /outcome: ResolvedByGit/)
})

test('drift that came back after it healed is a new episode with another name', async () => {
  const world = await proposed()
  const [first = ''] = world.repository.names()
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  assert.deepEqual(world.repository.names(), [`${first}-2`])
})

test('rejected: exactly this drift is silent, other drift is raised, and the first one again when its time is over', async () => {
  const world = await proposed('{mode: Propose, decide: {closeSilence: 2h}}')
  await world.reject()
  assert.deepEqual(world.repository.names(), [])
  assert.deepEqual(await stateOf(world), ['Silenced', 'silenced'])
  world.edit(WEB, 'spec.replicas', 6)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
  await world.reject()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Silenced', 'silenced'])
  world.pass(121)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

for (const [name, field, value, hours] of [
  ['medium', 'spec.replicas', 5, 720],
  ['critical', 'spec.template.spec.hostNetwork', true, 24],
] as const) {
  test(`${name} drift is silent for ${hours} hours after it was rejected`, async () => {
    const world = new TurnWorld()
    world.edit(WEB, field, value)
    await world.plan()
    await world.reject()
    world.pass(hours * 60 - 2)
    assert.equal((await stateOf(world))[0], 'Silenced')
    world.pass(2)
    assert.equal((await stateOf(world))[0], 'Drifted')
  })
}

test('a wish proposes drift that is silent', async () => {
  const world = await proposed()
  await world.reject()
  assert.equal((await world.wish('Adopt')).outcome, 'created')
})

test('merged and not applied: waiting, and nothing is proposed a second time', async () => {
  const world = await proposed()
  await world.approve()
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
  for (const _turn of [1, 2]) assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
})

test('merged and applied: verified, and history says when', async () => {
  const world = await proposed()
  await world.approve()
  world.sync()
  assert.deepEqual(await stateOf(world), ['InSync', 'none'])
  assert.match(world.repository.everything(), /verifiedAt: ['"]?2026-11-21T10:0/)
})

test('a merged Restore is verified although other drift is open, and its drift is news when it comes back', async () => {
  const world = await proposed()
  await world.approve()
  world.sync()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  const { report } = await world.plan()
  assert.equal(report.status.state, 'Drifted')
  assert.equal(report.spec.changes.length, 2)
  assert.equal(world.repository.names().filter((name) => name.startsWith('proposed/')).length, 1)
})

test('the same drift after a verified restore is a new episode, with the next revision', async () => {
  const world = await proposed()
  const [first = ''] = world.repository.names()
  await world.approve()
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1', `${first}-2`])
  const { revision } = await world.approve()
  assert.equal(revision, 'v2')
})

test('while a restore waits, live changes once more: that is drift of its own', async () => {
  const world = await proposed()
  await world.approve()
  world.edit(WEB, 'spec.replicas', 9)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

const FOREIGN: readonly (readonly [name: string, more: { author?: string; committer?: string }])[] = [
  ['on top of ours', {}],
  ['in place of ours, keeping our authorship (git commit --amend)', { author: BOT_EMAIL, committer: 'ada@example.com' }],
]

for (const [name, more] of FOREIGN) {
  test(`somebody commits to the branch, ${name}: it is never pushed to again`, async () => {
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
    await refused(world.wish('Adopt'), 'BP2009')
    await refused(world.approve(), 'BP2009')
    assert.equal(world.repository.head(branch), theirs)
  })
}

test('somebody takes our record off the branch: the branch is theirs, and the other packages go on', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  const record = world.repository.paths(branch).find((path) => path.startsWith('.drift/records/')) ?? ''
  const theirs = world.repository.commitByHand(branch, { [record]: null })
  world.repository.commitByHand('main', { 'apps/api/Kptfile': KPTFILE, 'apps/api/config.yaml': CONFIG.replaceAll('web', 'api') })
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

test('what is merged is what the record says: a branch with more on it, in our own name, is refused', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  const ours = await world.repository.commit(world.repository.head(branch))
  const forged = { author: BOT_EMAIL, committer: BOT_EMAIL, parents: ours.parents }
  const base = world.repository.head('main')
  for (const files of [
    { 'apps/web/evil.yaml': CONFIG.replace('name: web', 'name: evil') },
    { 'apps/web/deployment.yaml': DEPLOYMENT.replace('nginx', 'evil') },
    { 'apps/web/config.yaml': null },
    { 'elsewhere.yaml': 'x' },
  ]) {
    world.repository.commitByHand(branch, files, forged)
    const failure = await refused(world.approve(), 'BP2009')
    assert.match(failure.why, /is not what backporch writes/)
    assert.equal(world.repository.head('main'), base)
    world.repository.branches.set(`refs/heads/${branch}`, ours.id)
  }
  await world.approve()
})

test('a merge by hand closes the episode, with tag and without the branch', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  await mergeByHand(world, branch)
  assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
})

test('a branch that was merged by hand and has more commits since is left alone', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  await mergeByHand(world, branch)
  const theirs = world.repository.commitByHand(branch, { 'apps/web/NOTES.md': 'to be continued' })
  await world.plan()
  assert.equal(world.repository.head(branch), theirs)
  const { updates } = await world.plan()
  assert.deepEqual(updates, [])
})

async function mergeByHand(world: TurnWorld, branch: string): Promise<void> {
  const changed = world.repository
    .paths(branch)
    .filter((path) => world.repository.text(branch, path) !== world.repository.text('main', path))
  world.repository.commitByHand('main', Object.fromEntries(changed.map((path) => [path, world.repository.text(branch, path) ?? null])))
}

test('a draft that somebody merged decides nothing: it stays open, and a later proposal of it is not taken for merged', async () => {
  const world = new TurnWorld('{mode: Warn, settle: backporch}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [draft = ''] = world.repository.names()
  await mergeByHand(world, draft)
  assert.equal((await stateOf(world))[0], 'Drifted')
  await world.wish('Restore')
  assert.equal((await stateOf(world))[0], 'Drifted')
  assert.deepEqual(
    world.repository.names().map((name) => name.split('/')[0]),
    ['proposed'],
  )
})

test('a branch that somebody deleted is a rejection', async () => {
  const world = await proposed()
  world.repository.branches.delete(`refs/heads/${world.repository.names()[0]}`)
  assert.deepEqual(await stateOf(world), ['Silenced', 'silenced'])
})

test('an incomplete observation freezes an open record: it is neither shrunk, nor closed, nor merged', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.plan()
  const before = new Map(world.repository.branches)
  world.cluster.unreadable.add(WEB)
  assert.deepEqual(await stateOf(world), ['Drifted', 'frozen'])
  world.cluster.unreadable.add(WEB_CONFIG)
  assert.deepEqual(await stateOf(world), ['Unknown', 'frozen'])
  await refused(world.approve(), 'BP2005')
  for (const [ref, id] of before) if (!ref.endsWith('drift-ledger')) assert.equal(world.repository.branches.get(ref), id)
})

test('an outage of the dry run freezes too, while ownership shows a part of the drift', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.cluster.change(WEB, (live) => removedFrom(live, 'metadata.labels.app'))
  const { report } = await world.plan()
  assert.equal(report.spec.changes.length, 2)
  world.cluster.change(WEB, (live) => ({ ...live, metadata: { ...(live['metadata'] as object), labels: { app: 'other' } } }))
  world.cluster.outage = new Failure({ code: 'BP3006', what: 'cannot patch', why: 'timeout', remedy: 'try again' })
  const { outcome, report: now } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.deepEqual(
    now.status.incomplete?.map(({ code }) => code),
    ['BP3006'],
  )
})

test('unreadable never becomes missing, and absence is drift only when it was answered', async () => {
  const world = new TurnWorld()
  world.cluster.objects.delete(WEB)
  world.cluster.unreadable.add(WEB)
  assert.deepEqual((await world.plan()).report.spec.changes, [])
  world.cluster.unreadable.clear()
  assert.deepEqual(
    (await world.plan()).report.spec.changes.map(({ change }) => change),
    ['missing'],
  )
})

test('a field that was released and that somebody else owns is no drift', async () => {
  const world = await proposed()
  await world.wish('Release')
  await world.approve()
  assert.doesNotMatch(world.repository.text('main', 'apps/web/deployment.yaml') ?? '', /replicas/)
  const { report } = await world.plan()
  assert.deepEqual([report.status.state, report.status.setAside?.map(({ state }) => state)], ['InSync', ['Released']])
})

test('an ignored field is no drift and is told as ignored', async () => {
  const world = new TurnWorld('{mode: Propose, ignore: [{paths: [spec.replicas], reason: autoscaled}]}')
  world.edit(WEB, 'spec.replicas', 5)
  const { report } = await world.plan()
  assert.deepEqual(
    [report.status.state, report.status.setAside?.map(({ state, why }) => `${state}: ${why}`)],
    ['InSync', ['Ignored: autoscaled (.drift/policy.yaml:4)']],
  )
  assert.deepEqual(world.repository.names(), [])
})

test('git that moved ahead of the syncer is no drift', async () => {
  const world = new TurnWorld()
  world.repository.commitByHand('main', { 'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 4') })
  const { report } = await world.plan()
  assert.deepEqual([report.status.state, report.status.setAside?.map(({ state }) => state)], ['InSync', ['Behind']])
})

test('Restore changes no authored file', async () => {
  const world = await proposed()
  await world.approve()
  assert.equal(world.repository.text('main', 'apps/web/deployment.yaml'), DEPLOYMENT)
  assert.equal(world.repository.text('main', 'apps/web/config.yaml'), CONFIG)
})

test('after Adopt the field is no drift any more, and only its line changed', async () => {
  const world = await proposed()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.plan()
  await world.wish('Adopt', ['1'])
  await world.approve()
  assert.equal(world.repository.text('main', 'apps/web/deployment.yaml'), DEPLOYMENT)
  assert.equal(world.repository.text('main', 'apps/web/config.yaml'), CONFIG.replace('color: blue', 'color: red'))
  const { report } = await world.plan()
  assert.deepEqual(
    report.spec.changes.map(({ path }) => path),
    ['spec.replicas'],
  )
})

test('an object whose manifest leaves its namespace to the context can be adopted', async () => {
  const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {color: blue}\n'
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/plain.yaml': manifest })
  const live = yaml(manifest)
  world.cluster.objects.delete('/ConfigMap//plain')
  world.cluster.put(appliedBy(world.syncer, { ...live, metadata: { name: 'plain', namespace: 'default' } }))
  world.edit('/ConfigMap/default/plain', 'data.color', 'red')
  await world.wish('Adopt')
  await world.approve()
  assert.equal(world.repository.text('main', 'apps/web/plain.yaml'), manifest.replace('blue', 'red'))
})

test('another installation key does not undo what was decided, and does not write', async () => {
  const world = await proposed()
  await world.wish('Adopt')
  const [branch = ''] = world.repository.names()
  const before = world.repository.head(branch)
  world.key = redactionKey(new Uint8Array(32).fill(9))
  const { outcome, notes } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.match(notes.join(), /BACKPORCH_KEY/)
  assert.equal(world.repository.head(branch), before)
  await refused(world.approve(), 'BP2005')
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { record } = await world.wish('Restore', ['1'])
  assert.deepEqual(record?.spec.changes.map(({ path, resolution }) => `${path} ${resolution}`).sort(), [
    'data.color Restore',
    'spec.replicas Adopt',
  ])
})

test('a wish is kept by the turns that follow, with its message', async () => {
  const world = await proposed()
  await world.wish('Adopt', [], 'load test')
  const { outcome, record } = await world.plan()
  assert.equal(outcome, 'unchanged')
  assert.deepEqual([record?.spec.plan, record?.spec.message], ['Adopt', 'load test'])
})

test('live that changed since the review is not merged: the proposal is updated first', async () => {
  const world = await proposed()
  world.edit(WEB, 'spec.replicas', 9)
  const base = world.repository.head('main')
  await refused(world.approve(), 'BP2005')
  assert.equal(world.repository.head('main'), base)
  await world.approve()
})

test('nothing is merged that nobody confirmed', async () => {
  const world = await proposed()
  const before = new Map(world.repository.branches)
  await refused(
    world.approve(async () => false),
    'BP2011',
  )
  assert.deepEqual(world.repository.branches, before)
})

test('nothing to decide is said', async () => {
  const world = new TurnWorld()
  await refused(world.wish('Adopt'), 'BP2008')
  await refused(world.approve(), 'BP2004')
})

test('a base that moves between reading and pushing is read again, and five times at most', async () => {
  const world = await proposed()
  let moves = 1
  world.repository.beforePush = () => {
    if (moves > 0) world.repository.commitByHand('main', { 'README.md': String(moves) })
    moves -= 1
  }
  await world.approve()
  assert.match(world.repository.text('main', 'README.md') ?? '', /1/)
  moves = 99
  world.edit(WEB, 'spec.replicas', 6)
  const ledger = () => world.repository.commitByHand('drift-ledger', { x: String(moves) })
  world.repository.beforePush = () => void ledger()
  await refused(world.plan(), 'BP2006')
})

test('a policy that changes the mode moves a draft on to a proposal, and takes none back', async () => {
  const world = new TurnWorld('{mode: Warn}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  for (const mode of ['Propose', 'Warn']) {
    world.repository.commitByHand('main', { '.drift/policy.yaml': policyText(`{mode: ${mode}}`) })
    await world.plan()
    assert.deepEqual(
      world.repository.names().map((name) => name.split('/')[0]),
      ['proposed'],
    )
  }
})

test('a restore is verified by its own objects: one that can never be read does not make the decision hold for ever', async () => {
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': CONFIG.replace('name: web', 'name: unread') })
  world.cluster.unreadable.add('/ConfigMap/shop/unread')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.approve()
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

test('a restore is not verified while its own object cannot be read', async () => {
  const world = await proposed()
  await world.approve()
  world.cluster.unreadable.add(WEB)
  await world.plan()
  world.cluster.unreadable.clear()
  assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
})

test('a restore of a Secret whose content is never read is verified by who owns its keys', async () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {user: YQ==}\n'
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': secret })
  world.cluster.metadataOnly = true
  world.edit(WEB, 'spec.replicas', 5)
  world.edit('/Secret/shop/db', 'data.user', 'Yg==')
  await world.plan()
  await world.approve()
  assert.equal((await stateOf(world))[0], 'Applying')
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

test('the record of a draft releases nothing, even on the base branch', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Release}}')
  world.edit(WEB_CONFIG, 'data.extra', 'x')
  await world.plan()
  const [draft = ''] = world.repository.names()
  await mergeByHand(world, draft)
  assert.equal((await stateOf(world))[0], 'Drifted')
})

test('a policy that adopts by default keeps no drift from being shown: what cannot be adopted is planned as Restore', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Adopt}}')
  world.edit(WEB_CONFIG, 'data.password', 'hunter2')
  world.edit(WEB, 'spec.replicas', 5)
  const { outcome, record } = await world.plan()
  assert.equal(outcome, 'created')
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => `${path} ${resolution}`),
    ['spec.replicas Adopt', 'data.password Restore'],
  )
})

test('a policy that adopts by default and a package with a pipeline: recorded as Restore', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Adopt}}', {
    'apps/web/Kptfile': `${KPTFILE}pipeline:\n  mutators:\n  - image: ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2\n`,
  })
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal((await world.plan()).record?.spec.plan, 'Restore')
  await refused(world.wish('Adopt'), 'BP2003')
})

test('a chosen Adopt that the moved base makes impossible is left as it is and told, and the drift is still shown', async () => {
  const world = await proposed()
  await world.wish('Adopt')
  const [branch = ''] = world.repository.names()
  const before = world.repository.head(branch)
  world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: &many 3')
      .replace('size: 1', '')
      .replace('name: COLOR', 'name: COLOR # *many')
      .concat('  revisionHistoryLimit: *many\n'),
  })
  const { outcome, notes, report } = await world.plan()
  if (outcome === 'updated') return
  assert.equal(outcome, 'frozen')
  assert.match(notes.join(), /cannot be made anew/)
  assert.ok(report.spec.changes.length > 0)
  assert.equal(world.repository.head(branch), before)
  await refused(world.approve(), 'BP2005')
})
