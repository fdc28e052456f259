/** What a turn writes into the ledger about a cluster as a whole, and about units that it could not observe. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FailureCode } from '@backporch/kyaml/failure'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import { after, observationOf, proposedOf } from '../../../../test/fakes/observation-builder.ts'
import type { ClusterObservation } from '../../../record/documents/cluster-observation.ts'
import { API_VERSION, LOCAL_CONFIG } from '../../../record/documents/document.ts'
import { computeLedgerAfter } from '../../observation/ledger-after.ts'
import { readObject } from '../../observation/ledger-files.ts'
import type { PlannedUnit } from '../../observation/planned-unit.ts'
import { planReconcile } from '../../unit/plan-reconcile.ts'
import { createUnobservedFiles, type UnobservedUnit } from '../../unit/unobserved.ts'
import { type ClusterTurn, createClusterWrites } from './cluster-writes.ts'

const AT = '2026-11-21T10:01:00Z'
const IDENTITY = { version: 'v1.34.3', identity: '0123456789abcdef' }
const FAILURE = { since: '2026-11-21T09:00:00Z', code: 'BP3006', why: 'no answer', remedy: 'wait' }
const KNOWN = proposedOf([driftOf('spec.replicas')])
const NOTHING_NEW: PlannedUnit = { observation: KNOWN, plan: planReconcile(KNOWN) }

function before(status: Partial<ClusterObservation['status']>): ClusterObservation {
  const first = { changedAt: '2026-11-20T10:00:00Z', ...IDENTITY, reachable: true }
  return {
    ...{
      apiVersion: API_VERSION,
      kind: 'ClusterObservation',
      metadata: { name: 'prod', annotations: LOCAL_CONFIG },
    },
    status: { ...first, ...status },
  }
}

function written(turn: Partial<ClusterTurn>): {
  status: ClusterObservation['status'] | undefined
  lines: readonly string[]
  paths: string[]
} {
  const { ledger, ledgerLines } = createClusterWrites({
    ...{ cluster: 'prod', at: AT, now: AT, before: undefined, identity: IDENTITY, whole: true },
    ...{ planned: [NOTHING_NEW], unobserved: [], interval: 3_600 },
    ...turn,
  })
  const { clusters } = computeLedgerAfter(
    { reports: new Map(), closed: new Map(), clusters: new Map() },
    ledger,
  )
  return {
    status: clusters.get('prod')?.status,
    lines: ledgerLines,
    paths: ledger.map(({ path }) => path),
  }
}

const SEEN = ['seen, with nothing new']
const OBSERVED: readonly (readonly [
  name: string,
  turn: Partial<ClusterTurn>,
  status: object | undefined,
  lines: readonly string[],
])[] = [
  ['the first observation of a known unit is written', {}, { changedAt: AT, observedAt: AT }, SEEN],
  [
    'an observation of unknown units is not written',
    { planned: [{ ...NOTHING_NEW, observation: observationOf() }] },
    undefined,
    [],
  ],
  [
    'an observation within the interval is not written',
    { before: before({ observedAt: '2026-11-21T09:30:00Z' }) },
    undefined,
    [],
  ],
  [
    'an unchanged observation is written after an interval',
    { before: before({ observedAt: '2026-11-21T09:01:00Z' }) },
    { changedAt: '2026-11-20T10:00:00Z', observedAt: AT },
    SEEN,
  ],
  [
    'an observation just before the interval ends is not written',
    { before: before({ observedAt: '2026-11-21T09:01:01Z' }) },
    undefined,
    [],
  ],
  [
    'an older observation is not written',
    { before: before({ observedAt: '2026-11-21T10:00:30Z' }), at: '2026-11-21T09:59:00Z' },
    undefined,
    [],
  ],
  [
    'a recorded time in the future is ignored',
    { before: before({ observedAt: '2027-01-01T00:00:00Z', reachable: false, failure: FAILURE }) },
    { changedAt: '2026-11-20T10:00:00Z', observedAt: AT },
    SEEN,
  ],
  [
    'the first observation after an outage ends it',
    { before: before({ observedAt: '2026-11-21T09:30:00Z', reachable: false, failure: FAILURE }) },
    { changedAt: '2026-11-20T10:00:00Z', observedAt: AT },
    SEEN,
  ],
  [
    'a change of a unit is a change of the cluster',
    { before: before({ observedAt: '2026-11-21T09:30:00Z' }), planned: [newUnit()] },
    { changedAt: AT, observedAt: AT },
    [],
  ],
  [
    'a turn about some packages keeps the time of the last full observation',
    { whole: false, before: before({ observedAt: '2026-11-21T09:30:00Z' }), planned: [newUnit()] },
    { changedAt: AT, observedAt: '2026-11-21T09:30:00Z' },
    [],
  ],
]

function newUnit(): PlannedUnit {
  const observation = observationOf([driftOf('spec.replicas')])
  return { observation, plan: planReconcile(observation) }
}

for (const [name, turn, status, lines] of OBSERVED) {
  test(`cluster observation: ${name}`, () => {
    const result = written(turn)
    assert.deepEqual(
      result.status,
      status === undefined ? undefined : { ...IDENTITY, reachable: true, ...status },
    )
    assert.deepEqual(result.lines, lines)
  })
}

const PATH = 'clusters/prod/apps--web/report.yaml'
const LATER = '2026-11-21T12:00:00Z'
const SOME: readonly (readonly [
  name: string,
  turn: Partial<ClusterTurn>,
  paths: readonly string[],
])[] = [
  ['is written again an hour later', { at: LATER, now: LATER }, [PATH]],
  ['is not written again within the interval', {}, []],
  [
    'is not written after a full observation',
    { at: LATER, now: LATER, before: before({ observedAt: '2026-11-21T11:59:00Z' }) },
    [],
  ],
  [
    'is not written by an older observation',
    { at: '2026-11-20T10:00:00Z', now: LATER, interval: 0 },
    [],
  ],
  [
    'unknown to the ledger is not written',
    { at: LATER, now: LATER, planned: [{ ...NOTHING_NEW, observation: observationOf() }] },
    [],
  ],
  [
    'with news writes its own files',
    { at: LATER, now: LATER, planned: [{ ...NOTHING_NEW, plan: newUnit().plan }] },
    ['observation'],
  ],
]

for (const [name, turn, paths] of SOME) {
  test(`in a turn about some packages, a unit ${name}`, () => {
    const result = written({ whole: false, ...turn })
    assert.deepEqual(
      result.paths.filter((path) => path === PATH),
      paths.filter((path) => path === PATH),
    )
    assert.equal(result.lines.includes('apps/web: seen, with nothing new'), paths.includes(PATH))
  })
}

test('an unobservable cluster is recorded once, with the reason and the last known state', () => {
  const { status, lines } = written({
    identity: 'BP3006',
    planned: [],
    before: before({ observedAt: '2026-11-21T09:30:00Z' }),
  })
  assert.deepEqual(lines, ['cannot be observed (BP3006)'])
  const { failure, ...rest } = status ?? {}
  assert.deepEqual(rest, {
    ...IDENTITY,
    reachable: false,
    changedAt: AT,
    observedAt: '2026-11-21T09:30:00Z',
  })
  assert.deepEqual([failure?.since, failure?.code], [AT, 'BP3006'])
  const never = written({ identity: 'BP3006', planned: [] }).status
  assert.deepEqual([never?.version, never?.identity], ['', ''])
  const again = written({
    identity: 'BP3006',
    planned: [],
    before: before({ reachable: false, failure: FAILURE }),
  })
  assert.deepEqual([again.status, again.lines], [undefined, []])
  const more = written({
    identity: 'BP3006',
    planned: [],
    before: before({ reachable: false, failure: FAILURE }),
    unobserved: [lostUnit()],
  })
  assert.equal(more.status?.failure?.since, FAILURE.since, 'the outage goes on')
  assert.deepEqual(more.lines, ['cannot be observed (BP3006)', 'apps/web: Unknown'])
})

function lostUnit(more: Partial<UnobservedUnit> = {}): UnobservedUnit {
  const { report, texts } = KNOWN.git.ledger
  assert.ok(report !== undefined)
  const folder = 'clusters/prod/apps--web'
  return {
    folder,
    report,
    resourceGroup: texts.get(`${folder}/resourcegroup.yaml`),
    unit: report.spec.unit,
    code: 'BP3006',
    ...more,
  }
}

test('an unobservable unit becomes Unknown once; another reason is written after an hour', () => {
  const files = (unit: UnobservedUnit, at: string, changedAt = AT) =>
    createUnobservedFiles(unit, before({ changedAt }), at, '2026-11-21T14:00:00Z')
  const first = files(lostUnit(), '2026-11-21T10:05:00Z')
  assert.deepEqual(
    first.map(({ path }) => path.split('/').at(-1)),
    ['report.yaml', 'resourcegroup.yaml'],
  )
  const report = computeLedgerAfter(
    { reports: new Map(), closed: new Map(), clusters: new Map() },
    first,
  ).reports.get('clusters/prod/apps--web')
  assert.deepEqual(
    [report?.status.state, report?.status.since, report?.status.lastKnown?.state],
    ['Unknown', '2026-11-21T10:05:00Z', 'Drifted'],
  )
  assert.deepEqual(
    [report?.status.lifecycle, report?.spec.changes.length],
    ['Proposed', 1],
    'the last observation stays',
  )
  const again = (code: FailureCode, at: string) =>
    files(lostUnit({ report, code, resourceGroup: undefined }), at, '2026-11-21T10:05:00Z')
  assert.deepEqual(again('BP3006', '2026-11-21T13:00:00Z'), [])
  assert.deepEqual(again('BP3009', '2026-11-21T10:30:00Z'), [])
  const [other] = again('BP3009', '2026-11-21T11:06:00Z')
  assert.match(other?.text ?? '', /code: BP3009/)
  assert.match(other?.text ?? '', /since: '?"?2026-11-21T10:05:00Z/)
  assert.deepEqual(
    files(lostUnit(), '2026-11-21T09:00:00Z'),
    [],
    'the ledger knows something newer',
  )
  const [never, ...more] = files(lostUnit({ report: undefined, resourceGroup: undefined }), AT)
  assert.match(never?.text ?? '', /state: Unknown/)
  assert.deepEqual(more, [])
})

const DRIFT = driftOf('spec.replicas')
const behind = (more: object = {}) =>
  [{ drift: DRIFT, state: 'Behind', why: 'git moved', ...more }] as const
test('the inventory in the ledger has the conditions of the unit', () => {
  const of = (unit: ReturnType<typeof observationOf>): string | undefined => {
    const { writes } = planReconcile(unit)
    const text = writes.ledger.find(({ path }) => path.endsWith('/resourcegroup.yaml'))?.text ?? ''
    const { status } = readObject(text, 'x') as {
      status: { conditions: { type: string; status: string; reason: string }[] }
    }
    const drifted = status.conditions.find(({ type }) => type === 'Drifted')
    return `${drifted?.status} ${drifted?.reason}`
  }
  const verdict = (setAside: ReturnType<typeof behind>) => ({
    ...observationOf(),
    verdicts: observationOf().verdicts.map((one) => ({ ...one, setAside })),
  })
  const states = [
    of(observationOf([DRIFT])),
    of(
      observationOf([], {
        incomplete: [{ state: 'unreadable', code: 'BP3006', why: 'no answer' }],
      }),
    ),
    of(verdict(behind({ stuckSince: AT }))),
    of(verdict(behind())),
    of(observationOf()),
  ]
  assert.deepEqual(states, [
    'True DriftDetected',
    'Unknown Unverified',
    'False Stuck',
    'False Behind',
    'False InSync',
  ])
})

test('an unreadable ledger file is rewritten, and a defect is thrown', () => {
  assert.equal(readObject('a: [', 'x'), undefined)
  assert.equal(readObject('- a', 'x'), undefined)
  assert.deepEqual(readObject('a: b', 'x'), { a: 'b' })
  assert.throws(() => readObject(7 as never, 'x'), TypeError)
  const path = 'clusters/prod/apps--web/resourcegroup.yaml'
  const broken = {
    ...KNOWN,
    git: {
      ...KNOWN.git,
      ledger: { ...KNOWN.git.ledger, texts: new Map([...KNOWN.git.ledger.texts, [path, 'a: [']]) },
    },
  }
  assert.ok(planReconcile(broken).writes.ledger.some((file) => file.path === path))
  assert.deepEqual(planReconcile(KNOWN).writes.ledger, [])
})

test('a record read back from git equals the written record', () => {
  const branches = KNOWN.git.branches.map((branch) => ({
    ...branch,
    record: structuredClone(branch.record),
  }))
  assert.equal(planReconcile({ ...KNOWN, git: { ...KNOWN.git, branches } }).outcome, 'unchanged')
  const moved = branches.map((branch) => {
    const changes = branch.record.spec.changes.map((change) => ({
      ...change,
      source: 'apps/web/other.yaml:7',
    }))
    return { ...branch, record: { ...branch.record, spec: { ...branch.record.spec, changes } } }
  })
  assert.equal(
    planReconcile({ ...KNOWN, git: { ...KNOWN.git, branches: moved } }).outcome,
    'unchanged',
    'the line moved',
  )
})

test('while a unit drifts the ledger keeps its earlier state; a unit in sync needs none', () => {
  const calm = observationOf()
  const synced = after(calm, planReconcile(calm))
  assert.equal(planReconcile(synced).report.status.rollout, undefined)
  const drifted = planReconcile({ ...synced, verdicts: observationOf([DRIFT]).verdicts }).report
  assert.deepEqual(drifted.status.rollout?.seen, [
    { commit: 'a'.repeat(40), tree: '0'.repeat(16), at: '2026-11-21T10:00:00Z' },
  ])
  assert.equal(
    planReconcile(observationOf([DRIFT])).report.status.rollout,
    undefined,
    'nothing was observed before',
  )
})
