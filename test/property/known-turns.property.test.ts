/**
 * What a process remembers from turn to turn never changes what a turn does: two fleets live through the same random days, one scanned by a
 * process that lives on, the other by a new one for each turn. Git, the forge and the reports are the same after each turn.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { WorkerRenderer } from '../../src/adapters/functions/worker-renderer.ts'
import { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn } from '../../src/reconcile/turn/run-turn.ts'
import { knownTexts } from '../../src/record/known-texts.ts'
import type { FleetWorld } from '../fakes/fleet-world.ts'
import { editedBy } from '../fakes/live-object.ts'
import type { TestRequest } from '../fakes/turn-request.ts'
import { WEB_CONFIG } from '../fakes/turn-world.ts'
import * as fc from '../seeds/fast-check.ts'
import { begin, steps, surroundings } from './random-days.ts'

/** One turn as `scan` does it. @returns what it said, or why it failed */
async function turn(world: FleetWorld, more: TestRequest): Promise<unknown> {
  world.pass()
  const { repository, forge } = world
  const fleet = { repository, forge, clusters: world.clusters }
  const { signal } = new AbortController()
  try {
    const request = world.request({ ...more, requestedActions: NO_REQUESTED_ACTIONS })
    const { units, updates, notObserved, reported, observedAt, answers } = await runFleetTurn(
      fleet,
      request,
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
      reported,
      observedAt,
    }
  } catch (thrown) {
    return String(thrown)
  }
}

const days = fc.oneof({ weight: 2, arbitrary: steps }, { weight: 1, arbitrary: surroundings })

function stateOf({ repository, forge }: FleetWorld): unknown {
  const { proposals, comments, conversation: text, statuses, writes, issues, issueWrites } = forge
  return {
    branches: repository.branches,
    proposals,
    comments,
    said: text,
    statuses,
    writes,
    issues,
    issueWrites,
  }
}

test('a turn with cached state of earlier turns does the same as a turn of a new process', async (context) => {
  const moved = { turns: 0, writes: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(days, { maxLength: 3 }), { minLength: 4, maxLength: 14 }),
      async (turns) => {
        const [lasting, anew] = [begin(), begin()]
        const renderer = new WorkerRenderer({
          allowed: { exec: [], images: [] },
          engine: undefined,
          environment: {},
        })
        const memory = {
          between: new TurnCache(),
          renderer,
          key: createRedactionKey(new Uint8Array(32).fill(7)),
        }
        // Something is known from the first turn on.
        for (const world of [lasting, anew]) {
          world.edit([0, 1, 2, 3])
          for (const cluster of world.clusters)
            cluster.change(WEB_CONFIG, (live) =>
              editedBy('kubectl-edit', live, 'data.color', 'red'),
            )
        }
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
      },
    ),
    { numRuns: 25 },
  )
  context.diagnostic(`${moved.turns} turns, ${moved.writes} writes to the forge`)
  assert.ok(moved.writes > moved.turns / 4, 'the days are not empty')
})
