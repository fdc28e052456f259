import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { LiveView } from '@backporch/kyaml/resource'
import type { SyncerReport } from '../../syncers/syncer.ts'
import type { Drift, SyncerManager } from '../compare/drift.ts'
import type { StoredManifest } from '../compare/last-applied.ts'
import type { ContentId, DatedContent, ObservedContent } from './arrivals.ts'

/** `commit` is the first one with the content, empty for the time before the package. */
export interface PackageVersion extends DatedContent {
  readonly objects: ReadonlyMap<string, JsonObject>
}

export interface PackageHistory {
  /** Newest first; live is compared with the first one. */
  readonly versions: readonly PackageVersion[]
  readonly locationOf: ReadonlyMap<string, number>
  /** Not only the latest versions. */
  readonly complete: boolean
  readonly cut?: Failure
}

export interface ObservedLive extends ContentId {
  /** RFC 3339 UTC. */
  readonly at: string
}

export interface SyncMemory {
  /** By `getResourceKey`, without lag; undefined if unknown. */
  readonly observedWith: (key: string) => ObservedLive | undefined
  readonly contents: readonly ObservedContent[]
}

export const NO_MEMORY: SyncMemory = { observedWith: () => undefined, contents: [] }

export interface SyncEvidence {
  readonly history: PackageHistory
  readonly syncer: SyncerManager | undefined
  readonly report: SyncerReport
  readonly live: LiveView
  /** By `getResourceKey`; undefined without one. */
  readonly inventory: ReadonlySet<string> | undefined
  /** Last failed objects, by `getResourceKey`, with the reason as a clause. */
  readonly refused: ReadonlyMap<string, string>
  /** By `getResourceKey`; undefined if unknown. */
  readonly stored: ReadonlyMap<string, StoredManifest> | undefined
  /** At an earlier observation of the same content; undefined without one. */
  readonly waitedBefore: ((drift: Drift) => boolean) | undefined
  readonly memory: SyncMemory
  /** Seconds. */
  readonly stuckAfter: number
  /** RFC 3339 UTC. */
  readonly now: string
  /** RFC 3339 UTC; may be later than the observation. */
  readonly present: string
}
