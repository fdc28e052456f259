/**
 * What a process remembers from turn to turn never changes what a turn does: two fleets live through the same random days, one scanned by a
 * process that lives on, the other by a new one for each turn. Git, the forge and the reports are the same after each turn.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WorkerRenderer } from '../../src/adapters/functions/worker-renderer.ts'
import type { JsonObject } from '../../src/krm/json.ts'
import { answerFleetProposals, waitingTicks } from '../../src/reconcile/answer-proposals.ts'
import { BetweenTurns } from '../../src/reconcile/between-turns.ts'
import { runFleetTurn, type TurnRequest } from '../../src/reconcile/run-turn.ts'
import { knownTexts } from '../../src/record/known-texts.ts'
import { FleetWorld } from '../fakes/fleet-world.ts'
import { editedBy } from '../fakes/live-object.ts'
import { CONFIG, DEPLOYMENT, policyText, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'

const CLUSTERS = 4
const POLICIES = [
  '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, digest: off}}',
  '{mode: Propose}',
  '{mode: Warn}',
  '{mode: Off}',
  '{mode: Propose, detect: {minAge: 30m, settle: 1h}, limits: {prHourlyLimit: 1, prConcurrentLimit: 1}}',
  '{mode: Propose, limits: {massMinClusters: 2, stormThreshold: 2}, decide: {defaultPlan: Adopt}}',
  '{mode: Propose, ignore: [{paths: [data.color], reason: colours are free, expires: "2026-11-24"}]}',
  '{mode: Propose, decide: {remindAfter: 1d, escalateAfter: 2d, closeSilence: 3d}}',
  '{mode: Propose, detect: {minAge: 0s}, windows: [{name: noon, kind: hold, schedule: "0 12 * * *", duration: 6h}]}',
]
const COMMANDS = ['/adopt', '/adopt 1', '/release 1', '/restore', '/snooze 1d', '/ignore 1 -- ours', '/recheck', '/exclude edge-01']

type Step = (world: FleetWorld) => void

const cluster = fc.nat({ max: CLUSTERS - 1 })
const clusters = fc.uniqueArray(cluster, { minLength: 1, maxLength: CLUSTERS })
const object = fc.constantFrom(WEB, WEB_CONFIG)

function at(world: FleetWorld, index: number, key: string, change: (live: JsonObject) => JsonObject): void {
  if (world.cluster(index).objects.has(key)) world.cluster(index).change(key, change)
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ clusters, value: fc.constantFrom('red', 'green') }).map(
      ({ clusters: where, value }): Step =>
        (world) => {
          for (const index of where) at(world, index, WEB_CONFIG, (live) => editedBy('kubectl-edit', live, 'data.color', value))
        },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record({ clusters, value: fc.constantFrom(4, 5) }).map(
      ({ clusters: where, value }): Step =>
        (world) => {
          for (const index of where) at(world, index, WEB, (live) => editedBy('kubectl-scale', live, 'spec.replicas', value))
        },
    ),
  },
  {
    weight: 2,
    arbitrary: clusters.map(
      (where): Step =>
        (world) => {
          for (const index of where) at(world, index, WEB, (live) => editedBy('helper', live, 'metadata.labels.team', 'shop'))
        },
    ),
  },
  // A write that changes nothing that is compared.
  {
    weight: 2,
    arbitrary: fc.tuple(cluster, object, fc.nat()).map(
      ([index, key, version]): Step =>
        (world) =>
          at(world, index, key, (live) => ({
            ...live,
            metadata: { ...(live['metadata'] as JsonObject), resourceVersion: String(version) },
          })),
    ),
  },
  {
    weight: 2,
    arbitrary: clusters.map(
      (where): Step =>
        (world) =>
          world.sync(where.map((index) => world.cluster(index))),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(cluster, object).map(
      ([index, key]): Step =>
        (world) =>
          void world.cluster(index).objects.delete(key),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(cluster, object).map(
      ([index, key]): Step =>
        (world) => {
          const { unreadable } = world.cluster(index)
          if (!unreadable.delete(key)) unreadable.add(key)
        },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...POLICIES).map(
      (policy): Step =>
        (world) =>
          void world.repository.commitByHand('main', { '.drift/policy.yaml': policyText(policy) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('blue', 'red', 'black'), fc.boolean()).map(
      ([color, applied]): Step =>
        (world) => {
          world.repository.commitByHand('main', { 'apps/web/config.yaml': CONFIG.replace('blue', color) })
          if (applied) world.sync()
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (more): Step =>
        (world) =>
          void world.repository.commitByHand('main', { 'apps/web/deployment.yaml': more ? `${DEPLOYMENT}# more\n` : DEPLOYMENT }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (pick): Step =>
        (world) =>
          onOpen(world, pick, (branch) => world.merge(branch)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (pick): Step =>
        (world) =>
          onOpen(world, pick, (branch) => world.close(branch)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom(...COMMANDS)).map(
      ([pick, body]): Step =>
        (world) =>
          onOpen(world, pick, (_branch, number) => world.forge.comment(number, 'ada', body, { at: world.cluster(0).now })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.nat({ max: 3 })).map(
      ([pick, box]): Step =>
        (world) =>
          onOpen(world, pick, (_branch, number, body) => world.forge.byHand(number, { body: ticked(body, box) })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 3 }).map(
      (box): Step =>
        (world) => {
          const issue = world.forge.issues.get('dashboard')
          if (issue !== undefined) world.forge.issues.set('dashboard', { ...issue, body: ticked(issue.body, box) })
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat().map(
      (pick): Step =>
        (world) =>
          onOpen(world, pick, (branch) => void world.repository.commitByHand(branch, { 'apps/web/note.txt': 'mine\n' })),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(3, 29, 31, 120, 1440, 3 * 1440, 9 * 1440, 35 * 1440).map(
      (minutes): Step =>
        (world) =>
          world.pass(minutes),
    ),
  },
)

function onOpen(world: FleetWorld, pick: number, work: (branch: string, number: number, body: string) => void): void {
  const open = world.forge.proposals.filter(({ state, ref }) => state === 'open' && world.repository.branches.has(ref))
  const one = open[pick % Math.max(1, open.length)]
  if (one !== undefined) work(one.ref.replace('refs/heads/', ''), one.number, one.body)
}

/** The box of that number, where there is one. */
function ticked(body: string, box: number): string {
  let count = -1
  return body.replaceAll('- [ ]', (empty) => {
    count += 1
    return count === box ? '- [x]' : empty
  })
}

/** One turn as `scan` does it. @returns what it said, or why it failed */
async function turn(world: FleetWorld, more: Partial<TurnRequest>): Promise<unknown> {
  world.pass()
  const { repository, forge } = world
  const fleet = { repository, forge, clusters: world.clusters }
  const { signal } = new AbortController()
  try {
    const request = world.request(more)
    const answers = await answerFleetProposals(fleet, request, signal)
    const { units, updates, notObserved, untold, observedAt } = await runFleetTurn(
      fleet,
      { ...request, keepTexts: waitingTicks(answers) },
      signal,
    )
    const plans = units.map((unit) =>
      unit.state === 'failed'
        ? String(unit.failures)
        : [unit.plan.report, unit.plan.record, unit.plan.outcome, unit.plan.notes, unit.notes],
    )
    return {
      answers: answers.map(({ line, outcome }) => [line, outcome]),
      plans,
      updates,
      notObserved: String(notObserved),
      untold,
      observedAt,
    }
  } catch (thrown) {
    return String(thrown)
  }
}

function stateOf({ repository, forge }: FleetWorld): unknown {
  const { proposals, comments, said, statuses, writes, issues, issueWrites } = forge
  return { branches: repository.branches, proposals, comments, said, statuses, writes, issues, issueWrites }
}

function begin(): FleetWorld {
  const world = new FleetWorld(CLUSTERS)
  world.forge.permissions.set('ada', 'write')
  world.forge.now = () => world.cluster(0).now
  return world
}

test('a turn with what the turns before left in memory does what a turn of a new process does', async (context) => {
  const moved = { turns: 0, writes: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(steps, { maxLength: 3 }), { minLength: 4, maxLength: 14 }), async (turns) => {
      const [lasting, anew] = [begin(), begin()]
      const renderer = new WorkerRenderer({ allowed: { exec: [], images: [] }, engine: undefined, environment: {} })
      const memory = { between: new BetweenTurns(), renderer }
      for (const each of turns) {
        for (const step of each) for (const world of [lasting, anew]) step(world)
        const remembered = await turn(lasting, memory)
        knownTexts.forget()
        const fresh = await turn(anew, {})
        assert.deepEqual(remembered, fresh)
        assert.deepEqual(stateOf(lasting), stateOf(anew))
        moved.turns += 1
      }
      moved.writes += anew.forge.writes.length
    }),
    { numRuns: 25 },
  )
  context.diagnostic(`${moved.turns} turns, ${moved.writes} writes to the forge`)
  assert.ok(moved.writes > moved.turns / 4, 'the days are not empty')
})
