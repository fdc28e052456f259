/** What the cluster answered, per object. Every wanted id gets an answer; unreadable is never reported as absent. */
import type { Failure } from '../failure.ts'
import type { JsonObject } from '../text/json.ts'
import type { ResourceId } from './resource-id.ts'

export type LiveState =
  | {
      readonly state: 'present'
      readonly object: JsonObject /** Secrets read as metadata only have no content. */
      readonly metadataOnly: boolean
    }
  /** Claimed only after a complete list of one resource version. */
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly failure: Failure }

/** By `resourceKey`. */
export type LiveView = ReadonlyMap<string, LiveState>

/** An object to look for. */
export interface WantedObject {
  readonly id: ResourceId
  /** As its manifest names it; empty asks for the version that the server prefers for the group and kind. */
  readonly apiVersion: string
}

/**
 * Why a server will not take an object. `Denied`: a policy or webhook says no. `Immutable`: a field may not change once it is set.
 * `UnknownField`: the kind has no such field. `Invalid`: all else that validation refuses. The rest say it by their names.
 */
export type RefusalReason =
  | 'Denied'
  | 'Immutable'
  | 'NamespaceTerminating'
  | 'NamespaceMissing'
  | 'UnknownField'
  | 'QuotaExceeded'
  | 'Conflict'
  | 'TooLarge'
  | 'Invalid'

/**
 * The server's answer to a dry-run apply.
 * `refused`: the server read the object and will not take it (422, 400, 409; policy 403), so a plain re-apply fails too.
 * `unproven`: nobody could say (a recorded cluster, no right to patch, an outage).
 */
export type Prediction =
  | { readonly state: 'predicted'; readonly object: JsonObject }
  | { readonly state: 'refused'; readonly failure: Failure; readonly reason?: RefusalReason }
  | { readonly state: 'unproven'; readonly failure: Failure }
