import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { getDeclaration, METRICS, type MetricName, PROCESS_METRICS } from './metric-table.ts'

type Labels = Readonly<Record<string, string>>

export interface Row {
  readonly labels: Labels
  readonly value: number
}

/** Per metric, without overflow series. */
export const SERIES_LIMIT = 5_000
/** No cluster or package can have this name. */
const OTHER = '_other'

const DROPPED = 'backporch_metrics_dropped_series_total'
const JOIN = {
  sum: (left: number, right: number) => left + right,
  min: Math.min,
  max: Math.max,
} as const

export class Instruments {
  readonly registry = new Registry()
  private readonly gauges = new Map<MetricName, Gauge>()
  private readonly counters = new Map<MetricName, Counter>()
  private readonly histograms = new Map<MetricName, Histogram>()
  private readonly known = new Map<MetricName, Set<string>>()
  private readonly limit: number

  constructor(limit = SERIES_LIMIT) {
    this.limit = limit
    collectDefaultMetrics({ register: this.registry })
    for (const { name } of this.registry.getMetricsAsArray())
      if (!PROCESS_METRICS.has(name)) this.registry.removeSingleMetric(name)
    for (const name of Object.keys(METRICS) as MetricName[]) {
      const { type, help, labels, buckets = [] } = getDeclaration(name)
      const options = { name, help, labelNames: [...labels], registers: [this.registry] }
      if (type === 'gauge') this.gauges.set(name, new Gauge(options))
      else if (type === 'counter') this.counters.set(name, new Counter(options))
      else this.histograms.set(name, new Histogram({ ...options, buckets: [...buckets] }))
    }
  }

  count(name: MetricName, labels: Labels, by = 1): void {
    this.counters.get(name)?.inc(this.admitLabels(name, labels), by)
  }

  observe(name: MetricName, labels: Labels, value: number): void {
    // The clock may have been set back.
    this.histograms.get(name)?.observe(this.admitLabels(name, labels), Math.max(0, value))
  }

  /** The first rows keep their own series. Rows with equal labels are joined. */
  replace(name: MetricName, rows: Iterable<Row>): void {
    const gauge = this.gauges.get(name)
    if (gauge === undefined) return
    const join = JOIN[getDeclaration(name).overflow ?? 'sum']
    const overflow = new Map<string, Row>()
    let own = 0
    let dropped = 0
    gauge.reset()
    for (const row of joinRows(rows, join)) {
      own += 1
      if (own <= this.limit) {
        gauge.set(row.labels, row.value)
        continue
      }
      dropped += 1
      const labels = createOverflowLabels(name, row.labels)
      const key = JSON.stringify(labels)
      const before = overflow.get(key)
      overflow.set(key, {
        labels,
        value: before === undefined ? row.value : join(before.value, row.value),
      })
    }
    for (const { labels, value } of overflow.values()) gauge.set(labels, value)
    this.countDropped(name, dropped)
  }

  private admitLabels(name: MetricName, labels: Labels): Labels {
    const { open } = getDeclaration(name)
    if (open === undefined) return labels
    const known = this.known.get(name) ?? new Set()
    this.known.set(name, known)
    const key = JSON.stringify(labels)
    if (!known.has(key) && known.size >= this.limit) {
      this.countDropped(name, 1)
      return createOverflowLabels(name, labels)
    }
    known.add(key)
    return labels
  }

  private countDropped(metric: MetricName, dropped: number): void {
    if (dropped > 0) this.counters.get(DROPPED)?.inc({ metric }, dropped)
  }
}

function joinRows(
  rows: Iterable<Row>,
  join: (left: number, right: number) => number,
): Iterable<Row> {
  const series = new Map<string, Row>()
  for (const row of rows) {
    const key = JSON.stringify(row.labels)
    const before = series.get(key)
    series.set(
      key,
      before === undefined ? row : { labels: row.labels, value: join(before.value, row.value) },
    )
  }
  return series.values()
}

/** Labels with few values stay, so that sums over them are correct. */
function createOverflowLabels(name: MetricName, labels: Labels): Labels {
  const open = new Set(getDeclaration(name).open)
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [label, open.has(label) ? OTHER : value]),
  )
}
