import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { BOT_EMAIL } from '../../../test/fakes/memory-repository.ts'
import {
  CONFIG,
  DEPLOYMENT,
  KPTFILE,
  proposed,
  refused,
  TurnWorld,
  WEB,
  WEB_CONFIG,
  yaml,
} from '../../../test/fakes/turn-world.ts'

test("rejects approval of a branch with extra content, even under the bot's name", async () => {
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

test('Restore changes no authored file', async () => {
  const world = await proposed()
  await world.approve()
  assert.equal(world.repository.text('main', 'apps/web/deployment.yaml'), DEPLOYMENT)
  assert.equal(world.repository.text('main', 'apps/web/config.yaml'), CONFIG)
})

test('after Adopt the field no longer differs, and only its line changed', async () => {
  const world = await proposed()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.plan()
  await world.resolutionRequest('Adopt', ['1'])
  await world.approve()
  assert.equal(world.repository.text('main', 'apps/web/deployment.yaml'), DEPLOYMENT)
  assert.equal(
    world.repository.text('main', 'apps/web/config.yaml'),
    CONFIG.replace('color: blue', 'color: red'),
  )
  const { report } = await world.plan()
  assert.deepEqual(
    report.spec.changes.map(({ path }) => path),
    ['spec.replicas'],
  )
})

test('an object whose manifest has no namespace can be adopted', async () => {
  const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {color: blue}\n'
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/plain.yaml': manifest })
  const live = yaml(manifest)
  world.cluster.objects.delete('/ConfigMap//plain')
  world.cluster.put(
    appliedBy(world.syncer, { ...live, metadata: { name: 'plain', namespace: 'default' } }),
  )
  world.edit('/ConfigMap/default/plain', 'data.color', 'red')
  await world.resolutionRequest('Adopt')
  await world.approve()
  assert.equal(
    world.repository.text('main', 'apps/web/plain.yaml'),
    manifest.replace('blue', 'red'),
  )
})

test('another installation key neither undoes a decision nor writes', async () => {
  const world = await proposed()
  await world.resolutionRequest('Adopt')
  const [branch = ''] = world.repository.names()
  const before = world.repository.head(branch)
  world.key = createRedactionKey(new Uint8Array(32).fill(9))
  const { outcome, notes } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.match(notes.map(({ text }) => text).join(), /BACKPORCH_KEY/)
  assert.equal(world.repository.head(branch), before)
  await refused(world.approve(), 'BP2005')
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { record } = await world.resolutionRequest('Restore', ['1'])
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => `${path} ${resolution}`).sort(),
    ['data.color Restore', 'spec.replicas Adopt'],
  )
})

test('a requested resolution and its message persist over later turns', async () => {
  const world = await proposed()
  await world.resolutionRequest('Adopt', [], 'load test')
  const { outcome, record } = await world.plan()
  assert.equal(outcome, 'unchanged')
  assert.deepEqual([record?.spec.plan, record?.spec.message], ['Adopt', 'load test'])
})

test('approval is rejected when live changed since the review, and the proposal is updated first', async () => {
  const world = await proposed()
  world.edit(WEB, 'spec.replicas', 9)
  const base = world.repository.head('main')
  await refused(world.approve(), 'BP2005')
  assert.equal(world.repository.head('main'), base)
  await world.approve()
})

test('nothing is merged without confirmation', async () => {
  const world = await proposed()
  const before = new Map(world.repository.branches)
  const { remedy } = await refused(
    world.approve(async () => false),
    'BP2011',
  )
  assert.equal(
    remedy,
    'leave it open, close it with backporch reject apps/web, or approve again and answer y',
  )
  assert.deepEqual(world.repository.branches, before)
})

test('requests without anything to decide are rejected', async () => {
  const world = new TurnWorld()
  await refused(world.resolutionRequest('Adopt'), 'BP2008')
  await refused(world.approve(), 'BP2004')
})

test('a base that moves before the push is read again, at most five times', async () => {
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

test('with Adopt as the default plan, a change that cannot be adopted is planned as Restore', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Adopt}}')
  world.edit(WEB_CONFIG, 'data.password', 'hunter2')
  world.edit(WEB, 'spec.replicas', 5)
  const { outcome, record } = await world.plan()
  assert.equal(outcome, 'created')
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => `${path} ${resolution}`).sort(),
    ['data.password Restore', 'spec.replicas Adopt'],
  )
})

/** The number of Pods is from one setter, and a colour that stands in two objects from another. */
const WITH_SETTERS = {
  'apps/web/Kptfile': `${KPTFILE}pipeline:
  mutators:
  - image: ghcr.io/kptdev/krm-functions-catalog/apply-setters:v0.2.0
    configMap: {replicas: "3", color: blue}
`,
  'apps/web/deployment.yaml': DEPLOYMENT.replace('# for the day', '# kpt-set: ${replicas}').replace(
    'value: blue',
    'value: blue # kpt-set: ${color}',
  ),
  'apps/web/config.yaml': CONFIG.replace('color: blue', 'color: blue # kpt-set: ${color}'),
}

test("with Adopt as the default plan, a pipeline value is adopted in the function's input", async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Adopt}}', WITH_SETTERS)
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal((await world.plan()).record?.spec.plan, 'Adopt')
  await world.resolutionRequest('Adopt')
  const [branch = ''] = world.repository.names()
  assert.match(
    world.repository.text(branch, 'apps/web/Kptfile') ?? '',
    /configMap: \{replicas: "5", color: blue\}/,
  )
  assert.match(
    world.repository.text(branch, 'apps/web/deployment.yaml') ?? '',
    /replicas: 5 # kpt-set: \$\{replicas\}/,
  )
})

test('with Adopt as the default plan, a value shared by two objects becomes Restore; a requested Adopt fails', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Adopt}}', WITH_SETTERS)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  assert.equal((await world.plan()).record?.spec.plan, 'Restore')
  const { why } = await refused(world.resolutionRequest('Adopt'), 'BP2001')
  assert.match(
    why,
    /the setter color of apply-setters \(apps\/web\/Kptfile:8\), and an edit there would also change .*env.* of Deployment shop\/web$/,
  )
})

test('with Adopt as the default plan, one impossible change in a pipeline package becomes Restore', async () => {
  const world = new TurnWorld('{mode: Warn, decide: {defaultPlan: Adopt}}', WITH_SETTERS)
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { record, notes, branch } = await world.plan()
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => `${path} ${resolution}`).sort(),
    ['data.color Restore', 'spec.replicas Adopt'],
  )
  assert.match(
    notes.map(({ text }) => text).join('; '),
    /^data\.color of ConfigMap shop\/web is planned as Restore and not as Adopt: its value comes from the setter color/,
  )
  assert.match(
    world.repository.text(branch, 'apps/web/Kptfile') ?? '',
    /configMap: \{replicas: "5", color: blue\}/,
  )
  assert.equal((await world.plan()).outcome, 'unchanged')
})

test('a requested Adopt that a moved base prevents is kept with a note, and drift stays visible', async () => {
  const world = await proposed()
  await world.resolutionRequest('Adopt')
  const [branch = ''] = world.repository.names()
  const before = world.repository.head(branch)
  const repeated = DEPLOYMENT.replace(
    'replicas: 3 # for the day',
    'replicas: &many 3\n  revisionHistoryLimit: *many',
  )
  world.repository.commitByHand('main', { 'apps/web/deployment.yaml': repeated })
  const { outcome, notes, report } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.match(notes.map(({ text }) => text).join(), /cannot be rebuilt/)
  assert.ok(report.spec.changes.length > 0)
  assert.equal(world.repository.head(branch), before)
  await refused(world.approve(), 'BP2005')
})
