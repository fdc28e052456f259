/** Which writes of a turn wait for the minute. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import { after, observationOf } from '../../../../test/fakes/observation-builder.ts'
import type { GroupMember } from '../../../status/resource-group.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import { planReconcile } from '../../unit/plan-reconcile.ts'
import type { UnitResult } from '../../unit/unit-result.ts'
import { waitsForPace } from './ledger-pace.ts'

const PUSHED = '2026-11-21T10:00:00Z'
const SOON = '2026-11-21T10:00:59Z'
const FAILED: GroupMember = {
  id: driftOf('spec.replicas').id,
  status: 'Failed',
  drift: 'in-sync',
  message: '',
}
const FIRST = observationOf()
const KNOWN = after(FIRST, planReconcile(FIRST))

function unitOf(
  observation: typeof KNOWN,
  change: (plan: UnitPlan) => UnitPlan = (plan) => plan,
): UnitResult {
  const plan = change(planReconcile(observation))
  const rest = { notAdoptable: new Map(), notes: [], resolutionRequest: undefined, requests: [] }
  return { state: 'planned', unit: observation.unit, observation, plan, ...rest }
}

/** The same with another health, as a turn plans it. */
const UNHEALTHY = unitOf({ ...KNOWN, health: [FAILED] })

function withStatus(status: Partial<UnitPlan['report']['status']>): UnitResult {
  return unitOf({ ...KNOWN, health: [FAILED] }, (plan) => ({
    ...plan,
    report: { ...plan.report, status: { ...plan.report.status, ...status } },
  }))
}

function waits(
  units: readonly UnitResult[],
  { isNews = false, pushedAt = PUSHED, now = SOON } = {},
): boolean {
  return waitsForPace(
    { units, clusters: [{ cluster: 'prod', ledger: [], ledgerLines: [], isNews }] },
    pushedAt === 'never' ? undefined : pushedAt,
    now,
  )
}

test("a change of health alone waits until a minute after this process's last push", () => {
  assert.equal(UNHEALTHY.state === 'planned' && UNHEALTHY.plan.writes.ledger.length, 3)
  assert.equal(waits([UNHEALTHY]), true)
  assert.equal(waits([UNHEALTHY], { now: '2026-11-21T10:01:00Z' }), false)
  assert.equal(waits([UNHEALTHY], { pushedAt: 'never' }), false, 'this process did not push')
  assert.equal(waits([UNHEALTHY], { now: '2026-11-21T09:59:59Z' }), false, 'the clock was set back')
  assert.equal(waits([]), true)
})

test('news of a unit or a cluster is pushed at once, with all waiting writes', () => {
  assert.equal(
    waits([
      UNHEALTHY,
      unitOf({ ...KNOWN, verdicts: observationOf([driftOf('spec.replicas')]).verdicts }),
    ]),
    false,
  )
  assert.equal(waits([UNHEALTHY, unitOf(FIRST)]), false, 'the first report of a unit')
  assert.equal(waits([UNHEALTHY], { isNews: true }), false)
  const news: readonly Partial<UnitPlan['report']['status']>[] = [
    { state: 'Drifted' },
    { state: 'Unknown' },
    { state: 'Applying' },
    { state: 'Silenced' },
    { episode: '9f2c1a7b' },
    { lifecycle: 'Proposed' },
    { plan: 'Adopt' },
    { held: { reason: 'window', why: 'a window is open' } },
    { snoozedUntil: '2026-12-01T00:00:00Z' },
    { stuckSince: '2026-11-21T09:00:00Z' },
  ]
  for (const status of news)
    assert.equal(waits([withStatus(status)]), false, JSON.stringify(status))
  for (const state of ['Behind', 'Reconciling', 'Suspended'] as const)
    assert.equal(waits([withStatus({ state })]), true, state)
})

test('a decision is pushed without delay', () => {
  const decided = (path: string): UnitResult =>
    unitOf(KNOWN, (plan) => ({
      ...plan,
      writes: { ...plan.writes, ledger: [...plan.writes.ledger, { path, text: 'a: b' }] },
    }))
  assert.equal(waits([decided('closed/2026/9f2c1a7b.yaml')]), false)
  assert.equal(waits([decided('clusters/prod/apps--web/report.yaml')]), true)
})
