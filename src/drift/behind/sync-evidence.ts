/** Evidence that distinguishes a syncer that is behind from a person who wrote. */
import type { Failure } from '../../failure.ts'
import type { LiveView } from '../../krm/live-view.ts'
import type { SyncerReport } from '../../syncers/syncer.ts'
import type { JsonObject } from '../../text/json.ts'
import type { StoredManifest } from '../compare/last-applied.ts'
import type { Drift, SyncerManager } from '../drift.ts'
import type { ContentId, DatedContent, ObservedContent } from './arrivals.ts'

/** One content of the package on the base branch; `commit` is the first one with this content, empty for the time before the package was there. */
export interface PackageVersion extends DatedContent {
  /** What it renders, by `resourceKey`. */
  readonly objects: ReadonlyMap<string, JsonObject>
}

export interface PackageHistory {
  /** Newest first; the first one is what live is compared with. */
  readonly versions: readonly PackageVersion[]
  /** Place in `versions` of every commit that was walked. */
  readonly locationOf: ReadonlyMap<string, number>
  /** Whether it goes back to where the package began; otherwise only the latest versions were read. */
  readonly complete: boolean
  /** Why nothing older could be read, where that is so: in a shallow clone. */
  readonly cut?: Failure
}

/** An observed content of the package for an object. */
export interface ObservedLive extends ContentId {
  /** RFC 3339 UTC: the last observation that saw it so. */
  readonly at: string
}

/** What earlier observations leave behind. */
export interface SyncMemory {
  /** The last observed content of the object, by `resourceKey`, when the syncer had applied all that git had; undefined where none is known. */
  readonly observedWith: (key: string) => ObservedLive | undefined
  /** Contents of the base branch that came after the first observation of it. */
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
  /** What the syncer keeps of what it applied and compares its next apply with, by `resourceKey`; undefined where that is not known. */
  readonly stored: ReadonlyMap<string, StoredManifest> | undefined
  /** Of an earlier observation of the very same content: whether this difference waited for the syncer then. Undefined: no such observation. */
  readonly waitedBefore: ((drift: Drift) => boolean) | undefined
  readonly memory: SyncMemory
  /** Seconds that the syncer has to apply what git has. */
  readonly stuckAfter: number
  /** RFC 3339 UTC, of the observation. */
  readonly now: string
  /** RFC 3339 UTC: the present, which an observation may be older than. */
  readonly present: string
}
