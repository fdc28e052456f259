/** Metrics with a fixed clock, the packages and turns that are put into them, and the samples that come out. */
import { formatLoggableName } from '@backporch/kyaml/redaction'
import { PrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import type { ObservedNumbers, PackageNumbers } from '../../src/ports/metrics.ts'

/** The time of the metrics, in milliseconds. */
export const NOW = Date.parse('2026-11-21T10:00:00Z')
const clock = { now: () => new Date(NOW) }
export const PROD = formatLoggableName('prod')

export function metricsOf(limit?: number): PrometheusMetrics {
  return new PrometheusMetrics({
    version: '1.2.3',
    clock,
    ...(limit === undefined ? {} : { limit }),
  })
}

export function packageOf(name: string, more: Partial<PackageNumbers> = {}): PackageNumbers {
  return {
    cluster: PROD,
    package: formatLoggableName(name),
    mode: 'Propose',
    state: 'InSync',
    syncer: 'Flux',
    objects: new Map([['in-sync', 2]]),
    drifted: new Map(),
    driftedSince: undefined,
    restoreFailed: false,
    held: undefined,
    proposal: undefined,
    ...more,
  }
}

export function turnOf(
  packages: readonly PackageNumbers[],
  more: Partial<ObservedNumbers> = {},
): Parameters<PrometheusMetrics['turn']>[0] {
  const observed = {
    packages,
    failed: [],
    clusters: new Map([[PROD, 100]]),
    unobserved: [],
    whole: true,
    occurrences: [],
    ...more,
  }
  return { outcome: 'succeeded', phases: new Map([['total', 1]]), observed }
}

/** Samples of our own metrics, `name{labels} value`, without the buckets of histograms. */
export async function samples(metrics: PrometheusMetrics, name: string): Promise<string[]> {
  const lines = (await metrics.renderExposition()).split('\n')
  return lines
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => line.slice(name.length))
}

export const DRIFTED = { state: 'Drifted', drifted: new Map([['critical', 1]]), driftedSince: 50 }
