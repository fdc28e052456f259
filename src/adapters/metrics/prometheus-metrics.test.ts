import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KindWatchState } from '@backporch/cluster/cluster-watch'
import { formatLoggableName, type Loggable } from '@backporch/kyaml/redaction'
import { CANARIES, MeasuredWorld } from '../../../test/fakes/measured-world.ts'
import {
  DRIFTED,
  metricsOf,
  NOW,
  PROD,
  packageOf,
  samples,
  turnOf,
} from '../../../test/fakes/metric-samples.ts'
import { SERIES_LIMIT } from './instruments.ts'
import { METRICS, PROCESS_METRICS } from './metric-table.ts'

test('the registry has the metrics of the table and those of the process, and no others', async () => {
  const text = await metricsOf().renderExposition()
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? '')
  const wanted = [...Object.keys(METRICS), ...PROCESS_METRICS]
  assert.deepEqual(names.sort(), wanted.sort())
})

test('the CPU time of the process is measured', async () => {
  const metrics = metricsOf()
  const before = process.cpuUsage()
  while (process.cpuUsage(before).user === 0);
  const [total] = await samples(metrics, 'process_cpu_seconds_total')
  assert.ok(Number(total) > 0, total)
})

test('a drifted package has series, and loses them when it is in sync or removed', async () => {
  const metrics = metricsOf()
  metrics.turn(turnOf([packageOf('apps/web', DRIFTED), packageOf('apps/api')]))
  assert.deepEqual(await samples(metrics, 'backporch_drifted_objects'), [
    '{cluster="prod",package="apps/web",risk="critical"} 1',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_objects'), [
    '{cluster="prod",verdict="in-sync"} 4',
  ])
  assert.equal((await samples(metrics, 'backporch_package_info')).length, 2)
  metrics.turn(turnOf([packageOf('apps/web')]))
  assert.deepEqual(await samples(metrics, 'backporch_drifted_objects'), [])
  assert.deepEqual(await samples(metrics, 'backporch_oldest_drift_timestamp_seconds'), [])
  assert.equal((await samples(metrics, 'backporch_package_info')).length, 1)
})

test('an unobservable cluster or package keeps its drift series as Unknown, so that no alert ends', async () => {
  const metrics = metricsOf()
  const stage = formatLoggableName('stage')
  const web = packageOf('apps/web', DRIFTED)
  metrics.turn(
    turnOf([web, { ...web, cluster: stage }], {
      clusters: new Map([...new Map([[PROD, 100]]), [stage, 100]]),
    }),
  )
  const failed = [{ cluster: PROD, package: formatLoggableName('apps/web') }]
  metrics.turn(turnOf([], { clusters: new Map([[PROD, 160]]), failed, unobserved: [stage] }))
  assert.equal((await samples(metrics, 'backporch_drifted_objects')).length, 2)
  for (const line of await samples(metrics, 'backporch_package_info'))
    assert.match(line, /state="Unknown"/)
  assert.deepEqual(await samples(metrics, 'backporch_cluster_last_observed_timestamp_seconds'), [
    '{cluster="prod"} 160',
    '{cluster="stage"} 100',
  ])
  metrics.turn({ outcome: 'failed', phases: new Map(), observed: undefined })
  metrics.setFailures('', new Map([['BP3001', 2]]))
  assert.deepEqual(await samples(metrics, 'backporch_failures'), ['{code="BP3001"} 2'])
  assert.equal((await samples(metrics, 'backporch_drifted_objects')).length, 2)
  assert.deepEqual(await samples(metrics, 'backporch_turns_total'), [
    '{outcome="succeeded"} 2',
    '{outcome="failed"} 1',
  ])
})

test('a turn about one package changes only its series', async () => {
  const metrics = metricsOf()
  metrics.turn(turnOf([packageOf('apps/web', DRIFTED), packageOf('apps/api', DRIFTED)]))
  metrics.turn(turnOf([packageOf('apps/api')], { whole: false }))
  assert.deepEqual(await samples(metrics, 'backporch_drifted_objects'), [
    '{cluster="prod",package="apps/web",risk="critical"} 1',
  ])
})

test('a cluster that was never observed has the time 0', async () => {
  const metrics = metricsOf()
  metrics.turn(turnOf([], { clusters: new Map(), unobserved: [PROD] }))
  assert.deepEqual(await samples(metrics, 'backporch_cluster_last_observed_timestamp_seconds'), [
    '{cluster="prod"} 0',
  ])
})

test('a proposal that clusters share is counted once', async () => {
  const metrics = metricsOf()
  const proposal = {
    branch: 'proposed/apps/web/drift-1',
    state: 'open',
    plan: 'Restore',
    url: undefined,
  } as const
  metrics.turn(
    turnOf(
      ['a', 'b', 'c'].map((name) =>
        packageOf(name, { proposal, held: name === 'c' ? 'storm' : undefined }),
      ),
    ),
  )
  assert.deepEqual(await samples(metrics, 'backporch_pull_requests'), [
    '{state="open",plan="Restore"} 1',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_held'), ['{reason="storm"} 1'])
  assert.deepEqual(await samples(metrics, 'backporch_storm'), [' 1'])
})

test('an open proposal with a page has an address label; a draft has none', async () => {
  const metrics = metricsOf()
  const proposal = {
    branch: 'proposed/apps/a/drift-1',
    state: 'open',
    plan: 'Restore',
    url: formatLoggableName('https://forge.example/pulls/4'),
  } as const
  const draft = packageOf('apps/b', { proposal: { ...proposal, state: 'draft' } })
  const local = packageOf('apps/c', { proposal: { ...proposal, url: undefined } })
  metrics.turn(turnOf([packageOf('apps/a', { proposal }), draft, local, packageOf('apps/d')]))
  assert.deepEqual(await samples(metrics, 'backporch_pull_request_info'), [
    '{cluster="prod",package="apps/a",url="https://forge.example/pulls/4"} 1',
  ])
})

test("ten thousand drifted packages stay within each metric's bound, with correct sums and an overflow count", async () => {
  const metrics = metricsOf()
  const packages = Array.from({ length: 10_000 }, (_, index) =>
    packageOf(`apps/p${index}`, {
      ...DRIFTED,
      drifted: new Map([[index < 4_000 ? 'low' : 'critical', 1]]),
      driftedSince: 50 + index,
    }),
  )
  const occurrences = packages.map(
    ({ cluster, package: name }) =>
      ({
        kind: 'detected',
        cluster,
        package: name,
        risk: 'high',
        actorClass: 'controller',
      }) as const,
  )
  metrics.turn(turnOf(packages, { occurrences }))
  const text = await metrics.renderExposition()
  const perMetric = Map.groupBy(
    text.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    (line) => line.split(/[ {]/, 1)[0] ?? '',
  )
  for (const [name, lines] of perMetric)
    assert.ok(lines.length <= SERIES_LIMIT + 4, `${name} has ${lines.length} series`)
  const drifted = await samples(metrics, 'backporch_drifted_objects')
  const sum = (risk: string) =>
    drifted
      .filter((line) => line.includes(`risk="${risk}"`))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
  assert.deepEqual([sum('low'), sum('critical')], [4_000, 6_000])
  assert.ok(drifted.includes('{cluster="_other",package="_other",risk="low"} 4000'))
  assert.ok(
    drifted.includes('{cluster="_other",package="_other",risk="critical"} 1000'),
    'the worst have their own series first',
  )
  const oldest = (await samples(metrics, 'backporch_oldest_drift_timestamp_seconds')).find((line) =>
    line.includes('_other'),
  )
  assert.equal(oldest, '{cluster="_other",package="_other"} 50')
  const dropped = await samples(metrics, 'backporch_metrics_dropped_series_total')
  assert.ok(dropped.includes('{metric="backporch_drift_detected_total"} 5000'), dropped.join('\n'))
  assert.ok(dropped.includes('{metric="backporch_drifted_objects"} 5000'), dropped.join('\n'))
})

test('a counter stays bounded while names come and go', async () => {
  const metrics = metricsOf(3)
  for (let index = 0; index < 20; index += 1) {
    const to = { system: 'cluster', name: `ci-${index}` } as const
    metrics.request({ to, what: 'GET /api', outcome: '200 (2 characters)', milliseconds: 1 })
  }
  const lines = await samples(metrics, 'backporch_api_requests_total')
  assert.equal(lines.length, 4)
  assert.ok(lines.includes('{cluster="_other",verb="GET",code="2xx"} 17'))
})

test('label values are escaped, and one that looks like a credential is hidden', async () => {
  const metrics = metricsOf()
  const token = `ghp_${'a1B2'.repeat(9)}`
  const names = ['a"b\\c', 'line\nbreak', token].map((name) => formatLoggableName(name))
  metrics.turn(
    turnOf(
      names.map((name: Loggable) => packageOf('apps/web', { cluster: name })),
      { clusters: new Map() },
    ),
  )
  const lines = await samples(metrics, 'backporch_package_info')
  assert.equal(lines.length, 3)
  assert.match(lines.join('\n'), /cluster="a\\"b\\\\c"/)
  assert.match(lines.join('\n'), /cluster="redacted"/)
  metrics.request({
    to: { system: 'cluster', name: token },
    what: 'GET /api',
    outcome: '200',
    milliseconds: 1,
  })
  assert.doesNotMatch(await metrics.renderExposition(), /ghp_/)
})

test('metrics of a real turn contain no objects, fields, managers, paths or values', async () => {
  const measured = new MeasuredWorld()
  await measured.round(5)
  await measured.leaveOpen()
  const text = await measured.metrics.renderExposition()
  // Texts of our own about the metrics may have these words.
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  for (const canary of CANARIES)
    assert.deepEqual(
      lines.filter((line) => line.includes(canary)),
      [],
      canary,
    )
  assert.ok(lines.some((line) => line.includes('package="apps/api"')))
})

test('counts requests by cluster, verb and status class, by forge and status, and by git operation', async () => {
  const metrics = metricsOf()
  const request = (
    system: 'cluster' | 'git' | 'forge',
    name: string,
    what: string,
    outcome: string,
  ) => metrics.request({ to: { system, name }, what, outcome, milliseconds: 1 })
  request('cluster', 'prod', 'GET /api/v1/pods', '200 (17 characters)')
  request('cluster', 'prod', 'PATCH /api/v1/pods/x', '403 (17 characters)')
  request('cluster', 'prod', 'GET /api/v1/pods', 'unreachable')
  request('forge', 'github', 'GET /repos/x', '429')
  request('forge', 'github', 'GET /repos/x', 'no answer')
  request('git', 'fetch', 'git-upload-pack https://x: list refs', '3 refs')
  request('git', 'fetch', 'git-upload-pack https://x: send 9 bytes', 'failed')
  request('git', 'push', 'git-receive-pack https://x: list refs', '3 refs')
  request('git', 'push', 'git-receive-pack https://x: send 9 bytes', 'answers')
  assert.deepEqual(await samples(metrics, 'backporch_api_requests_total'), [
    '{cluster="prod",verb="GET",code="2xx"} 1',
    '{cluster="prod",verb="PATCH",code="4xx"} 1',
    '{cluster="prod",verb="GET",code="none"} 1',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_forge_requests_total'), [
    '{forge="github",code="429"} 1',
    '{forge="github",code="none"} 1',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_git_fetch_total'), [
    '{result="answered"} 1',
    '{result="failed"} 1',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_git_push_total'), ['{result="answered"} 1'])
  metrics.request({
    to: { system: 'forge', name: 'github' },
    what: 'GET /x',
    outcome: '200',
    milliseconds: 1,
    budget: { name: 'core', remaining: 41 },
  })
  assert.deepEqual(await samples(metrics, 'backporch_forge_rate_limit_remaining'), [
    '{forge="github",limit="core"} 41',
  ])
})

test('the age of watches is computed on scrape, and watch counters never decrease', async () => {
  const metrics = metricsOf()
  const kind = (more: Partial<KindWatchState>): KindWatchState => ({
    watched: { apiVersion: 'v1', kind: 'Pod', namespace: '', metadataOnly: false },
    state: 'watching',
    provenAt: NOW - 5_000,
    failure: undefined,
    lists: 1,
    reopened: 0,
    events: 10,
    ...more,
  })
  let kinds = [
    kind({}),
    kind({ provenAt: NOW - 61_000, reopened: 2 }),
    kind({ state: 'unreadable', provenAt: 1 }),
    kind({ provenAt: 0 }),
  ]
  metrics.provide({ watches: () => [{ cluster: 'prod', state: () => kinds }] })
  metrics.provide({ queues: () => new Map([['clusters', 4]]) })
  assert.deepEqual(await samples(metrics, 'backporch_watch_age_seconds'), ['{cluster="prod"} 61'])
  assert.deepEqual(await samples(metrics, 'backporch_watch_stale'), ['{cluster="prod"} 1'])
  assert.deepEqual(await samples(metrics, 'backporch_watch_events_total'), ['{cluster="prod"} 40'])
  assert.deepEqual(await samples(metrics, 'workqueue_depth'), ['{name="clusters"} 4'])
  kinds = [kind({ events: 15 })]
  assert.deepEqual(await samples(metrics, 'backporch_watch_events_total'), ['{cluster="prod"} 40'])
  kinds = [kind({ events: 18 })]
  assert.deepEqual(await samples(metrics, 'backporch_watch_events_total'), ['{cluster="prod"} 43'])
  assert.deepEqual(await samples(metrics, 'backporch_watch_age_seconds'), ['{cluster="prod"} 5'])
})

test('queue metrics count like those of controller-runtime', async () => {
  const metrics = metricsOf()
  metrics.queue({ queue: 'clusters', event: 'added' })
  metrics.queue({ queue: 'clusters', event: 'retried' })
  metrics.queue({ queue: 'clusters', event: 'started', waited: 0.5 })
  metrics.queue({ queue: 'clusters', event: 'finished', worked: 2 })
  metrics.recordVerdict(0.02)
  for (const [name, value] of [
    ['workqueue_adds_total', '1'],
    ['workqueue_retries_total', '1'],
    ['workqueue_queue_duration_seconds_sum', '0.5'],
    ['workqueue_work_duration_seconds_sum', '2'],
  ] as const)
    assert.deepEqual(await samples(metrics, name), [`{name="clusters"} ${value}`])
  assert.deepEqual(await samples(metrics, 'backporch_detection_latency_seconds_sum'), [' 0.02'])
})

test('repositories that share a cluster neither replace nor double the numbers of each other', async () => {
  const metrics = metricsOf()
  const edge = formatLoggableName('edge')
  const [one, other] = [
    { repository: 'git.example.com/a/one' },
    { repository: 'git.example.com/a/other' },
  ]
  const proposal = {
    branch: 'proposed/apps/web/drift-1',
    state: 'open',
    plan: 'Restore',
    url: undefined,
  } as const
  const api = packageOf('apps/api', { cluster: edge })
  metrics.turn({ ...turnOf([packageOf('apps/web', { ...DRIFTED, proposal })]), ...one })
  const clusters = new Map([
    [PROD, 90],
    [edge, 100],
  ])
  const web = packageOf('apps/web', { ...DRIFTED, driftedSince: 40, proposal })
  metrics.turn({ ...turnOf([web, api], { clusters }), ...other })
  metrics.setFailures(one.repository, new Map([['BP3001', 1]]))
  metrics.setFailures(other.repository, new Map([['BP3001', 2]]))
  // A whole turn of one says nothing of what the other has.
  metrics.turn({ ...turnOf([packageOf('apps/web', { ...DRIFTED, proposal })]), ...one })
  const labels = '{cluster="prod",package="apps/web"'
  assert.deepEqual(await samples(metrics, 'backporch_drifted_objects'), [
    `${labels},risk="critical"} 2`,
  ])
  assert.deepEqual(await samples(metrics, 'backporch_oldest_drift_timestamp_seconds'), [
    `${labels}} 40`,
  ])
  assert.deepEqual(await samples(metrics, 'backporch_objects'), [
    '{cluster="prod",verdict="in-sync"} 4',
    '{cluster="edge",verdict="in-sync"} 2',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_pull_requests'), [
    '{state="open",plan="Restore"} 2',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_failures'), ['{code="BP3001"} 3'])
  assert.deepEqual(await samples(metrics, 'backporch_cluster_last_observed_timestamp_seconds'), [
    '{cluster="prod"} 90',
    '{cluster="edge"} 100',
  ])
  metrics.provide({ repositories: () => new Set([one.repository]) })
  assert.deepEqual(await samples(metrics, 'backporch_objects'), [
    '{cluster="prod",verdict="in-sync"} 2',
  ])
  assert.deepEqual(await samples(metrics, 'backporch_failures'), ['{code="BP3001"} 1'])
})
