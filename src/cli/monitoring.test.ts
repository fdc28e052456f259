import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type CliOptions, runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { startMonitoringServer } from '../adapters/metrics/monitoring-server.ts'
import { PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'

const ARGUMENTS = ['controller', '--http-address', '0']

/** Each wait gets what the controller serves. */
async function served(
  world: TurnWorld,
  waits: readonly ((get: (path: string) => Promise<{ status: number; text: string }>) => unknown)[],
) {
  let origin = ''
  const openMonitoring: CliOptions['openMonitoring'] = async ({
    address,
    readiness,
    onRefused,
  }) => {
    assert.equal(address.host, '127.0.0.1')
    const metrics = new PrometheusMetrics({
      version: '0.0.0',
      clock: { now: () => new Date(world.cluster.now) },
    })
    const server = await startMonitoringServer({ ...address, metrics, readiness, onRefused })
    origin = new URL(server.url).origin
    return { metrics, ...server }
  }
  const get = async (path: string) => {
    const answer = await fetch(`${origin}${path}`, { headers: { connection: 'close' } })
    return { status: answer.status, text: await answer.text() }
  }
  const outcome = await runInWorld(world, ARGUMENTS, {
    openMonitoring,
    waits: waits.map((wait) => () => wait(get)),
  })
  return { ...outcome, get }
}

function sample(text: string, series: string): string | undefined {
  return text
    .split('\n')
    .find((line) => line.startsWith(`${series} `))
    ?.slice(series.length + 1)
}

test('with --http-address the controller serves probes and metrics until it stops', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { code, stderr, get } = await served(world, [
    async (serves) => {
      assert.deepEqual(await serves('/readyz'), {
        status: 200,
        text: '[+]first turn ended\n[+]repository ok\n[+]cluster prod ok\nreadyz check passed\n',
      })
      assert.equal((await serves('/healthz')).status, 200)
      const { text } = await serves('/metrics')
      const info =
        'backporch_package_info{cluster="prod",package="apps/web",mode="Propose",state="InSync",syncer="Flux"}'
      assert.equal(sample(text, info), '1')
      assert.equal(sample(text, 'backporch_reconcile_duration_seconds_count{phase="observe"}'), '1')
      assert.equal(sample(text, 'backporch_build_info{version="0.0.0"}'), '1')
      world.edit(WEB, 'spec.replicas', 5)
    },
    async (serves) => {
      const { text } = await serves('/metrics')
      assert.equal(
        sample(text, 'backporch_drifted_objects{cluster="prod",package="apps/web",risk="medium"}'),
        '1',
      )
      assert.equal(sample(text, 'backporch_pull_requests{state="open",plan="Restore"}'), '1')
      assert.equal(sample(text, 'backporch_turns_total{outcome="succeeded"}'), '2')
      world.repository.listRefs = () =>
        Promise.reject(
          new Failure({ code: 'BP4001', what: 'a', why: 'b', remedy: 'c', retry: 'backoff' }),
        )
    },
    async (serves) => {
      const { text } = await serves('/metrics')
      assert.equal(sample(text, 'backporch_turns_total{outcome="failed"}'), '1')
      assert.equal(sample(text, 'backporch_failures{code="BP4001"}'), '1')
      assert.equal(
        sample(text, 'backporch_drifted_objects{cluster="prod",package="apps/web",risk="medium"}'),
        '1',
      )
      assert.equal((await serves('/readyz')).status, 200)
      world.pass(60)
      const { status, text: why } = await serves('/readyz')
      assert.equal(status, 503)
      assert.match(
        why,
        /^\[\+\]first turn ended\n\[-\]repository: BP4001, the repository cannot be reached\n\[-\]cluster prod: stale for 1h\d+m0s\nreadyz check failed\n$/,
      )
    },
  ])
  assert.equal(code, 0, stderr)
  const [listening] = logEvents(stderr, 'listening')
  assert.equal(listening?.['for'], 'requests for metrics')
  assert.match(String(listening?.['url']), /^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
  await assert.rejects(get('/healthz'))
})

test('without --http-address nothing listens, and no turn is measured', async () => {
  const { code } = await runInWorld(new TurnWorld(), ['controller'], { waits: [] })
  assert.equal(code, 0)
})

test('an address in use ends the controller at its start', async () => {
  const openMonitoring: CliOptions['openMonitoring'] = () =>
    Promise.reject(
      new Failure({ code: 'BP1001', what: 'cannot listen', why: 'taken', remedy: 'another' }),
    )
  const { code, stderr } = await runInWorld(new TurnWorld(), ARGUMENTS, {
    openMonitoring,
    waits: [],
  })
  assert.notEqual(code, 0)
  assert.equal(logEvents(stderr, 'failure')[0]?.['code'], 'BP1001')
  assert.equal(logEvents(stderr, 'turn').length, 0)
})
