import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TracedRequest } from '@backporch/system/trace'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import type { TurnTrace } from '../ports/turn-traces.ts'
import { TurnTracer } from './turn-tracer.ts'

const GET: TracedRequest = {
  to: { system: 'cluster', name: 'prod' },
  what: 'GET /api/v1/namespaces/canary/secrets/canary?token=canary',
  outcome: '200 (17 characters)',
  milliseconds: 3,
}

function traced(
  work: (tracer: TurnTracer, pass: (milliseconds: number) => void) => void,
): TurnTrace {
  let now = 1_000
  const traces: TurnTrace[] = []
  const tracer = new TurnTracer(
    { turn: (trace) => traces.push(trace), close: async () => undefined },
    () => now,
  )
  work(tracer, (milliseconds) => {
    now += milliseconds
  })
  const [trace, ...more] = traces
  assert.ok(trace !== undefined && more.length === 0)
  return trace
}

test('a request belongs to the phase in which it ends, and phases have no gaps', () => {
  const trace = traced((tracer, pass) => {
    tracer.begin()
    pass(5)
    tracer.request(GET)
    tracer.step('reading git')
    pass(10)
    tracer.request({ ...GET, outcome: '404 (9 characters)' })
    tracer.step('observing prod')
    pass(20)
    tracer.step('looking at something')
    tracer.request({
      to: { system: 'git', name: 'fetch' },
      what: 'git-upload-pack https://canary: list refs',
      outcome: 'failed',
      milliseconds: 4,
    })
    pass(5)
    tracer.finishTrace('units', 'aborted')
  })
  assert.deepEqual(
    [trace.began, trace.ended, trace.scope, trace.outcome, trace.units],
    [1_000, 1_040, 'units', 'aborted', 0],
  )
  assert.deepEqual(
    trace.phases.map(({ name, began, ended }) => [name, began, ended]),
    [
      ['read', 1_005, 1_015],
      ['observe', 1_015, 1_040],
    ],
  )
  assert.deepEqual(trace.requests, [
    {
      began: 1_002,
      ended: 1_005,
      system: 'cluster',
      peer: 'prod',
      method: 'GET',
      status: 200,
      failed: false,
    },
  ])
  assert.deepEqual(
    trace.phases.map(({ requests }) =>
      requests.map(({ method, status, failed }) => [method, status, failed]),
    ),
    [[['GET', 404, true]], [[undefined, undefined, true]]],
  )
  assert.doesNotMatch(JSON.stringify(trace), /canary/)
})

test('requests beyond the bound are counted, and the next turn starts from zero', () => {
  const trace = traced((tracer) => {
    tracer.begin()
    for (let count = 0; count < 777; count += 1) tracer.request(GET)
    tracer.begin()
    for (let count = 0; count < 502; count += 1) tracer.request(GET)
    tracer.finishTrace('everything', 'succeeded')
  })
  assert.deepEqual([trace.requests.length, trace.moreRequests], [500, 2])
})

test('the controller traces each turn with its units, and flushes when it stops', async () => {
  const world = new TurnWorld()
  const done: (TurnTrace | 'closed')[] = []
  const openTraces = async () => ({
    turn: (trace: TurnTrace) => void done.push(trace),
    close: async () => void done.push('closed'),
  })
  const waits = [() => world.edit(WEB, 'spec.replicas', 5)]
  assert.equal((await runInWorld(world, ['controller'], { waits, openTraces })).code, 0)
  assert.equal(done.pop(), 'closed')
  assert.deepEqual(
    done.map(
      (trace) =>
        trace !== 'closed' && [
          trace.scope,
          trace.outcome,
          trace.units,
          trace.writes > 0,
          trace.observed,
        ],
    ),
    ['InSync', 'Drifted'].map((state) => [
      'everything',
      'succeeded',
      1,
      true,
      [{ cluster: 'prod', package: 'apps/web', state }],
    ]),
  )
  assert.ok(
    done.every((trace) => trace !== 'closed' && trace.phases.some(({ name }) => name === 'write')),
  )
})
