import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KindWatchState } from '@backporch/cluster/cluster-watch'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import type { ObservedNumbers } from '../ports/metrics.ts'
import type { Readiness } from '../ports/readiness.ts'
import { ReadinessState } from './readiness.ts'

const INTERVAL = 60_000
const NOW = Date.parse('2026-11-21T10:00:00Z')
const [PROD, EDGE] = [formatLoggableName('prod'), formatLoggableName('edge')]

/** @param ages milliseconds before `NOW`, by cluster */
function observed(
  ages: ReadonlyMap<typeof PROD, number>,
  unobserved: readonly (typeof PROD)[] = [],
): ObservedNumbers {
  const clusters = new Map([...ages].map(([name, age]) => [name, (NOW - age) / 1_000]))
  return { packages: [], failed: [], clusters, unobserved, whole: true, occurrences: [] }
}

function shown({ ready, checks }: Readiness): string[] {
  return [
    ready ? 'ready' : 'not ready',
    ...checks.map(({ ok, text }) => `${ok ? '+' : '-'} ${text}`),
  ]
}

function watch(cluster: string, ...kinds: readonly Partial<KindWatchState>[]) {
  const watched = { apiVersion: 'v1', kind: 'Pod', namespace: '', metadataOnly: false }
  const whole = {
    watched,
    state: 'watching',
    provenAt: NOW,
    failure: undefined,
    lists: 1,
    reopened: 0,
    events: 0,
  } as const
  return { cluster, state: () => kinds.map((kind) => ({ ...whole, ...kind })) }
}

test('the controller is not ready before its first turn ended', () => {
  const state = new ReadinessState(INTERVAL)
  assert.deepEqual(shown(state.computeReadiness(NOW)), ['not ready', '- first turn: not ended yet'])
})

test('a first turn that observed no cluster does not make the controller ready', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(undefined, 0)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'not ready',
    '+ first turn ended',
    '+ repository ok',
    '- clusters: none was observed yet',
  ])
  state.turnEnded(observed(new Map([[PROD, 0]])), 0)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
})

test('a line states the health of the repository; its failures do not make the controller unready', () => {
  const state = new ReadinessState(INTERVAL, 'git.example.com/acme/deploy')
  const of = (code: FailureCode): Failure =>
    new Failure({ code, what: 'canary', where: 'canary', why: 'canary', remedy: 'canary' })
  state.setFailing([of('BP4001')])
  assert.deepEqual(shown(state.computeReadiness(NOW)), ['not ready', '- first turn: not ended yet'])
  state.turnEnded(observed(new Map([[PROD, 0]])), 0)
  state.setFailing([of('BP4001'), of('BP1005'), of('BP4001')])
  const line = 'repository git.example.com/acme/deploy'
  const causes =
    'BP1005, a policy, a placement or the configuration of the controller is not valid; BP4001, the repository cannot be reached'
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    `- ${line}: ${causes}`,
    '+ cluster prod ok',
  ])
  state.setFailing([])
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    `+ ${line} ok`,
    '+ cluster prod ok',
  ])
})

test('a repository without packages is ready', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(observed(new Map()), 0)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
  ])
})

test('stale clusters are named, and the controller is unready only when all are stale', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(observed(new Map([[PROD, 1_000]])), 0)
  state.turnEnded(observed(new Map([[PROD, 1_000]]), [EDGE]), 0)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
    '- cluster edge: never observed',
  ])
  state.turnEnded(observed(new Map([[EDGE, 0]]), [PROD]), 0)
  const later = NOW + 3 * INTERVAL + 60_000
  assert.deepEqual(shown(state.computeReadiness(later)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '- cluster prod: stale for 4m1s',
    '+ cluster edge ok',
  ])
  assert.deepEqual(shown(state.computeReadiness(later + 3_600_000)), [
    'not ready',
    '+ first turn ended',
    '+ repository ok',
    '- cluster prod: stale for 1h4m1s',
    '- cluster edge: stale for 1h4m0s',
  ])
})

test('observations of a long turn are not stale at its end', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(observed(new Map([[PROD, 600_000]])), 600_000)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
})

test('failed turns keep the last observation times of the clusters', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(observed(new Map([[PROD, 0]])), 0)
  state.turnEnded(undefined, 0)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
})

test('a cluster that is no longer configured is no longer listed', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(observed(new Map([[PROD, 0]]), [EDGE]), 0)
  state.turnEnded(observed(new Map([[PROD, 0]])), 0)
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
})

test('the oldest watch proof counts after a minute; unreadable and unproven kinds do not count', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnEnded(observed(new Map([[PROD, 0]])), 0)
  state.provide({
    watches: () => [
      watch('prod', { provenAt: NOW - 60_000 }, { state: 'unreadable', provenAt: 0 }),
    ],
  })
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
  assert.deepEqual(shown(state.computeReadiness(NOW + 132_000)), [
    'not ready',
    '+ first turn ended',
    '+ repository ok',
    '- cluster prod: stale for 3m12s',
  ])
  state.provide({ watches: () => [watch('prod', {}, { state: 'listing', provenAt: 0 })] })
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
  state.provide({ watches: () => [watch('prod', { state: 'unreadable', provenAt: 0 })] })
  assert.deepEqual(shown(state.computeReadiness(NOW)), [
    'ready',
    '+ first turn ended',
    '+ repository ok',
    '+ cluster prod ok',
  ])
})

test('a turn that waited for other repositories does not make its cluster stale', () => {
  const state = new ReadinessState(INTERVAL)
  state.turnAdmitted(600_000, NOW)
  state.turnEnded(observed(new Map([[PROD, 0]])), 0)
  const most = NOW + 3 * (INTERVAL + 600_000) + 60_000
  assert.deepEqual(
    [state.computeReadiness(most).ready, state.computeReadiness(most + 1_000).ready],
    [true, false],
  )
})

test('a turn that waits or runs for long has a line with its current step', () => {
  const state = new ReadinessState(INTERVAL, 'acme/deploy')
  const step = formatLoggableName('observing prod')
  const line = (now: number): string[] => shown(state.computeReadiness(now, step)).slice(2)
  state.turnDue(NOW)
  assert.deepEqual([line(NOW + 29_999), state.getRunSeconds(NOW + 30_000)], [[], 0])
  assert.deepEqual(line(NOW + 30_000), [
    '+ repository acme/deploy: its turn waits for 30s: until turns of other repositories end',
  ])
  state.turnAdmitted(40_000, NOW + 40_000)
  assert.deepEqual([line(NOW + 60_000), state.getRunSeconds(NOW + 60_000)], [[], 20])
  assert.deepEqual(line(NOW + 170_000), [
    '+ repository acme/deploy: its turn runs for 2m10s: observing prod',
  ])
  // The clock was set back.
  assert.deepEqual([line(NOW - 3_600_000), state.getRunSeconds(NOW - 3_600_000)], [[], 0])
  state.turnLeft()
  assert.deepEqual([line(NOW + 170_000), state.getRunSeconds(NOW + 170_000)], [[], 0])
})
