/** Turns of a world in memory, measured as the controller measures them, and served as it serves them. */
import type { KindWatchState } from '@backporch/cluster/cluster-watch'
import { Failure } from '@backporch/kyaml/failure'
import { startMonitoringServer } from '../../src/adapters/metrics/monitoring-server.ts'
import { PrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { ReadinessState } from '../../src/controller/readiness.ts'
import { TurnMeter } from '../../src/controller/turn-meter.ts'
import { TurnWorld, WEB } from './turn-world.ts'

const API = {
  'apps/api/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: api\n',
  'apps/api/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: api, namespace: shop}\ndata: {mode: canary-git}\n',
  'apps/db/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: db\n',
  'apps/db/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: canary-object, namespace: canary-namespace}\ndata: {a: b}\n',
}

/** So that their panel has data. */
const FAILURE = new Failure({ code: 'BP3001', what: 'canary', why: 'canary', remedy: 'canary' })

/** Names and values that are in the world, and must be in no label. */
export const CANARIES = [
  'canary',
  'replicas',
  'kubectl-edit',
  'other-controller',
  'nginx',
  'COLOR',
  'ConfigMap',
  'Deployment',
  'shop',
]

export class MeasuredWorld {
  readonly world = new TurnWorld(
    '{mode: Propose, ignore: [{paths: [data.ignored], reason: canary-reason}]}',
    API,
  )
  readonly metrics = new PrometheusMetrics({ version: '1.2.3', clock: systemClock })
  private readonly readiness = new ReadinessState(60_000)
  readonly meter = new TurnMeter({
    repository: '',
    metrics: this.metrics,
    readiness: this.readiness,
    elapsed: () => performance.now(),
  })
  private events = 0

  async turn(): Promise<void> {
    this.meter.begin()
    const result = await this.world.scan({ onProgress: (step) => this.meter.step(step) })
    this.meter.finishTurn('succeeded', result)
    this.meter.reportFailures([FAILURE])
    this.requests()
  }

  /** A change that is proposed, approved, applied and observed. */
  async round(value: number): Promise<void> {
    this.world.edit(WEB, 'spec.replicas', value, 'other-controller')
    await this.turn()
    await this.decide('apps/web', () => this.world.approve())
    this.world.sync()
    await this.turn()
  }

  /** One package is held because two writers fight, one is declined, one is proposed. */
  async leaveOpen(): Promise<void> {
    this.world.edit(WEB, 'spec.replicas', 7, 'other-controller')
    this.world.edit(
      '/ConfigMap/canary-namespace/canary-object',
      'data.a',
      'canary-live',
      'kubectl-edit',
    )
    await this.turn()
    await this.decide('apps/db', () => this.world.reject())
    this.world.edit('/ConfigMap/shop/api', 'data.ignored', 'canary-live', 'kubectl-edit')
    this.world.edit('/ConfigMap/shop/api', 'data.mode', 'canary-live', 'kubectl-edit')
    await this.turn()
  }

  serve() {
    const { metrics, readiness } = this
    const at = () => readiness.computeReadiness(Date.parse(this.world.cluster.now))
    return startMonitoringServer({
      host: '127.0.0.1',
      port: 0,
      metrics,
      readiness: at,
      onRefused: () => undefined,
    })
  }

  private async decide(name: string, decision: () => Promise<unknown>): Promise<void> {
    this.world.packages = [name]
    await decision()
    this.world.packages = []
    await this.turn()
  }

  /** What the ports of a real controller report beside. */
  private requests(): void {
    const { meter, metrics } = this
    const cluster = { system: 'cluster', name: 'prod' } as const
    meter.request({
      to: cluster,
      what: 'GET /api/v1/namespaces/shop/configmaps/canary-object',
      outcome: '200 (17 characters)',
      milliseconds: 3,
    })
    meter.request({
      to: cluster,
      what: 'PATCH /api/v1/namespaces/shop/configmaps/canary-object',
      outcome: 'broken',
      milliseconds: 3,
    })
    const forge = { system: 'forge', name: 'github' } as const
    meter.request({
      to: forge,
      what: 'GET /repos/canary',
      outcome: '200',
      milliseconds: 9,
      budget: { name: 'core', remaining: 4_000 },
    })
    const remote = 'https://git.example.com/canary'
    meter.request({
      to: { system: 'git', name: 'fetch' },
      what: `git-upload-pack ${remote}: list refs`,
      outcome: '9 refs',
      milliseconds: 5,
    })
    meter.request({
      to: { system: 'git', name: 'push' },
      what: `git-receive-pack ${remote}: send 9 bytes`,
      outcome: 'answers',
      milliseconds: 5,
    })
    for (const event of ['added', 'retried'] as const) metrics.queue({ queue: 'clusters', event })
    metrics.queue({ queue: 'clusters', event: 'started', waited: 0.002 })
    metrics.queue({ queue: 'clusters', event: 'finished', worked: 0.2 })
    metrics.recordVerdict(0.012)
    this.events += 5
    const state = (): readonly KindWatchState[] => [
      {
        watched: { apiVersion: 'v1', kind: 'ConfigMap', namespace: '', metadataOnly: false },
        state: 'watching',
        provenAt: Date.now() - 1_500,
        failure: undefined,
        lists: 1,
        reopened: 2,
        events: this.events,
      },
    ]
    const watches = () => [{ cluster: 'prod', state }]
    metrics.provide({
      watches,
      queues: () => new Map([['clusters', 3]]),
      longestRunning: () => new Map([['turns', 2]]),
    })
  }
}
