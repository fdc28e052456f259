/** Changes of the objects of a cluster, as they come. */
import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'

/** Objects to follow: a kind in all namespaces, or in one. */
export interface WatchedKind {
  /** Without a version (`argoproj.io/`), the one that the server prefers. */
  readonly apiVersion: string
  readonly kind: string
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string
  /** Only kind, apiVersion and metadata are requested. */
  readonly metadataOnly: boolean
}

/**
 * Called synchronously, in the order of the server. An exception is reported as the failure of the kind and loses that one object's
 * event only.
 */
export interface WatchObserver {
  /** A complete list begins: `changed` for each of its objects, then `listed`. A list that breaks off begins again. */
  listing(kind: WatchedKind): void
  /** The object as it is now. @param read milliseconds of the monotonic clock: when the event was read from the connection */
  changed(kind: WatchedKind, object: JsonObject, read: number): void
  /** Also between `listing` and `listed`. @param object its last state */
  deleted(kind: WatchedKind, object: JsonObject, read: number): void
  /** Every object that the list did not have is absent. */
  listed(kind: WatchedKind): void
  /** The kind cannot be followed: nothing is known of it until it is listed again. Called once for each cause. */
  unreadable(kind: WatchedKind, failure: Failure): void
}

export interface KindWatchState {
  readonly watched: WatchedKind
  /** `waiting`: for the next attempt, with what is known as it was. */
  readonly state: 'listing' | 'watching' | 'waiting' | 'unreadable'
  /**
   * Milliseconds since 1970 of the last proof that nothing was missed: an event, a bookmark, a PING of its connection, or the end of a stream in order. 0 before the first.
   * A server that lags behind its store may not know yet what happened in the 40 s before that (docs/facts/stale-replicas.md).
   */
  readonly provenAt: number
  /** Why it is `waiting` or `unreadable`; while it is `watching`, which object was lost since the last list: unreadable, or the observer threw. */
  readonly failure: Failure | undefined
  /** Since the start: complete lists, reopened streams, events and bookmarks. */
  readonly lists: number
  readonly reopened: number
  readonly events: number
}

export interface ClusterWatch {
  /** Name of the cluster. */
  readonly cluster: string
  /** Replaces the set: new kinds are listed, and what is not in it any more is not followed any more. */
  follow(kinds: readonly WatchedKind[]): void
  /** One for each followed kind. A kind is stale when its proof is older than a minute. */
  state(): readonly KindWatchState[]
  close(): Promise<void>
}

/** Milliseconds without a proof after which what a watch knows is stale. */
export const STALE_AFTER = 60_000
