/**
 * Numbers of the daemon for a monitoring system. Their labels are names of clusters and packages, and words of our own: never the name of an
 * object, of a field or of a person, and never a value.
 */
import type { ClusterWatch } from '@backporch/cluster/cluster-watch'
import type { Loggable } from '@backporch/kyaml/redaction'
import type { TracedRequest } from '@backporch/system/trace'

/** A package in a cluster, as the last turn that observed it found it. */
export interface PackageNumbers {
  readonly cluster: Loggable
  readonly package: Loggable
  readonly mode: string
  readonly state: string
  /** Name of the syncer; empty where nobody known applies the package. */
  readonly syncer: string
  /** Objects by verdict: `in-sync`, `drifted`, … */
  readonly objects: ReadonlyMap<string, number>
  /** Drifted objects by their worst risk, of drift that nobody decided to keep. */
  readonly drifted: ReadonlyMap<string, number>
  /** Seconds since 1970: the beginning of drift that nobody has decided on. */
  readonly driftedSince: number | undefined
  /** The latest approved change did not reach the cluster in time. */
  readonly restoreFailed: boolean
  /** Reason why the record stays a draft. */
  readonly held: string | undefined
  readonly proposal: PackageProposal | undefined
}

interface PackageProposal {
  readonly branch: string
  readonly state: 'draft' | 'open'
  readonly plan: string
  /** Address of its page; empty where there is none. */
  readonly url: Loggable | ''
}

type Place = Pick<PackageNumbers, 'cluster' | 'package'>

/** Something that a turn found for the first time. */
export type Occurrence =
  | (Place & { readonly kind: 'detected'; readonly risk: string; readonly actorClass: string })
  /** `seconds`: from the proposal to the decision; undefined where nobody decided. */
  | (Place & {
      readonly kind: 'resolved'
      readonly resolution: string
      readonly seconds: number | undefined
    })
  /** Live agrees with an approved Restore. `seconds`: since the decision. */
  | { readonly kind: 'restored'; readonly syncer: string; readonly seconds: number }
  /** `rule`: the kind of the rule that ignores the differences. */
  | { readonly kind: 'suppressed'; readonly rule: string; readonly count: number }

/** What a turn observed. What it does not name is as it was. */
export interface ObservedNumbers {
  readonly packages: readonly PackageNumbers[]
  /** Packages of observed clusters that could not be observed: nothing is known to have changed. */
  readonly failed: readonly Place[]
  /** Seconds since 1970 of the observation, by cluster. */
  readonly clusters: ReadonlyMap<Loggable, number>
  /** Clusters of which nothing could be observed. */
  readonly unobserved: readonly Loggable[]
  /** File and line where the policy of the base branch cannot be used; undefined where it can. */
  readonly policyProblem?: Loggable | undefined
  /** Whether it was about every package: others are gone. */
  readonly whole: boolean
  readonly occurrences: readonly Occurrence[]
}

export interface TurnNumbers {
  /** Tells the repositories of one process apart; empty where there is one. It is no label. */
  readonly repository?: string
  readonly outcome: 'succeeded' | 'partial' | 'failed' | 'aborted'
  /** Seconds by phase; `total` is the whole turn. */
  readonly phases: ReadonlyMap<string, number>
  /** Undefined for a turn without a result. */
  readonly observed: ObservedNumbers | undefined
}

/** Events of a work queue, as controller-runtime counts them. Seconds. */
export type QueueEvent =
  | { readonly queue: string; readonly event: 'added' | 'retried' }
  /** `waited`: since it was added. */
  | { readonly queue: string; readonly event: 'started'; readonly waited: number }
  | { readonly queue: string; readonly event: 'finished'; readonly worked: number }

/** Read each time when the metrics are read. */
export interface MetricsSource {
  watches?(): readonly Pick<ClusterWatch, 'cluster' | 'state'>[]
  /** Those that there are: what turns of others left is dropped. */
  repositories?(): ReadonlySet<string>
  /** Drift that a watch judged and no turn observed since. `package` is its path. */
  unrecorded?(): readonly (Place & { readonly risk: string; readonly count: number })[]
  /** Pull requests of people, and merge groups, that wait for `drift/fresh`. */
  waitingHeads?(): number
  /** Items that wait, by queue. */
  queues?(): ReadonlyMap<string, number>
  /** Seconds that the longest running item of each queue has run; 0 where none runs. */
  longestRunning?(): ReadonlyMap<string, number>
}

/** Never throws. */
export interface Metrics {
  /** A turn that ended. */
  turn(turn: TurnNumbers): void
  /** The failures of a repository that began and did not end, by code. */
  failing(repository: string, failures: ReadonlyMap<string, number>): void
  /** A request that ended. */
  request(request: TracedRequest): void
  /** A verdict about a changed object. @param seconds since the event was read from the connection */
  verdict(seconds: number): void
  queue(event: QueueEvent): void
  /** Adds a source; of two, the later one replaces the methods that it has. */
  provide(source: MetricsSource): void
}
