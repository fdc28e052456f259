import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { removedFrom } from '../../../test/fakes/live-object.ts'
import {
  DEPLOYMENT,
  KPTFILE,
  policyText,
  proposed,
  refused,
  stateOf,
  TurnWorld,
  WEB,
  WEB_CONFIG,
} from '../../../test/fakes/turn-world.ts'

const MODES: readonly (readonly [mode: string, state: string, outcome: string, prefix: string])[] =
  [
    ['Off', 'Off', 'none', ''],
    ['Warn', 'Drifted', 'created', 'drafts/apps/web/drift-'],
    ['Propose', 'Drifted', 'created', 'proposed/apps/web/drift-'],
  ]

for (const [mode, state, outcome, prefix] of MODES) {
  test(`without drift, mode ${mode} gives InSync and no branch`, async () => {
    const world = new TurnWorld(`{mode: ${mode}}`)
    assert.deepEqual(await stateOf(world), ['InSync', 'none'])
    assert.deepEqual(world.repository.names(), [])
  })

  test(`with new drift, mode ${mode} gives ${outcome}`, async () => {
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

test('a second turn over the same state writes nothing, in every state', async () => {
  const worlds: readonly (() => Promise<TurnWorld>)[] = [
    async () => new TurnWorld(),
    () => proposed(),
    async () => {
      const world = await proposed('{mode: Propose, decide: {verifyTimeout: 1d}}')
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
    world.pass(5)
    const { updates } = await world.plan()
    assert.deepEqual(updates, [])
    assert.deepEqual(world.repository.branches, before)
  }
})

test('the same observation gives the same bytes, whatever the listing order', async () => {
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

test('a branch has one commit on the base after any number of updates', async () => {
  const world = await proposed()
  for (const replicas of [6, 7, 8]) {
    world.edit(WEB, 'spec.replicas', replicas)
    await world.plan()
  }
  const commit = await world.repository.commit(
    world.repository.head(String(world.repository.names()[0])),
  )
  assert.deepEqual(commit.parents, [world.repository.head('main')])
})

const BASE_MOVES: readonly (readonly [
  name: string,
  files: { readonly [path: string]: string | null },
  outcome: string,
])[] = [
  ['in another file of the package', { 'apps/web/README.md': 'hello' }, 'updated'],
  [
    'in another place of the same file',
    { 'apps/web/deployment.yaml': DEPLOYMENT.replace('# the shop', '# our shop') },
    'updated',
  ],
  ['in another package', { 'apps/api/Kptfile': KPTFILE }, 'unchanged'],
  ['in a file outside all packages', { 'README.md': 'hello' }, 'unchanged'],
]

for (const [name, files, outcome] of BASE_MOVES) {
  test(`when the base changes ${name}, the proposal is ${outcome}`, async () => {
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

test('when the cluster heals by itself, the branch is withdrawn and the episode is Healed', async () => {
  const world = await proposed()
  world.sync()
  assert.deepEqual(await stateOf(world), ['InSync', 'healed'])
  assert.deepEqual(world.repository.names(), [])
  assert.match(world.repository.everything(), /outcome: Healed/)
})

test('when git adopts the live value, the branch is withdrawn as ResolvedByGit', async () => {
  const world = await proposed()
  world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 5'),
  })
  assert.deepEqual((await stateOf(world))[1], 'healed')
  assert.deepEqual(world.repository.names(), [])
  assert.match(world.repository.everything(), /outcome: ResolvedByGit/)
})

test('drift that returns after it healed is a new episode with a new name', async () => {
  const world = await proposed()
  const [first = ''] = world.repository.names()
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  assert.deepEqual(world.repository.names(), [`${first}-2`])
})

test('a rejection silences exactly this drift until its time is over', async () => {
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
  test(`${name} drift is silenced for ${hours} hours after its rejection`, async () => {
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

test('a resolution request proposes silenced drift', async () => {
  const world = await proposed()
  await world.reject()
  assert.equal((await world.resolutionRequest('Adopt')).outcome, 'created')
})

test('an incomplete observation freezes an open record: no shrink, close or merge', async () => {
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
  for (const [ref, id] of before)
    if (!ref.endsWith('drift-ledger')) assert.equal(world.repository.branches.get(ref), id)
})

test('a failed dry run also freezes the record while field ownership shows part of the drift', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.cluster.change(WEB, (live) => removedFrom(live, 'metadata.labels.app'))
  const { report } = await world.plan()
  assert.equal(report.spec.changes.length, 2)
  world.cluster.change(WEB, (live) => ({
    ...live,
    metadata: { ...(live['metadata'] as object), labels: { app: 'other' } },
  }))
  world.cluster.outage = new Failure({
    code: 'BP3006',
    what: 'cannot patch',
    why: 'timeout',
    remedy: 'try again',
  })
  const { outcome, report: now } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.deepEqual(
    now.status.incomplete?.map(({ code }) => code),
    ['BP3006'],
  )
})

test('an unreadable object is never missing; only a confirmed absence is drift', async () => {
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

test('a released field with another owner is not drift', async () => {
  const world = await proposed()
  await world.resolutionRequest('Release')
  await world.approve()
  assert.doesNotMatch(world.repository.text('main', 'apps/web/deployment.yaml') ?? '', /replicas/)
  const { report } = await world.plan()
  assert.deepEqual(
    [report.status.state, report.status.setAside?.map(({ state }) => state)],
    ['InSync', ['Released']],
  )
  assert.doesNotMatch(
    world.repository.text('drift-ledger', 'clusters/prod/apps--web/resourcegroup.yaml') ?? '',
    /DriftDetected/,
  )
})

test('an ignored field is no drift and is reported as ignored', async () => {
  const world = new TurnWorld(
    '{mode: Propose, ignore: [{paths: [spec.replicas], reason: autoscaled}]}',
  )
  world.edit(WEB, 'spec.replicas', 5)
  const { report } = await world.plan()
  assert.deepEqual(
    [report.status.state, report.status.setAside?.map(({ state, why }) => `${state}: ${why}`)],
    ['InSync', ['Ignored: autoscaled (.drift/policy.yaml:4)']],
  )
  assert.deepEqual(world.repository.names(), [])
})

test('a syncer that is behind git causes no drift', async () => {
  const world = new TurnWorld()
  world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 4'),
  })
  const { report } = await world.plan()
  assert.deepEqual(
    [report.status.state, report.status.setAside?.map(({ state }) => state)],
    ['Behind', ['Behind']],
  )
})

test('a mode change turns a draft into a proposal, and never back', async () => {
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

const AUTOSCALER: JsonObject = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 10,
  },
}

test('a declared field of an autoscaler is planned as Release whatever the policy, with the reason', async () => {
  const world = new TurnWorld('{mode: Propose, decide: {defaultPlan: Adopt}}')
  world.cluster.put(AUTOSCALER)
  world.edit(WEB, 'spec.replicas', 12)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { record, branch } = await world.plan()
  assert.deepEqual(
    record?.spec.changes.map(({ path, resolution }) => [path, resolution]),
    [
      ['data.color', 'Adopt'],
      ['spec.replicas', 'Release'],
    ],
  )
  assert.match(
    record?.spec.changes[1]?.notes?.join() ?? '',
    /HorizontalPodAutoscaler shop\/web sets the field and git declares it/,
  )
  assert.doesNotMatch(world.repository.text(branch, 'apps/web/deployment.yaml') ?? '', /replicas/)
})

test('at zero replicas the policy decides; inside the autoscaler bounds there is no drift', async () => {
  const world = new TurnWorld()
  world.cluster.put(AUTOSCALER)
  world.edit(WEB, 'spec.replicas', 0)
  const { record } = await world.plan()
  assert.deepEqual(
    record?.spec.changes.map(({ resolution }) => resolution),
    ['Restore'],
  )
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal((await world.plan()).report.status.state, 'InSync')
})
