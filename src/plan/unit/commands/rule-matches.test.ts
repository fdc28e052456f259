import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import {
  after,
  desiredOf,
  observationOf,
  verdictOf,
} from '../../../../test/fakes/observation-builder.ts'
import { policyText } from '../../../../test/fakes/turn-world.ts'
import type { Drift } from '../../../drift/compare/drift.ts'
import type { IgnoreRule } from '../../../drift/noise/ignore-rules.ts'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { addSeconds } from '../../observation/drift-age.ts'
import type { Observation } from '../../observation/observation.ts'
import {
  createStaleNotes,
  listRules,
  listStaleRules,
  listUntriedRules,
} from '../../turn/forge/listed-rules.ts'
import { planReconcile } from '../plan-reconcile.ts'

const DAY = 24 * 3_600
const RULES = `
  mode: Warn
  ignore:
  - {target: {kind: Deployment}, paths: [spec.replicas], reason: scaled, expires: "2027-12-31"}
  - {target: {kind: Deployment, name: "web*"}, paths: [spec.paused], reason: canary}
  - {target: {kind: StatefulSet}, reason: none here}
  - {managers: [old], reason: over, expires: "2026-01-01"}`
const FILES = [{ path: '.drift/policy.yaml', text: policyText(RULES) }]
const SET = parsePolicyFiles(FILES)
const REPLICAS = driftOf('spec.replicas')
const PAUSED = driftOf('spec.paused', { git: false, live: true })

/** The Deployment, of which these differences are hidden by a rule. */
function verdictsOf(ignored: readonly Drift[], state: 'Ignored' | 'Behind' = 'Ignored') {
  const setAside = ignored.map((drift) => ({ drift, state, why: 'hidden' }))
  return [verdictOf([], { desired: desiredOf({ replicas: 3, paused: false }), setAside })]
}

function unitOf(ignored: readonly Drift[], more: readonly IgnoreRule[] = []): Observation {
  const { policy } = observationOf()
  const ignore = [...SET.policies.flatMap((one) => one.ignore), ...more]
  return observationOf([], {
    policy: { ...policy, mode: 'Warn', ignore },
    verdicts: verdictsOf(ignored),
  })
}

function reportOf(unit: Observation): DriftReport {
  return planReconcile(unit).report
}

/** The same unit some days later, with what the ledger then has. */
function daysLater(unit: Observation, days: number, ignored: readonly Drift[]): Observation {
  const next = after(unit, planReconcile(unit), { verdicts: verdictsOf(ignored) })
  return {
    ...next,
    cluster: { ...next.cluster, observedAt: addSeconds(next.cluster.observedAt, days * DAY) },
  }
}

const matches = (unit: Observation) =>
  reportOf(unit).status.ignores?.map(({ rule: _rule, ...rest }) => rest)

test('the ledger counts hits per rule, or since when a rule is unmatched; rules without a target are left out', () => {
  assert.deepEqual(matches(unitOf([REPLICAS])), [{ hits: 1 }, { unmatchedSince: '2026-11-21' }])
  const { policy } = unitOf([])
  const none = observationOf([], { policy: { ...policy, ignore: policy.ignore.slice(2) } })
  assert.equal(matches(none), undefined)
})

test('only ignored changes count as hits, and duplicate rules count once', () => {
  const behind = { ...unitOf([]), verdicts: verdictsOf([REPLICAS], 'Behind') }
  assert.deepEqual(matches(behind)?.[0], { unmatchedSince: '2026-11-21' })
  const [rule] = SET.policies.flatMap((one) => one.ignore)
  assert.ok(rule !== undefined)
  assert.deepEqual(
    matches(unitOf([REPLICAS], [{ ...rule, where: 'elsewhere' }])),
    matches(unitOf([REPLICAS])),
  )
})

test('a turn without a change in rule matches leaves the report unchanged on any day', () => {
  let unit = unitOf([REPLICAS])
  for (let day = 0; day < 3; day += 1) {
    unit = daysLater(unit, 1, [REPLICAS])
    assert.equal(reportOf(unit).status.ignores?.[1]?.unmatchedSince, '2026-11-21')
    assert.deepEqual(planReconcile(unit).writes.ledger, [])
  }
})

test('a rule that stops matching gets that day, and a later match clears it', () => {
  const stopped = daysLater(unitOf([REPLICAS]), 1, [])
  assert.deepEqual(matches(stopped)?.[0], { unmatchedSince: '2026-11-22', matched: true })
  const idle = daysLater(stopped, 40, [])
  assert.deepEqual(matches(idle), matches(stopped))
  assert.deepEqual(matches(daysLater(idle, 0, [REPLICAS]))?.[0], { hits: 1 })
})

test('an incomplete observation reports no newly unmatched rule', () => {
  const incomplete = [{ state: 'unreadable', code: 'BP3006', why: 'no answer' }] as const
  const stopped = { ...daysLater(unitOf([REPLICAS]), 1, []), incomplete }
  assert.deepEqual(matches(stopped), [{ unmatchedSince: '2026-11-21' }])
  assert.equal(matches({ ...unitOf([]), incomplete }), undefined)
})

const ANNOTATION: IgnoreRule = {
  ...{
    where: 'apps/web/Kptfile:7',
    level: 'package',
    target: {},
    paths: [],
    managers: [],
    reason: 'ours',
    expires: undefined,
  },
}

test('an annotation rule is stored as written, even after it expired; an expired policy rule is not', () => {
  const { annotation } = matches(unitOf([], [ANNOTATION]))?.at(-1) ?? {}
  assert.deepEqual(
    [annotation?.where, annotation?.reason, annotation?.expires],
    ['apps/web/Kptfile:7', 'ours', undefined],
  )
  for (const level of ['package', 'object'] as const) {
    const ended = unitOf([], [{ ...ANNOTATION, level, expires: '2026-01-01' }])
    assert.deepEqual(matches(ended)?.length, 3)
    assert.deepEqual(
      [matches(ended)?.at(-1)?.annotation?.expires, matches(ended)?.at(-1)?.unmatchedSince],
      ['2026-01-01', undefined],
    )
  }
  assert.ok(matches(unitOf([]))?.every((entry) => entry.annotation === undefined))
})

test('rules are listed with their state, and stale ones with their place after 30 days', () => {
  const report = reportOf(unitOf([REPLICAS]))
  const listed = listRules(SET, [report], '2026-11-21')
  assert.deepEqual(
    listed.map(({ state, hits, units, unmatchedSince, lastMatched, expires }) => [
      state,
      hits,
      units,
      unmatchedSince,
      lastMatched,
      expires,
    ]),
    [
      ['Matching', 1, 1, undefined, 'now', '2027-12-31'],
      ['Unmatched', 0, 1, '2026-11-21', 'never', undefined],
      ['Untried', 0, 0, undefined, undefined, undefined],
      ['Expired', 0, 0, undefined, undefined, '2026-01-01'],
    ],
  )
  const reported = (today: string) =>
    listStaleRules(listRules(SET, [report], today), today).map(({ why }) => why)
  const over =
    'the ignore rule at .drift/policy.yaml:10 ended on 2026-01-01 and no longer matches anything'
  const stale =
    'the ignore rule at .drift/policy.yaml:8 has matched nothing since it was first tried on 2026-11-21'
  assert.deepEqual(reported('2026-12-20'), [over])
  assert.deepEqual(reported('2026-12-21'), [stale, over])
  assert.deepEqual(
    createStaleNotes(SET, [report], '2026-12-21').map(({ text }) => text),
    [stale, over],
  )
  assert.deepEqual(
    listUntriedRules(SET, listed, [report]).map(({ where }) => where),
    ['.drift/policy.yaml:9'],
  )
  assert.deepEqual(
    listUntriedRules(SET, listRules(SET, [], '2026-11-21'), []),
    [],
    'before the first scan nobody can say',
  )
})

test('a rule that stopped matching has its last day; one that expired while matching has none', () => {
  const stopped = reportOf(daysLater(unitOf([REPLICAS, PAUSED]), 1, []))
  const lists = (today: string) =>
    listRules(SET, [stopped], today).map(({ lastMatched }) => lastMatched)
  assert.deepEqual(lists('2026-11-22'), ['2026-11-22', '2026-11-22', undefined, undefined])
  const whys = listStaleRules(listRules(SET, [stopped], '2027-01-01'), '2027-01-01').map(
    ({ why }) => why,
  )
  assert.equal(
    whys[0],
    'the ignore rule at .drift/policy.yaml:7 has matched nothing since 2026-11-22',
  )
  const matching = listRules(SET, [reportOf(unitOf([REPLICAS]))], '2028-01-01')[0]
  assert.deepEqual(
    [matching?.state, matching?.hits, matching?.lastMatched],
    ['Expired', 0, undefined],
  )
})

test('a rule that still matches in one unit is not stale, and the latest day counts', () => {
  const idle = reportOf(unitOf([]))
  const busy = reportOf(unitOf([PAUSED, REPLICAS]))
  assert.equal(listStaleRules(listRules(SET, [idle], '2027-01-21'), '2027-01-21').length, 3)
  assert.equal(listStaleRules(listRules(SET, [idle, busy], '2027-01-21'), '2027-01-21').length, 1)
  const stopped = reportOf(daysLater(unitOf([REPLICAS]), 1, []))
  assert.equal(listRules(SET, [idle, stopped], '2027-01-21')[0]?.unmatchedSince, '2026-11-22')
  assert.equal(listRules(SET, [stopped, idle], '2027-01-21')[0]?.unmatchedSince, '2026-11-22')
})

test('annotation rules are listed by place, once each', () => {
  const other = { ...ANNOTATION, where: 'apps/api/Kptfile:3', reason: 'theirs' }
  const report = reportOf(unitOf([], [ANNOTATION, { ...other, paths: REPLICAS_PATH }]))
  const listed = listRules({ policies: [] }, [report, report], '2026-11-21')
  assert.deepEqual(
    listed.map(({ where, policy, reason, target }) => [where, policy, reason, target]),
    [
      ['apps/api/Kptfile:3', 'annotation', 'theirs', 'every object of apps/web'],
      ['apps/web/Kptfile:7', 'annotation', 'ours', 'every object of apps/web'],
    ],
  )
})

const REPLICAS_PATH = SET.policies[0]?.ignore[0]?.paths ?? []
