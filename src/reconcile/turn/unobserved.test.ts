/** What the ledger says about units that could not be observed or were observed twice, and which observation counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import {
  KPTFILE,
  policyText,
  proposed,
  refused,
  TurnWorld,
  WEB,
} from '../../../test/fakes/turn-world.ts'
import { clusterObservationSchema } from '../../record/documents/cluster-observation.ts'
import { type DriftReport, driftReportSchema } from '../../record/documents/drift-report.ts'
import { parseDocument } from '../../record/write-document.ts'
import { readResourceGroup } from '../../status/resource-group.ts'

type Repository = TurnWorld['repository']

const UNIT = 'clusters/prod/apps--web'

function reportOf({ repository }: { readonly repository: Repository }, folder = UNIT): DriftReport {
  return parseDocument(
    repository.text('drift-ledger', `${folder}/report.yaml`) ?? '',
    driftReportSchema,
    folder,
  )
}

function observationOf({ repository }: { readonly repository: Repository }, cluster = 'prod') {
  return parseDocument(
    repository.text('drift-ledger', `clusters/${cluster}/observation.yaml`) ?? '',
    clusterObservationSchema,
    cluster,
  ).status
}

function membersOf({ repository }: { readonly repository: Repository }, folder = UNIT) {
  return readResourceGroup(
    parseGoYaml(repository.text('drift-ledger', `${folder}/resourcegroup.yaml`) ?? '', folder)
      .documents[0]?.value ?? null,
  )
}

/** Commits of the ledger so far. */
function commits({ repository }: { readonly repository: Repository }): number {
  return repository.pushes.flat().filter(({ ref }) => ref === 'refs/heads/drift-ledger').length
}

function unreachable(code: FailureCode = 'BP3001'): () => Promise<never> {
  return async () => {
    throw new Failure({
      code,
      what: 'cannot read',
      why: 'refused at 10.0.0.7 with token hunter2',
      remedy: 'wait',
    })
  }
}

async function lost(world: TurnWorld, code: FailureCode = 'BP3001'): Promise<void> {
  world.cluster.identify = unreachable(code)
  await refused(world.scan(), code)
}

function found(world: TurnWorld): void {
  Reflect.deleteProperty(world.cluster, 'identify')
}

test('an unreadable cluster is Unknown in the ledger at once, with time and code but no server text', async () => {
  const world = new TurnWorld()
  await world.plan()
  const observed = reportOf(world)
  await lost(world)
  const { spec, status } = reportOf(world)
  assert.deepEqual(
    [status.state, status.since, status.lastKnown],
    ['Unknown', '2026-11-21T10:02:00Z', { state: 'InSync', since: '2026-11-21T10:01:00Z' }],
  )
  assert.deepEqual(spec, observed.spec, 'what was seen last stays, with its time')
  assert.equal(status.health?.status, 'Unknown')
  const [reason] = status.incomplete ?? []
  assert.deepEqual(
    [reason?.state, reason?.code, reason?.why],
    ['unreadable', 'BP3001', 'the cluster could not be observed'],
  )
  assert.deepEqual(
    membersOf(world).map(({ status: word, drift }) => [word, drift]),
    [
      ['Unknown', 'unverified'],
      ['Unknown', 'unverified'],
    ],
  )
  assert.equal(observationOf(world).failure?.since, '2026-11-21T10:02:00Z')
  for (const path of world.repository.paths('drift-ledger'))
    assert.doesNotMatch(world.repository.text('drift-ledger', path) ?? '', /hunter2|10\.0\.0\.7/)
})

test('a month-long outage is one commit, and the first observation after it shows the state', async () => {
  const world = new TurnWorld()
  await world.plan()
  await lost(world)
  const before = commits(world)
  for (let day = 0; day < 30; day += 1) {
    world.pass(1_440)
    await lost(world)
  }
  assert.equal(commits(world), before)
  assert.equal(reportOf(world).status.since, '2026-11-21T10:02:00Z')
  found(world)
  const { report } = await world.plan()
  assert.deepEqual([report.status.state, report.status.since], ['InSync', '2026-11-21T10:01:00Z'])
  assert.deepEqual(
    [reportOf(world).status.state, reportOf(world).status.lastKnown, observationOf(world).failure],
    ['InSync', undefined, undefined],
  )
})

test('a reason that changes each turn is written at most once an hour', async () => {
  const world = new TurnWorld()
  await world.plan()
  for (let turn = 0; turn < 120; turn += 1) await lost(world, turn % 2 === 0 ? 'BP3006' : 'BP3002')
  assert.ok(commits(world) <= 4, `${commits(world)} commits`)
})

test('drift found again after an outage keeps its age and proposal, and is no storm', async () => {
  const world = await proposed()
  const { since } = reportOf(world).status
  const branches = world.repository.names()
  await lost(world)
  const { status } = reportOf(world)
  assert.deepEqual(
    [status.state, status.lifecycle, status.plan],
    ['Unknown', 'Proposed', 'Restore'],
  )
  assert.deepEqual(world.repository.names(), branches)
  found(world)
  const plan = await world.plan()
  assert.deepEqual(
    [plan.outcome, plan.report.status.state, plan.report.status.since],
    ['unchanged', 'Drifted', since],
  )
})

test('a package that no longer renders is Unknown, and the others are not', async () => {
  const world = new TurnWorld('{mode: Warn}', {
    'apps/shop/Kptfile': KPTFILE.replace('web', 'shop'),
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  await world.scan()
  world.repository.commitByHand('main', { 'apps/shop/a.yaml': 'a: [secret: hunter2\n' })
  await world.scan()
  const shop = reportOf(world, 'clusters/prod/apps--shop').status
  assert.deepEqual(
    [shop.state, shop.incomplete?.[0]?.code, shop.incomplete?.[0]?.why],
    ['Unknown', 'BP1110', 'the YAML is not valid'],
  )
  assert.equal(reportOf(world).status.state, 'InSync')
  assert.equal(observationOf(world).failure, undefined)
  const before = commits(world)
  await world.scan()
  assert.equal(commits(world), before, 'it is said once')
  world.repository.commitByHand('main', {
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  await world.scan()
  assert.equal(reportOf(world, 'clusters/prod/apps--shop').status.state, 'InSync')
})

test('a package that never rendered is Unknown from its first turn on', async () => {
  const world = new TurnWorld('{mode: Warn}', {
    'apps/bad/Kptfile': KPTFILE,
    'apps/bad/a.yaml': 'a: [\n',
  })
  await world.scan()
  assert.equal(reportOf(world, 'clusters/prod/apps--bad').status.state, 'Unknown')
})

test('a cluster never seen is not recorded, unless a placement names it as Unknown', async () => {
  const world = new TurnWorld()
  await lost(world)
  assert.deepEqual(world.repository.pushes, [])
  world.repository.commitByHand('main', {
    '.drift/placement.yaml':
      'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: all}\nspec: {clusters: [prod], packages: ["**"]}\n',
  })
  await lost(world)
  assert.equal(reportOf(world).status.state, 'Unknown')
})

test('a wrong package name on the command line records nothing about the cluster', async () => {
  const world = new TurnWorld()
  await world.plan()
  const before = commits(world)
  await refused(world.scan({ packages: ['apps/nothing'] }), 'BP1004')
  assert.equal(commits(world), before)
})

test('an unreadable cluster is Unknown in the same commit as news of the others', async () => {
  const world = new FleetWorld(2)
  await world.scan()
  const before = commits(world)
  world.cluster(1).identify = unreachable()
  world.edit([0], 5)
  await world.scan()
  // The other one has the number of the pull request.
  assert.equal(commits(world), before + 2)
  assert.equal(reportOf(world, 'clusters/edge-01/apps--web').status.state, 'Drifted')
  assert.equal(reportOf(world, 'clusters/edge-02/apps--web').status.state, 'Unknown')
})

test('an older observation replaces no status, branch or decision', async () => {
  const world = new TurnWorld('{mode: Propose}')
  await world.plan()
  world.pass(600)
  await world.plan()
  const [refs, now] = [new Map(world.repository.branches), world.cluster.now]
  // A recording of the morning, and an agent whose push comes late.
  world.edit(WEB, 'spec.replicas', 5)
  world.cluster.now = '2026-11-21T10:01:30Z'
  const clock = { now: () => new Date(now) }
  const late = await world.scanAt(world.cluster.now, { clock })
  assert.deepEqual(late.updates, [])
  const [unit] = late.units
  assert.equal(
    unit?.state === 'planned' && unit.plan.report.spec.changes.length,
    1,
    'it is shown all the same',
  )
  assert.match(
    unit?.state === 'planned' ? unit.plan.notes.map(({ text }) => text).join(' ') : '',
    /was observed at 2026-11-21T20:0\d:00Z; an earlier observation is not recorded/,
  )
  assert.deepEqual(world.repository.branches, refs)
  const adopt = await world.scanAt('2026-11-21T10:01:30Z', {
    clock,
    resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
  })
  assert.deepEqual(
    adopt.units.map((each) => each.state === 'failed' && each.failures[0].code),
    ['BP2016'],
  )
  assert.deepEqual(world.repository.branches, refs)
})

test('an observation older than a later failure does not undo it', async () => {
  const world = new TurnWorld()
  await world.plan()
  const early = world.cluster.now
  world.pass(300)
  await lost(world)
  found(world)
  await world.scanAt(early, { clock: { now: () => new Date('2026-11-21T18:00:00Z') } })
  assert.equal(reportOf(world).status.state, 'Unknown')
})

test('a future time in the ledger comes from a wrong clock and stops nothing', async () => {
  const world = new TurnWorld()
  world.cluster.now = '2030-01-01T00:00:00Z'
  await world.scanAt('2030-01-01T00:00:00Z', {})
  world.edit(WEB, 'spec.replicas', 5)
  const { report } = await world.plan()
  assert.equal(report.status.state, 'Drifted')
  assert.equal(reportOf(world).status.state, 'Drifted')
})

test('an unchanged cluster is recorded once per policy interval, in one file', async () => {
  const world = new TurnWorld('{mode: Warn, detect: {interval: 2h}}')
  await world.plan()
  const before = commits(world)
  for (let minute = 0; minute < 119; minute += 1) await world.scan()
  assert.equal(commits(world), before)
  await world.scan()
  assert.equal(commits(world), before + 1)
  assert.equal(observationOf(world).observedAt, '2026-11-21T12:01:00Z')
  assert.equal(observationOf(world).changedAt, '2026-11-21T10:01:00Z')
  assert.equal(reportOf(world).spec.observed.at, '2026-11-21T10:01:00Z')
})

test('a turn about one package records only that package as observed', async () => {
  const world = new TurnWorld('{mode: Warn}', {
    'apps/shop/Kptfile': KPTFILE.replace('web', 'shop'),
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  await world.scan()
  world.pass(120)
  await world.scan({ packages: ['apps/web'] })
  assert.equal(reportOf(world).spec.observed.seenAt, world.cluster.now)
  assert.equal(reportOf(world, 'clusters/prod/apps--shop').spec.observed.seenAt, undefined)
  assert.equal(observationOf(world).observedAt, '2026-11-21T10:01:00Z')
  const before = commits(world)
  await world.scan({ packages: ['apps/web'] })
  assert.equal(commits(world), before)
})

test('a package set to Off is not reported as in sync while it differs', async () => {
  const world = new TurnWorld('{mode: Warn}')
  await world.plan()
  world.repository.commitByHand('main', { '.drift/policy.yaml': policyText('{mode: Off}') })
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  assert.equal(reportOf(world).status.state, 'Off')
  const before = commits(world)
  world.edit(WEB, 'spec.replicas', 6)
  await world.plan()
  assert.equal(commits(world), before)
})
