import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'

export interface WatchedKind {
  /** Without a version (`argoproj.io/`): the preferred one. */
  readonly apiVersion: string
  readonly kind: string
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string
  /** Undefined for all. A rule of RBAC can name objects. */
  readonly name?: string
  readonly metadataOnly: boolean
}

/**
 * Called synchronously, in server order. An exception is reported as a failure of the kind and
 * loses only that event.
 */
export interface WatchObserver {
  /** Then `changed` for each object, then `listed`. An interrupted list begins again. */
  beginList(kind: WatchedKind): void
  /** @param read milliseconds of the monotonic clock */
  handleChange(kind: WatchedKind, object: JsonObject, read: number): void
  /** Also between `listing` and `listed`. @param object its last state */
  handleDeletion(kind: WatchedKind, object: JsonObject, read: number): void
  /** Every object missing from the list is absent. */
  finishList(kind: WatchedKind): void
  /** The state is unknown until the next list. Called once per cause. */
  handleUnreadable(kind: WatchedKind, failure: Failure): void
}

export interface KindWatchState {
  readonly watched: WatchedKind
  /** `waiting`: the known state is unchanged. */
  readonly state: 'listing' | 'watching' | 'waiting' | 'unreadable'
  /**
   * Milliseconds since 1970 of the last proof that nothing was missed: an event, a bookmark, a
   * PING, or an orderly end of a stream. 0 before the first. A lagging server may not know the 40 s
   * before (docs/facts/stale-replicas.md).
   */
  readonly provenAt: number
  /** While `watching`: the object that was lost since the last list. */
  readonly failure: Failure | undefined
  readonly lists: number
  readonly reopened: number
  readonly events: number
}

export interface ClusterWatch {
  readonly cluster: string
  follow(kinds: readonly WatchedKind[]): void
  state(): readonly KindWatchState[]
  close(): Promise<void>
}

/** Milliseconds without a proof. */
export const STALE_AFTER = 60_000
