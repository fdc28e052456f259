/** Evidence that distinguishes a syncer that is behind from a person who wrote. */
import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { LiveView } from '@backporch/kyaml/resource'
import type { SyncerReport } from '../../syncers/syncer.ts'
import type { Drift, SyncerManager } from '../compare/drift.ts'
import type { StoredManifest } from '../compare/last-applied.ts'
import type { ContentId, DatedContent, ObservedContent } from './arrivals.ts'

/** A content of the package on the base branch; `commit` is the first one with it, empty for the time before the package. */
export interface PackageVersion extends DatedContent {
  /** Rendered objects, by `resourceKey`. */
  readonly objects: ReadonlyMap<string, JsonObject>
}

export interface PackageHistory {
  /** Newest first; live is compared with the first one. */
  readonly versions: readonly PackageVersion[]
  /** Index in `versions` of every walked commit. */
  readonly locationOf: ReadonlyMap<string, number>
  /** Whether it has the beginning of the package, and not only the latest versions. */
  readonly complete: boolean
  /** Why older commits cannot be read (a shallow clone). */
  readonly cut?: Failure
}

/** An observed content of the package for an object. */
export interface ObservedLive extends ContentId {
  /** RFC 3339 UTC: the last observation that saw it so. */
  readonly at: string
}

/** Memory of earlier observations. */
export interface SyncMemory {
  /** The content of the object, by `resourceKey`, at the last observation without lag; undefined if unknown. */
  readonly observedWith: (key: string) => ObservedLive | undefined
  /** Contents that arrived after the first observation. */
  readonly contents: readonly ObservedContent[]
}

export const NO_MEMORY: SyncMemory = { observedWith: () => undefined, contents: [] }

/** All evidence that distinguishes a syncer that is behind from a person who wrote. */
export interface SyncEvidence {
  readonly history: PackageHistory
  readonly syncer: SyncerManager | undefined
  readonly report: SyncerReport
  readonly live: LiveView
  /** Identities, by `resourceKey`, that the package's inventory lists; undefined where there is no inventory. */
  readonly inventory: ReadonlySet<string> | undefined
  /** What the keeper of the inventory tried last and could not apply, by `resourceKey`, with the reason as a clause. */
  readonly refused: ReadonlyMap<string, string>
  /** Manifests that the syncer stores and compares its next apply with, by `resourceKey`; undefined if unknown. */
  readonly stored: ReadonlyMap<string, StoredManifest> | undefined
  /** Whether this difference waited for the syncer at an earlier observation of the same content; undefined without one. */
  readonly waitedBefore: ((drift: Drift) => boolean) | undefined
  readonly memory: SyncMemory
  /** Seconds in which the syncer must apply git's content. */
  readonly stuckAfter: number
  /** Time of the observation, RFC 3339 UTC. */
  readonly now: string
  /** The present, RFC 3339 UTC, which may be later than the observation. */
  readonly present: string
}
