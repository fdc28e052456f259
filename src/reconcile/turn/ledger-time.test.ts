/** What the ledger says about time: how often it is written, which observation counts, and files of the previous version. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type CliOutcome, runInWorld } from '../../../test/fakes/cli-world.ts'
import { mergeByHand, proposed, refused, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import {
  type ClusterStatus,
  clusterObservationSchema,
} from '../../record/documents/cluster-observation.ts'
import { type DriftReport, driftReportSchema } from '../../record/documents/drift-report.ts'
import { parseDocument } from '../../record/write-document.ts'
import { TurnCache } from '../observe/turn-cache.ts'
import type { TurnResult } from './run-turn.ts'

const CLUSTER = 'clusters/prod/observation.yaml'
const REPORT = 'clusters/prod/apps--web/report.yaml'
const START = Date.parse('2026-11-21T10:00:00Z')

function clusterOf({ repository }: TurnWorld): ClusterStatus {
  return parseDocument(
    repository.text('drift-ledger', CLUSTER) ?? '',
    clusterObservationSchema,
    CLUSTER,
  ).status
}

function reportOf({ repository }: TurnWorld): DriftReport {
  return parseDocument(repository.text('drift-ledger', REPORT) ?? '', driftReportSchema, REPORT)
}

function commits({ repository }: TurnWorld): number {
  return repository.pushes.flat().filter(({ ref }) => ref === 'refs/heads/drift-ledger').length
}

/** RFC 3339 UTC, some seconds after the start. */
function time(seconds: number): string {
  return `${new Date(START + seconds * 1_000).toISOString().slice(0, 19)}Z`
}

function notesOf({ units }: TurnResult): string {
  return units
    .flatMap((unit) =>
      unit.state === 'planned' ? unit.plan.notes.map(({ cause, text }) => `${cause}: ${text}`) : [],
    )
    .join('\n')
}

/** The cluster answers with what was recorded at this time, while the present goes on. */
function record(world: TurnWorld, at: string, now: string): Promise<TurnResult> {
  const { uid } = world.cluster
  world.cluster.identify = async () => ({
    uid,
    version: 'v1.34.3',
    observedAt: at,
    recorded: true,
    namespace: 'default',
  })
  return world.scanAt(at, { clock: { now: () => new Date(now) } })
}

function live(world: TurnWorld): void {
  Reflect.deleteProperty(world.cluster, 'identify')
}

function unreachable(world: TurnWorld): void {
  world.cluster.identify = async () => {
    throw new Failure({
      code: 'BP3001',
      what: 'cannot read',
      why: 'refused at 10.0.0.7 with token hunter2',
      remedy: 'wait',
    })
  }
}

/** At the present of the world, which stays. */
async function status(world: TurnWorld, ...flags: readonly string[]): Promise<CliOutcome> {
  const { now } = world.cluster
  world.pass = () => {
    world.cluster.now = now
  }
  return runInWorld(world, ['status', ...flags]).finally(() =>
    Reflect.deleteProperty(world, 'pass'),
  )
}

test('an idle ledger gets at most six commits an hour, however many turns run', async () => {
  const world = new TurnWorld()
  const between = new TurnCache({ pacesLedger: true })
  await world.scanAt(time(0), { between })
  const first = commits(world)
  const hours = [0, 0, 0]
  for (let second = 15; second <= 3 * 3_600; second += 15) {
    const before = commits(world)
    await world.scanAt(time(second), { between })
    const hour = Math.floor((second - 1) / 3_600)
    hours[hour] = (hours[hour] ?? 0) + commits(world) - before
  }
  assert.equal(first, 1)
  assert.deepEqual(hours, [6, 6, 6])
  assert.deepEqual(
    [clusterOf(world).observedAt, clusterOf(world).changedAt],
    [time(3 * 3_600), time(0)],
  )
  assert.equal((await status(world)).code, 0)
})

test('the loss and the return of a cluster are written at once', async () => {
  const world = new TurnWorld()
  const between = new TurnCache({ pacesLedger: true })
  await world.scanAt(time(0), { between })
  unreachable(world)
  await refused(world.scanAt(time(5), { between }), 'BP3001')
  const { reachable, failure, observedAt } = clusterOf(world)
  assert.deepEqual(
    [reachable, failure?.since, failure?.code, observedAt],
    [false, time(5), 'BP3001', time(0)],
  )
  await refused(world.scanAt(time(6), { between }), 'BP3001')
  assert.equal(commits(world), 2)
  const { code, stdout, stderr } = await status(world)
  assert.equal(code, 3)
  assert.doesNotMatch(stdout, /InSync/)
  assert.match(
    stderr,
    /^note: prod: cannot be observed since .* \(1s\), last observed .* \(6s\): the cluster could not be observed \(BP3001\)$/m,
  )
  live(world)
  await world.scanAt(time(7), { between })
  assert.deepEqual(
    [clusterOf(world).reachable, clusterOf(world).failure, clusterOf(world).observedAt],
    [true, undefined, time(7)],
  )
  assert.equal((await status(world)).code, 0)
})

test('a ledger of an earlier version is readable, and fields of a later version are kept', async () => {
  const world = new TurnWorld()
  await world.scanAt(time(0))
  const head = 'apiVersion: backporch.dev/v1alpha1\nkind: ClusterObservation\n'
  const metadata =
    'metadata:\n  name: prod\n  annotations:\n    config.kubernetes.io/local-config: "true"\n'
  const { identity } = clusterOf(world)
  const old = (more: string): string =>
    `${head}${metadata}status:\n  changedAt: ${time(0)}\n  version: v1.34.3\n  identity: "${identity}"\n${more}`
  const failure = `{since: "${time(60)}", code: BP3001, why: gone, remedy: wait}`
  world.repository.commitByHand('drift-ledger', {
    [CLUSTER]: old(`  seenAt: ${time(30)}\n  unobserved: ${failure}\n  agent: {name: a}\n`),
  })
  const { observedAt, reachable, failure: read } = clusterOf(world)
  assert.deepEqual([observedAt, reachable, read?.since], [time(30), false, time(60)])
  world.cluster.now = time(90)
  const shown = JSON.parse((await status(world, '-o', 'json')).stdout)
  assert.deepEqual(shown.clusters, [
    {
      name: 'prod',
      observedAt: time(30),
      reachable: false,
      failure: { since: time(60), code: 'BP3001', why: 'gone', remedy: 'wait' },
    },
  ])
  await world.scanAt(time(120))
  const text = world.repository.text('drift-ledger', CLUSTER) ?? ''
  assert.deepEqual([clusterOf(world).reachable, clusterOf(world).observedAt], [true, time(120)])
  assert.match(text, /agent:\n {4}name: a/)
  assert.doesNotMatch(text, /seenAt|unobserved/)
})

test('an older observation replaces no ledger file, and a note says why', async () => {
  const world = new TurnWorld()
  await world.scanAt(time(3_600))
  const ledger = world.repository.branches.get('refs/heads/drift-ledger')
  world.edit(WEB, 'spec.replicas', 5)
  world.rollOut(false)
  const late = await record(world, time(0), time(7_200))
  assert.match(notesOf(late), /^newer-is-known: .*an earlier observation is not recorded/m)
  assert.equal(world.repository.branches.get('refs/heads/drift-ledger'), ledger)
})

test('an older observation does not make a cluster reachable after a later failure', async () => {
  const world = new TurnWorld()
  await world.scanAt(time(0))
  unreachable(world)
  await refused(world.scanAt(time(3_600)), 'BP3001')
  await record(world, time(60), time(7_200))
  assert.deepEqual([clusterOf(world).reachable, reportOf(world).status.state], [false, 'Unknown'])
})

test('a merge is recorded by a turn with an observation older than the ledger', async () => {
  const world = await proposed()
  const { branch } = await world.plan()
  await world.scanAt(time(7_200))
  const before = reportOf(world)
  await mergeByHand(world, branch)
  const turn = await record(world, time(600), time(10_800))
  assert.match(notesOf(turn), /was merged/)
  const [episode] = closedOf(world)
  assert.match(episode ?? '', /outcome: Merged/)
  assert.match(
    episode ?? '',
    new RegExp(`seenAt: "?${time(10_800)}`),
    'the time to settle begins when the decision is found',
  )
  assert.equal(world.repository.text(branch, 'apps/web/Kptfile'), undefined, 'its branch is gone')
  const after = reportOf(world)
  assert.deepEqual(after.spec, before.spec)
  assert.deepEqual(
    [after.status.state, after.status.episode, after.status.lifecycle, after.status.plan],
    ['Drifted', '', '', ''],
  )
  live(world)
  const next = await world.scanAt(time(10_860))
  const [unit] = next.units
  assert.equal(unit?.state === 'planned' ? unit.plan.report.status.state : '', 'Applying')
  assert.equal(closedOf(world).length, 1)
})

function closedOf({ repository }: TurnWorld): string[] {
  return repository
    .paths('drift-ledger')
    .filter((path) => path.startsWith('closed/'))
    .map((path) => repository.text('drift-ledger', path) ?? '')
}

test('a future time comes from a wrong clock: status distrusts it, and the next turn replaces it', async () => {
  const world = new TurnWorld()
  await world.scanAt('2030-01-01T00:00:00Z')
  world.cluster.now = time(0)
  const { code, stdout, stderr } = await status(world)
  assert.equal(code, 3, stdout)
  assert.match(`${stdout}${stderr}`, /Unknown \(stale\)/)
  const turn = await world.scanAt(time(120))
  assert.match(
    notesOf(turn),
    /^observed-in-future: the ledger has an observation of 2030-01-01T00:00:00Z, which is in the future/m,
  )
  assert.deepEqual(
    [clusterOf(world).observedAt, clusterOf(world).changedAt],
    [time(120), time(120)],
  )
  assert.deepEqual(
    [reportOf(world).spec.observed.at, reportOf(world).status.since],
    [time(120), time(120)],
  )
  assert.doesNotMatch(notesOf(await world.scanAt(time(180))), /observed-in-future/)
  assert.equal((await status(world)).code, 0)
})

test('a future time in a report alone is replaced too', async () => {
  const world = new TurnWorld()
  await world.scanAt(time(0))
  world.rollOut(false)
  await world.scanAt('2030-01-01T00:00:00Z')
  assert.deepEqual(
    [reportOf(world).spec.observed.at, reportOf(world).status.since],
    ['2030-01-01T00:00:00Z', time(0)],
  )
  await world.scanAt(time(120))
  assert.deepEqual(
    [reportOf(world).spec.observed.at, reportOf(world).status.since],
    [time(120), time(0)],
  )
})

test('a recording with a future time is written once, and status distrusts it', async () => {
  const world = new TurnWorld()
  const [first, second] = [
    await record(world, '2030-01-01T00:00:00Z', time(0)),
    await record(world, '2030-01-01T00:00:00Z', time(60)),
  ]
  assert.deepEqual([first.updates.length, second.updates.length, notesOf(second)], [1, 0, ''])
  world.cluster.now = time(120)
  assert.equal((await status(world)).code, 3)
})

test('a closed proposal is declined by a turn with an older observation, silenced from now on', async () => {
  const world = await proposed('{mode: Propose, decide: {closeSilence: 1d}}')
  const { branch } = await world.plan()
  await world.scanAt(time(7_200))
  world.repository.branches.delete(`refs/heads/${branch}`)
  await record(world, time(600), time(10_800))
  const [episode, ...others] = closedOf(world)
  assert.match(episode ?? '', /outcome: Declined/)
  assert.match(episode ?? '', new RegExp(`silentUntil: "?${time(10_800 + 86_400)}`))
  assert.deepEqual([others, reportOf(world).status.lifecycle], [[], ''])
  live(world)
  await world.scanAt(time(10_860))
  assert.deepEqual([reportOf(world).status.state, closedOf(world).length], ['Silenced', 1])
})

test('a slightly fast clock blocks no live observation and lets no recording replace newer data', async () => {
  const world = new TurnWorld()
  await world.scanAt(time(3_720))
  world.edit(WEB, 'spec.replicas', 5)
  await record(world, time(0), time(3_600))
  assert.equal(reportOf(world).status.state, 'InSync')
  live(world)
  await world.scanAt(time(3_600))
  assert.equal(reportOf(world).status.state, 'Drifted')
})

test('a flapping status is pushed once a minute, and the ledger ends with the last state', async () => {
  const world = new TurnWorld()
  const between = new TurnCache({ pacesLedger: true })
  for (let second = 0; second < 60; second += 1) {
    world.rollOut(second % 2 === 0)
    await world.scanAt(time(second), { between })
  }
  assert.ok(commits(world) <= 2, `${commits(world)} commits`)
  assert.equal(
    reportOf(world).status.health?.status,
    'Current',
    'the first state, while the last one waits',
  )
  await world.scanAt(time(60), { between })
  assert.equal(reportOf(world).status.health?.status, 'Failed')
  assert.ok(commits(world) <= 2, `${commits(world)} commits`)
})

test('a proposal does not wait for the minute and takes a waiting status along', async () => {
  const world = new TurnWorld()
  const between = new TurnCache({ pacesLedger: true })
  world.rollOut(true)
  await world.scanAt(time(0), { between })
  world.rollOut(false)
  await world.scanAt(time(10), { between })
  assert.equal(reportOf(world).status.health?.status, 'Current')
  world.edit(WEB, 'spec.replicas', 5)
  const { updates } = await world.scanAt(time(20), { between })
  assert.deepEqual(updates.map(({ ref }) => ref.replace(/-[0-9a-f]{8}$/, '')).sort(), [
    'refs/heads/drift-ledger',
    'refs/heads/proposed/apps/web/drift',
  ])
  assert.deepEqual(
    [reportOf(world).status.state, reportOf(world).status.health?.status],
    ['Drifted', 'Failed'],
  )
  assert.equal(world.repository.pushes.length, 2, 'one push for both')
})

test('a one-turn process always writes', async () => {
  const world = new TurnWorld()
  for (let second = 0; second < 4; second += 1) {
    world.rollOut(second % 2 === 0)
    await world.scanAt(time(second), { between: new TurnCache() })
  }
  assert.equal(commits(world), 4)
})
