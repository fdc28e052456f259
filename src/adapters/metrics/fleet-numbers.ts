import type { Loggable } from '@backporch/kyaml/redaction'
import { RISKS } from '../../drift/compare/drift.ts'
import type { ObservedNumbers, PackageNumbers } from '../../ports/metrics.ts'
import type { Row } from './instruments.ts'
import type { MetricName } from './metric-table.ts'

const BLANK = {
  mode: '',
  state: 'Unknown',
  syncer: undefined,
  objects: new Map(),
  drifted: new Map(),
  driftedSince: undefined,
  restoreFailed: false,
  held: undefined,
  proposal: undefined,
} as const

export class FleetNumbers {
  private readonly packages = new Map<Loggable, Map<Loggable, PackageNumbers>>()
  policyProblem: Loggable | undefined
  /** Seconds since 1970, by cluster. */
  private readonly observedAt = new Map<Loggable, number>()

  /** Numbers of unobserved packages stay: an outage must not resolve an alert. */
  take({
    packages,
    failed,
    clusters,
    unobserved,
    policyProblem,
    whole,
  }: Omit<ObservedNumbers, 'occurrences'>): void {
    this.policyProblem = policyProblem
    if (whole) this.forget(packages, failed, new Set([...clusters.keys(), ...unobserved]))
    for (const one of packages) this.getClusterPackages(one.cluster).set(one.package, one)
    for (const { cluster, package: name } of failed) {
      const before = this.getClusterPackages(cluster).get(name) ?? {
        cluster,
        package: name,
        ...BLANK,
      }
      this.getClusterPackages(cluster).set(name, { ...before, state: BLANK.state })
    }
    for (const cluster of unobserved) {
      for (const [name, before] of this.getClusterPackages(cluster))
        this.getClusterPackages(cluster).set(name, { ...before, state: BLANK.state })
      if (!this.observedAt.has(cluster)) this.observedAt.set(cluster, 0)
    }
    for (const [cluster, at] of clusters) this.observedAt.set(cluster, at)
  }

  listPackages(): readonly PackageNumbers[] {
    return [...this.packages.values()].flatMap((packages) => [...packages.values()])
  }

  getClusterTimes(): ReadonlyMap<Loggable, number> {
    return this.observedAt
  }

  private forget(
    packages: ObservedNumbers['packages'],
    failed: ObservedNumbers['failed'],
    known: ReadonlySet<Loggable>,
  ): void {
    for (const cluster of [...this.packages.keys(), ...this.observedAt.keys()]) {
      if (known.has(cluster)) continue
      this.packages.delete(cluster)
      this.observedAt.delete(cluster)
    }
    const named = Map.groupBy([...packages, ...failed], ({ cluster }) => cluster)
    for (const [cluster, own] of named) {
      const names = new Set(own.map((one) => one.package))
      for (const name of this.getClusterPackages(cluster).keys())
        if (!names.has(name)) this.getClusterPackages(cluster).delete(name)
    }
  }

  private getClusterPackages(cluster: Loggable): Map<Loggable, PackageNumbers> {
    const found = this.packages.get(cluster) ?? new Map()
    this.packages.set(cluster, found)
    return found
  }
}

/** Rows of two repositories with equal package and cluster names are joined when printed. */
export function buildFleetRows(
  fleets: readonly FleetNumbers[],
): ReadonlyMap<MetricName, readonly Row[]> {
  const all = fleets
    .flatMap((fleet) => fleet.listPackages())
    .sort((left, right) => getRank(left) - getRank(right))
  const place = ({ cluster, package: name }: PackageNumbers) => ({ cluster, package: name })
  const drifted = all.flatMap((one) =>
    [...one.drifted].map(([risk, value]) => ({ labels: { ...place(one), risk }, value })),
  )
  const since = all.filter(({ driftedSince }) => driftedSince !== undefined)
  return new Map<MetricName, readonly Row[]>([
    [
      'backporch_package_info',
      all.map((one) => ({ labels: { ...place(one), ...buildInfoLabels(one) }, value: 1 })),
    ],
    ['backporch_objects', buildObjectRows(all)],
    ['backporch_drifted_objects', drifted],
    [
      'backporch_oldest_drift_timestamp_seconds',
      since.map((one) => ({ labels: place(one), value: one.driftedSince ?? 0 })),
    ],
    [
      'backporch_restore_failed',
      all.flatMap((one) => (one.restoreFailed ? [{ labels: place(one), value: 1 }] : [])),
    ],
    ['backporch_pull_request_info', all.flatMap(pageRows)],
    ['backporch_pull_requests', fleets.flatMap((fleet) => buildProposalRows(fleet.listPackages()))],
    [
      'backporch_held',
      countRows(
        'reason',
        all.flatMap(({ held }) => held ?? []),
      ),
    ],
    [
      'backporch_policy_unusable',
      fleets.flatMap(({ policyProblem: where }) =>
        where === undefined ? [] : [{ labels: { where }, value: 1 }],
      ),
    ],
    ['backporch_storm', [{ labels: {}, value: all.some(({ held }) => held === 'storm') ? 1 : 0 }]],
    [
      'backporch_cluster_last_observed_timestamp_seconds',
      fleets.flatMap((fleet) =>
        [...fleet.getClusterTimes()].map(([cluster, value]) => ({ labels: { cluster }, value })),
      ),
    ],
  ])
}

function buildObjectRows(all: readonly PackageNumbers[]): readonly Row[] {
  return [...Map.groupBy(all, ({ cluster }) => cluster)].flatMap(([cluster, packages]) => {
    const sums = new Map<string, number>()
    for (const { objects } of packages)
      for (const [verdict, count] of objects) sums.set(verdict, (sums.get(verdict) ?? 0) + count)
    return [...sums].map(([verdict, value]) => ({ labels: { cluster, verdict }, value }))
  })
}

/** The worst packages keep their own series if there are too many. */
function getRank({ drifted, restoreFailed, state }: PackageNumbers): number {
  const worst = RISKS.findIndex((risk) => drifted.has(risk))
  if (worst !== -1) return worst
  return restoreFailed ? RISKS.length : state === 'InSync' ? RISKS.length + 2 : RISKS.length + 1
}

function buildInfoLabels({ mode, state, syncer }: PackageNumbers) {
  return { mode, state, syncer: syncer ?? 'none' }
}

function pageRows({ cluster, package: name, proposal }: PackageNumbers): readonly Row[] {
  const { state, url } = proposal ?? { state: 'draft', url: undefined }
  return state === 'draft' || url === undefined
    ? []
    : [{ labels: { cluster, package: name, url }, value: 1 }]
}

function buildProposalRows(all: readonly PackageNumbers[]): readonly Row[] {
  const proposals = new Map(
    all.flatMap(({ proposal }) =>
      proposal === undefined ? [] : [[proposal.branch, proposal] as const],
    ),
  )
  const rows = Map.groupBy(proposals.values(), ({ state, plan }) => `${state} ${plan}`)
  return [...rows.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ labels: { state: first.state, plan: first.plan }, value: others.length + 1 }],
  )
}

function countRows(label: string, words: readonly string[]): readonly Row[] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, value]) => ({ labels: { [label]: word }, value }))
}
