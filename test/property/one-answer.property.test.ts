/**
 * The table of `status`, its JSON, `get packages`, the report and the ResourceGroup of the ledger never disagree, whatever happened: random
 * days of a fleet with edits, missing and unreadable objects, released Secrets, merges, closes and ticks, policies, health, clusters out of
 * reach and packages that cannot be read. After every turn, for every unit:
 *
 * 1. what the turn says of a unit that it observed is what the ledger says of it;
 * 2. the JSON of `status` is the report, but for the time of the last look;
 * 3. the row has the report's state, health and count of objects that differ; `?` stands for Unknown and for nothing else;
 * 4. InSync means no difference and nothing unproven; Unknown has its reason, and no other state without a difference has one;
 * 5. the ResourceGroup is Drifted=Unknown where the report is Unknown, True where it has a difference, False otherwise, with the reason
 *    Behind where the state waits for the syncer;
 * 6. an object of the ResourceGroup is drifted where the report has a difference of it, and unverified where it lists it as incomplete;
 * 7. the health of the report is the worst of the objects of the ResourceGroup, and lists those that are not Current; Stalled is True where
 *    one is Failed;
 * 8. `get packages` gives the unit's state and health to what is published last, and nothing to what is superseded;
 * 9. the exit code of `status` is 3 where something is Unknown, else 1 where something drifted, else 5 where something is Failed, else 0.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn, type TurnResult } from '../../src/reconcile/turn/run-turn.ts'
import { type DriftReport, driftReportSchema } from '../../src/record/documents/drift-report.ts'
import { knownTexts } from '../../src/record/known-texts.ts'
import { parseDocument } from '../../src/record/write-document.ts'
import { type GroupMember, readResourceGroup } from '../../src/status/resource-group.ts'
import { findWorstHealth } from '../../src/status/unit-health.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import type { FleetWorld } from '../fakes/fleet-world.ts'
import { editedBy } from '../fakes/live-object.ts'
import * as fc from '../seeds/fast-check.ts'
import { begin, SECRET, steps } from './random-days.ts'

const WAITING = ['Behind', 'Reconciling', 'Suspended']
const observed = {
  states: new Map<string, number>(),
  health: new Map<string, number>(),
  superseded: 0,
}

interface Condition {
  readonly status: string
  readonly reason: string
}

interface LedgerUnit {
  readonly report: DriftReport
  readonly members: readonly GroupMember[]
  /** Of the ResourceGroup, by type; undefined where there is no ResourceGroup. */
  readonly conditions: ReadonlyMap<string, Condition> | undefined
}

async function turn(world: FleetWorld): Promise<TurnResult> {
  world.pass()
  const { repository, forge, clusters } = world
  const fleet = { repository, forge, clusters }
  const { signal } = new AbortController()
  return runFleetTurn(fleet, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
}

function ledgerOf({ repository }: FleetWorld): readonly LedgerUnit[] {
  if (!repository.branches.has('refs/heads/drift-ledger')) return []
  const paths = repository.paths('drift-ledger').filter((path) => path.endsWith('/report.yaml'))
  return paths.map((path) => {
    const report = parseDocument(
      repository.text('drift-ledger', path) ?? '',
      driftReportSchema,
      path,
    )
    const text = repository.text('drift-ledger', path.replace('report.yaml', 'resourcegroup.yaml'))
    const group =
      text === undefined
        ? undefined
        : (knownTexts.read(text, path).value as unknown as {
            status: { conditions: (Condition & { type: string })[] }
          })
    return {
      report,
      members: group === undefined ? [] : readResourceGroup(group as never),
      conditions:
        group === undefined
          ? undefined
          : new Map(group.status.conditions.map((each) => [each.type, each])),
    }
  })
}

function assertAgreement({ report: { spec, status }, members, conditions }: LedgerUnit): void {
  const { state, incomplete = [], health } = status
  const differs = new Set(spec.changes.map(({ ref }) => getResourceKey(ref)))
  assert.ok(health !== undefined)
  if (state === 'InSync') assert.deepEqual([spec.changes, incomplete], [[], []])
  if (state === 'Unknown') assert.ok(incomplete.length > 0)
  if (state !== 'Unknown' && incomplete.length > 0) assert.ok(spec.changes.length > 0, state)
  if (conditions === undefined) {
    assert.deepEqual([state, health.status], ['Unknown', 'Unknown'])
    return
  }
  const drifted = conditions.get('Drifted')
  assert.equal(
    drifted?.status,
    state === 'Unknown' ? 'Unknown' : differs.size > 0 ? 'True' : 'False',
  )
  if (drifted?.status === 'False')
    assert.equal(
      drifted.reason,
      status.stuckSince !== undefined ? 'Stuck' : WAITING.includes(state) ? 'Behind' : 'InSync',
    )
  for (const { id, drift } of members) {
    const whole = state === 'Unknown' && incomplete.some(({ ref }) => ref === undefined)
    const unproven = incomplete.some(
      ({ ref }) => ref !== undefined && getResourceKey(ref) === getResourceKey(id),
    )
    if (
      whole &&
      status.health?.status === 'Unknown' &&
      members.every((member) => member.drift === 'unverified')
    )
      continue
    if (differs.has(getResourceKey(id))) assert.equal(drift, 'drifted')
    else if (unproven) assert.equal(drift, 'unverified')
    else
      assert.ok(
        drift === 'in-sync' ||
          drift === 'waiting' ||
          (drift === 'stuck' && status.stuckSince !== undefined),
        `${getResourceKey(id)} is ${drift}`,
      )
  }
  if (members.length > 0)
    assert.equal(health.status, findWorstHealth(members.map((member) => member.status)))
  if (health.objects !== undefined) {
    const others = members
      .filter((member) => member.status !== 'Current')
      .map((member) => `${getResourceKey(member.id)} ${member.status}`)
    assert.deepEqual(
      health.objects.map(({ ref, status: word }) => `${getResourceKey(ref)} ${word}`).sort(),
      others.sort(),
    )
  }
  assert.equal(
    conditions.get('Stalled')?.status === 'True',
    members.some((member) => member.status === 'Failed'),
  )
}

/** As people see it. */
async function assertShown(world: FleetWorld, units: readonly LedgerUnit[]): Promise<void> {
  const { repository, forge } = world
  const cluster = world.cluster(0)
  const ports = { repository, forge, cluster }
  const machine = {
    repository,
    cluster,
    key: createRedactionKey(new Uint8Array(32).fill(7)),
    ports,
    pass: () => undefined,
  } as never
  const table = await runInWorld(machine, ['status'])
  const json = JSON.parse((await runInWorld(machine, ['status', '-o', 'json'])).stdout)
  const byCluster = new Map(units.map((unit) => [unit.report.spec.unit.cluster, unit.report]))
  assert.equal(json.items.length, units.length)
  for (const item of json.items) {
    const { seenAt = item.spec.observed.at, ...observed } = item.spec.observed
    const report = byCluster.get(item.spec.unit.cluster)
    assert.ok(report !== undefined && seenAt >= report.spec.observed.at)
    const { seenAt: _seen, ...own } = report.spec.observed
    // The ledger has it elsewhere: of the branch that it pushed.
    const { pullRequest: _pullRequest, ...status } = item.status
    assert.deepEqual(
      { ...item, status, spec: { ...item.spec, observed } },
      { ...report, spec: { ...report.spec, observed: own } },
    )
  }
  const rows = table.stdout
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
  for (const row of rows) {
    const [name = '', , , , state, , health, drift] = row
      .replace(/ \(stuck since [^)]*\)/, '')
      .split(/\s+/)
    const report = byCluster.get(name)
    assert.ok(report !== undefined)
    assert.deepEqual([state, health], [report.status.state, report.status.health?.status])
    assert.equal(
      row.includes('(stuck since '),
      report.status.state === 'Behind' && report.status.stuckSince !== undefined,
    )
    const objects = new Set(report.spec.changes.map(({ ref }) => getResourceKey(ref))).size
    assert.equal(drift?.split('/')[0], report.status.state === 'Unknown' ? '?' : String(objects))
  }
  const states = units.map(({ report }) => report.status.state)
  const failed = units.some(({ report }) => report.status.health?.status === 'Failed')
  const isStuck = units.some(({ report }) => report.status.stuckSince !== undefined)
  const differs = states.includes('Drifted') || states.includes('Applying') || isStuck
  assert.equal(table.code, states.includes('Unknown') ? 3 : differs ? 1 : failed ? 5 : 0)
  const packages = JSON.parse((await runInWorld(machine, ['get', 'packages', '-o', 'json'])).stdout)
  for (const { latest, lifecycle, revision, drift } of packages.items) {
    if (lifecycle !== 'Published') continue
    if (!latest && revision !== -1) {
      assert.deepEqual(drift, [])
      observed.superseded += 1
    } else
      for (const { cluster: name, state, health } of drift)
        assert.deepEqual(
          [state, health],
          [byCluster.get(name)?.status.state, byCluster.get(name)?.status.health?.status],
        )
  }
}

test('table, JSON, report and ResourceGroup agree on random days of a fleet', async (context) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(steps, { maxLength: 3 }), { minLength: 4, maxLength: 12 }),
      async (turns) => {
        const world = begin()
        for (const each of turns) {
          for (const step of each) step(world)
          const { units: results } = await turn(world)
          const units = ledgerOf(world)
          for (const unit of units) assertAgreement(unit)
          for (const result of results) {
            if (result.state === 'failed' || result.plan.report.status.state === 'Off') continue
            const { report } =
              units.find((unit) => unit.report.spec.unit.cluster === result.unit.cluster) ??
              assert.fail('it is not in the ledger')
            const text = ({ spec, status }: DriftReport) => [
              spec.changes,
              status.state,
              status.since,
              status.health,
              status.setAside,
              status.incomplete,
            ]
            assert.deepEqual(text(report), text(result.plan.report))
          }
          await assertShown(world, units)
          for (const { report } of units) {
            observed.states.set(
              report.status.state,
              (observed.states.get(report.status.state) ?? 0) + 1,
            )
            const word = report.status.health?.status ?? ''
            observed.health.set(word, (observed.health.get(word) ?? 0) + 1)
          }
        }
      },
    ),
    { numRuns: 40 },
  )
  context.diagnostic(
    `${JSON.stringify([...observed.states])} ${JSON.stringify([...observed.health])} superseded ${observed.superseded}`,
  )
  for (const state of ['InSync', 'Drifted', 'Unknown'])
    assert.ok(observed.states.has(state), `no unit was ${state}`)
  for (const word of ['Current', 'Failed', 'Unknown', 'InProgress'])
    assert.ok(observed.health.has(word), `no unit was ${word}`)
})

test('a superseded decision has no drift in table and JSON while the package drifts', async () => {
  const world = begin()
  const before = observed.superseded
  for (const value of [4, 5, 6]) {
    world.edit([0], value)
    await turn(world)
    const open = world.forge.proposals.find(({ state }) => state === 'open')
    assert.ok(open !== undefined)
    world.merge(open.ref.replace('refs/heads/', ''))
    await turn(world)
    world.sync()
  }
  world.edit([0], 9)
  await turn(world)
  await assertShown(world, ledgerOf(world))
  assert.ok(observed.superseded - before >= 2)
})

test('a Secret with a released key has the state of its other keys in every document', async () => {
  const world = begin()
  world
    .cluster(0)
    .change(SECRET, (live) => editedBy('kubectl-patch', live, 'data.key', 'aHVudGVyMg=='))
  await turn(world)
  const open =
    world.forge.proposals.find(({ state }) => state === 'open') ??
    assert.fail('nothing is proposed')
  world.forge.comment(open.number, 'ada', '/release', { at: world.cluster(0).now })
  await turn(world)
  world.merge(open.ref.replace('refs/heads/', ''))
  await turn(world)
  const units = ledgerOf(world)
  for (const unit of units) assertAgreement(unit)
  await assertShown(world, units)
  const unit = units.find(({ report }) => report.spec.unit.cluster === 'edge-01')
  assert.deepEqual(
    [unit?.report.status.state, unit?.report.status.setAside?.map(({ state }) => state)],
    ['InSync', ['Released']],
  )
  assert.deepEqual(unit?.members.find(({ id }) => id.kind === 'Secret')?.drift, 'in-sync')
})
