import { type KindWatchState, STALE_AFTER } from '@backporch/cluster/cluster-watch'
import { formatLoggableName, type Loggable } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import type { TracedRequest } from '@backporch/system/trace'
import type {
  Metrics,
  MetricsSource,
  Occurrence,
  QueueEvent,
  TurnNumbers,
} from '../../ports/metrics.ts'
import { buildFleetRows, FleetNumbers } from './fleet-numbers.ts'
import { Instruments, type Row } from './instruments.ts'

interface PrometheusOptions {
  readonly version: string
  readonly clock: Pick<Clock, 'now'>
  readonly limit?: number
}

const WATCH_COUNTERS = {
  lists: 'backporch_watch_lists_total',
  reopened: 'backporch_watch_reopened_total',
  events: 'backporch_watch_events_total',
} as const
interface RepositoryNumbers {
  readonly fleet: FleetNumbers
  failures: ReadonlyMap<string, number>
}

/** Checked cluster names; limited because a fleet may change names constantly. */
const MOST_NAMES = 20_000

export class PrometheusMetrics implements Metrics {
  private readonly instruments: Instruments
  private readonly clock: Pick<Clock, 'now'>
  private readonly repositories = new Map<string, RepositoryNumbers>()
  private changed = true
  private readonly source: MetricsSource = {}
  private readonly names = new Map<string, Loggable>()
  private readonly budgets = new Map<string, Row>()
  private readonly watchSums = new Map<string, number>()
  private rendering: Promise<string> | undefined

  constructor({ version, clock, limit }: PrometheusOptions) {
    this.clock = clock
    this.instruments = new Instruments(limit)
    this.instruments.replace('backporch_build_info', [{ labels: { version }, value: 1 }])
  }

  get contentType(): string {
    return this.instruments.registry.contentType
  }

  turn({ repository = '', outcome, phases, observed }: TurnNumbers): void {
    const own = this.getRepository(repository)
    this.instruments.count('backporch_turns_total', { outcome })
    for (const [phase, seconds] of phases)
      this.instruments.observe('backporch_reconcile_duration_seconds', { phase }, seconds)
    if (observed === undefined) return
    own.fleet.take(observed)
    for (const occurrence of observed.occurrences) this.recordOccurrence(occurrence)
  }

  setFailures(repository: string, failures: ReadonlyMap<string, number>): void {
    this.getRepository(repository).failures = failures
  }

  request({ to: { system, name }, what, outcome, budget }: TracedRequest): void {
    const status = /^\d{3}(?!\d)/.exec(outcome)?.[0]
    if (system === 'cluster') {
      const [verb = ''] = what.split(' ', 1)
      const labels = {
        cluster: this.getName(name),
        verb,
        code: status === undefined ? 'none' : `${status.charAt(0)}xx`,
      }
      this.instruments.count('backporch_api_requests_total', labels)
    } else if (system === 'forge') {
      this.instruments.count('backporch_forge_requests_total', {
        forge: name,
        code: status ?? 'none',
      })
      if (budget !== undefined) this.learn(name, budget)
    } else {
      const metric = name === 'push' ? 'backporch_git_push_total' : 'backporch_git_fetch_total'
      // The listing of refs before each push is no push.
      if (name === 'push' && what.endsWith(': list refs') && outcome !== 'failed') return
      this.instruments.count(metric, { result: outcome === 'failed' ? 'failed' : 'answered' })
    }
  }

  recordVerdict(seconds: number): void {
    this.instruments.observe('backporch_detection_latency_seconds', {}, seconds)
  }

  queue(event: QueueEvent): void {
    const labels = { name: event.queue }
    switch (event.event) {
      case 'added':
        this.instruments.count('workqueue_adds_total', labels)
        break
      case 'retried':
        this.instruments.count('workqueue_retries_total', labels)
        break
      case 'started':
        this.instruments.observe('workqueue_queue_duration_seconds', labels, event.waited)
        break
      case 'finished':
        this.instruments.observe('workqueue_work_duration_seconds', labels, event.worked)
    }
  }

  provide(source: MetricsSource): void {
    Object.assign(this.source, source)
  }

  renderExposition(): Promise<string> {
    this.rendering ??= this.render().finally(() => {
      this.rendering = undefined
    })
    return this.rendering
  }

  private async render(): Promise<string> {
    this.forget()
    if (this.changed) this.readTurns()
    this.changed = false
    this.readWatches()
    const depths = [...(this.source.queues?.() ?? [])].map(([name, value]) => ({
      labels: { name },
      value,
    }))
    this.instruments.replace('workqueue_depth', depths)
    const longest = [...(this.source.longestRunning?.() ?? [])].map(([name, value]) => ({
      labels: { name },
      value,
    }))
    this.instruments.replace('workqueue_longest_running_processor_seconds', longest)
    const unrecorded = (this.source.unrecorded?.() ?? []).map(({ count, ...labels }) => ({
      labels,
      value: count,
    }))
    this.instruments.replace('backporch_unrecorded_drift_objects', unrecorded)
    this.instruments.replace('backporch_pull_requests_without_status', [
      { labels: {}, value: this.source.waitingHeads?.() ?? 0 },
    ])
    return this.instruments.registry.metrics()
  }

  private getRepository(repository: string): RepositoryNumbers {
    const own = this.repositories.get(repository) ?? {
      fleet: new FleetNumbers(),
      failures: new Map(),
    }
    this.repositories.set(repository, own)
    this.changed = true
    return own
  }

  private forget(): void {
    const known = this.source.repositories?.()
    if (known === undefined) return
    for (const name of this.repositories.keys())
      if (!known.has(name)) this.changed = this.repositories.delete(name) || this.changed
  }

  private readTurns(): void {
    const repositories = [...this.repositories.values()]
    for (const [name, rows] of buildFleetRows(repositories.map(({ fleet }) => fleet)))
      this.instruments.replace(name, rows)
    const failures = repositories.flatMap((own) =>
      [...own.failures].map(([code, value]) => ({ labels: { code }, value })),
    )
    this.instruments.replace('backporch_failures', failures)
  }

  private readWatches(): void {
    const now = this.clock.now().getTime()
    const watches = (this.source.watches?.() ?? []).map((watch) => ({
      cluster: this.getName(watch.cluster),
      kinds: watch.state(),
    }))
    // An unreadable kind never counts as verified.
    const ages = watches.map(({ cluster, kinds }) => ({
      cluster,
      kinds: kinds.flatMap(({ state, provenAt }) =>
        state === 'unreadable' || provenAt === 0 ? [] : [now - provenAt],
      ),
    }))
    const age = ages.flatMap(({ cluster, kinds }) =>
      kinds.length === 0 ? [] : [{ labels: { cluster }, value: Math.max(0, ...kinds) / 1_000 }],
    )
    const stale = ages.map(({ cluster, kinds }) => ({
      labels: { cluster },
      value: kinds.filter((one) => one > STALE_AFTER).length,
    }))
    this.instruments.replace('backporch_watch_age_seconds', age)
    this.instruments.replace('backporch_watch_stale', stale)
    for (const { cluster, kinds } of watches) this.countWatch(cluster, kinds)
  }

  /** The counter itself never decreases. */
  private countWatch(cluster: Loggable, kinds: readonly KindWatchState[]): void {
    for (const [field, metric] of Object.entries(WATCH_COUNTERS) as [
      keyof typeof WATCH_COUNTERS,
      (typeof WATCH_COUNTERS)['lists'],
    ][]) {
      const key = `${metric} ${cluster}`
      const sum = kinds.reduce((total, kind) => total + kind[field], 0)
      this.instruments.count(metric, { cluster }, Math.max(0, sum - (this.watchSums.get(key) ?? 0)))
      this.watchSums.set(key, sum)
    }
  }

  private recordOccurrence(occurrence: Occurrence): void {
    switch (occurrence.kind) {
      case 'detected': {
        const { cluster, package: name, risk, actorClass } = occurrence
        this.instruments.count('backporch_drift_detected_total', {
          cluster,
          package: name,
          risk,
          actor_class: actorClass,
        })
        break
      }
      case 'resolved': {
        const { cluster, package: name, resolution, seconds } = occurrence
        this.instruments.count('backporch_drift_resolved_total', {
          cluster,
          package: name,
          resolution,
        })
        if (seconds !== undefined)
          this.instruments.observe('backporch_time_to_decision_seconds', { resolution }, seconds)
        break
      }
      case 'restored':
        this.instruments.observe(
          'backporch_time_to_restore_seconds',
          { syncer: occurrence.syncer ?? 'none' },
          occurrence.seconds,
        )
        break
      case 'suppressed':
        this.instruments.count(
          'backporch_drift_suppressed_total',
          { rule_kind: occurrence.rule },
          occurrence.count,
        )
    }
  }

  private learn(forge: string, { name, remaining }: NonNullable<TracedRequest['budget']>): void {
    const limit = formatLoggableName(name, 40)
    this.budgets.set(limit, { labels: { forge, limit }, value: remaining })
    // A forge has about a dozen limits.
    if (this.budgets.size > 50) this.budgets.delete(this.budgets.keys().next().value ?? '')
    this.instruments.replace('backporch_forge_rate_limit_remaining', this.budgets.values())
  }

  private getName(cluster: string): Loggable {
    const known = this.names.get(cluster)
    if (known !== undefined) return known
    const name = formatLoggableName(cluster)
    if (this.names.size >= MOST_NAMES) this.names.clear()
    this.names.set(cluster, name)
    return name
  }
}
