/**
 * Labels are names of clusters and packages, and Backporch's own terms: never the name of an
 * object, a field or a person, and never a value.
 */
import type { ClusterWatch } from '@backporch/cluster/cluster-watch'
import type { Loggable } from '@backporch/kyaml/redaction'
import type { TracedRequest } from '@backporch/system/trace'

export interface PackageNumbers {
  readonly cluster: Loggable
  readonly package: Loggable
  readonly mode: string
  readonly state: string
  /** Undefined if no known syncer applies the package. */
  readonly syncer: string | undefined
  readonly objects: ReadonlyMap<string, number>
  /** By worst risk, without drift that somebody decided to keep. */
  readonly drifted: ReadonlyMap<string, number>
  /** Seconds since 1970, of undecided drift. */
  readonly driftedSince: number | undefined
  /** In time, for the latest approved change. */
  readonly restoreFailed: boolean
  readonly held: string | undefined
  readonly proposal: PackageProposal | undefined
}

interface PackageProposal {
  readonly branch: string
  readonly state: 'draft' | 'open'
  readonly plan: string
  /** Undefined if there is no page. */
  readonly url: Loggable | undefined
}

type Place = Pick<PackageNumbers, 'cluster' | 'package'>

/** Found for the first time. */
export type Occurrence =
  | (Place & { readonly kind: 'detected'; readonly risk: string; readonly actorClass: string })
  /** `seconds`: since the proposal; undefined if nobody decided. */
  | (Place & {
      readonly kind: 'resolved'
      readonly resolution: string
      readonly seconds: number | undefined
    })
  | { readonly kind: 'restored'; readonly syncer: string | undefined; readonly seconds: number }
  | { readonly kind: 'suppressed'; readonly rule: string; readonly count: number }

/** Anything unnamed is unchanged. */
export interface ObservedNumbers {
  readonly packages: readonly PackageNumbers[]
  /** Of observed clusters: no change is known. */
  readonly failed: readonly Place[]
  /** Seconds since 1970. */
  readonly clusters: ReadonlyMap<Loggable, number>
  readonly unobserved: readonly Loggable[]
  /** File and line of an unusable policy. */
  readonly policyProblem?: Loggable | undefined
  /** Then unnamed packages no longer exist. */
  readonly whole: boolean
  readonly occurrences: readonly Occurrence[]
}

export interface TurnNumbers {
  /** Empty if there is only one repository. Not a label. */
  readonly repository?: string
  readonly outcome: 'succeeded' | 'partial' | 'failed' | 'aborted'
  /** Seconds by phase, with `total`. */
  readonly phases: ReadonlyMap<string, number>
  readonly observed: ObservedNumbers | undefined
}

/** As controller-runtime counts them. Seconds. */
export type QueueEvent =
  | { readonly queue: string; readonly event: 'added' | 'retried' }
  | { readonly queue: string; readonly event: 'started'; readonly waited: number }
  | { readonly queue: string; readonly event: 'finished'; readonly worked: number }

export interface MetricsSource {
  watches?(): readonly Pick<ClusterWatch, 'cluster' | 'state'>[]
  /** Numbers of other repositories are dropped. */
  repositories?(): ReadonlySet<string>
  /** Judged by a watch and not observed by a turn since. `package` is its path. */
  unrecorded?(): readonly (Place & { readonly risk: string; readonly count: number })[]
  waitingHeads?(): number
  queues?(): ReadonlyMap<string, number>
  /** Seconds, by queue; 0 if nothing runs. */
  longestRunning?(): ReadonlyMap<string, number>
}

/** Never throws. */
export interface Metrics {
  turn(turn: TurnNumbers): void
  setFailures(repository: string, failures: ReadonlyMap<string, number>): void
  request(request: TracedRequest): void
  recordVerdict(seconds: number): void
  queue(event: QueueEvent): void
  /** The later source replaces the methods that it has. */
  provide(source: MetricsSource): void
}
