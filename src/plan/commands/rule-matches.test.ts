import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyText, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import { parsePolicyFiles } from '../../policy/parse-policy.ts'
import type { DriftReport } from '../../record/schema.ts'
import { listRules, staleRules, untriedRules } from './listed-rules.ts'

const DAY = 24 * 60
const RULES = `
  mode: Warn
  ignore:
  - {target: {kind: Deployment}, paths: [spec.replicas], reason: scaled, expires: "2027-12-31"}
  - {target: {kind: Deployment, name: "web*"}, paths: [spec.paused], reason: canary}
  - {target: {kind: StatefulSet}, reason: none here}
  - {managers: [old], reason: over, expires: "2026-01-01"}`
const FILES = [{ path: '.drift/policy.yaml', text: policyText(RULES) }]

async function reportOf(world: TurnWorld): Promise<DriftReport> {
  return (await world.plan()).report
}

/** Commits of the ledger. */
function reportText(world: TurnWorld): string | undefined {
  return world.repository.text('drift-ledger', 'clusters/prod/apps--web/report.yaml')
}

test('the ledger says which rule hides how much, and since when another one hides nothing; rules without an object are not in it', async () => {
  const world = new TurnWorld(RULES)
  world.edit(WEB, 'spec.replicas', 5)
  const { ignores } = (await reportOf(world)).status
  assert.deepEqual(
    ignores?.map(({ rule: _rule, ...rest }) => rest),
    [{ hits: 1 }, { unmatchedSince: '2026-11-21' }],
  )
})

test('a turn in which no rule begins or ends to match leaves the report as it is, however many days go by', async () => {
  const world = new TurnWorld(RULES)
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const text = reportText(world)
  for (let day = 0; day < 3; day += 1) {
    world.pass(DAY)
    assert.equal((await reportOf(world)).status.ignores?.[1]?.unmatchedSince, '2026-11-21')
  }
  assert.equal(reportText(world), text)
})

test('a rule that matched is told with the day on which it stopped, and a day on which it matches again starts anew', async () => {
  const world = new TurnWorld(RULES)
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  world.pass(DAY)
  world.sync()
  const stopped = await reportOf(world)
  assert.deepEqual({ ...stopped.status.ignores?.[0], rule: '' }, { rule: '', unmatchedSince: '2026-11-22', matched: true })
  world.pass(40 * DAY)
  assert.deepEqual((await reportOf(world)).status.ignores, stopped.status.ignores)
  world.edit(WEB, 'spec.replicas', 7)
  assert.equal((await reportOf(world)).status.ignores?.[0]?.hits, 1)
})

test('what could not be read may be what a rule is for: nothing is said of it', async () => {
  const world = new TurnWorld(RULES)
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  world.sync()
  world.cluster.unreadable.add(WEB_CONFIG)
  const { status } = await reportOf(world)
  assert.deepEqual(
    [status.incomplete?.length, status.ignores?.map(({ hits, unmatchedSince }) => hits ?? unmatchedSince)],
    [1, ['2026-11-21']],
  )
})

test('rules are listed with what is known of them, and those that hide nothing are told with their place after 30 days', async () => {
  const world = new TurnWorld(RULES)
  world.edit(WEB, 'spec.replicas', 5)
  const report = await reportOf(world)
  const set = parsePolicyFiles(FILES)
  const listed = listRules(set, [report], '2026-11-21')
  assert.deepEqual(
    listed.map(({ state, hits, lastMatched, expires }) => [state, hits, lastMatched, expires]),
    [
      ['Matching', 1, 'now', '2027-12-31'],
      ['Unmatched', 0, 'never', ''],
      ['Untried', 0, '', ''],
      ['Expired', 0, '', '2026-01-01'],
    ],
  )
  const reported = (today: string) => staleRules(listRules(set, [report], today), today).map(({ why }) => why)
  const over = 'the ignore rule at .drift/policy.yaml:10 ended on 2026-01-01 and no longer matches anything'
  const stale = 'the ignore rule at .drift/policy.yaml:8 has matched nothing since it was first tried on 2026-11-21'
  assert.deepEqual(reported('2026-12-20'), [over])
  assert.deepEqual(reported('2026-12-21'), [stale, over])
  assert.deepEqual(
    untriedRules(set, listed, [report]).map(({ where }) => where),
    ['.drift/policy.yaml:9'],
  )
  assert.deepEqual(untriedRules(set, listRules(set, [], '2026-11-21'), []), [], 'before the first scan nobody can say')
})

test('a rule that still matches in one unit is not told', async () => {
  const world = new TurnWorld(RULES)
  const idle = await reportOf(world)
  world.edit(WEB, 'spec.paused', true)
  world.edit(WEB, 'spec.replicas', 5)
  const busy = await reportOf(world)
  const set = parsePolicyFiles(FILES)
  assert.equal(staleRules(listRules(set, [idle], '2027-01-21'), '2027-01-21').length, 3)
  assert.equal(staleRules(listRules(set, [idle, busy], '2027-01-21'), '2027-01-21').length, 1)
})
