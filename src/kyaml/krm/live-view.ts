/** The answer of the cluster for each object. Every wanted id gets one; unreadable is never reported as absent. */
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

/** An object to read. */
export interface WantedObject {
  readonly id: ResourceId
  /** As in its manifest; empty for the version that the server prefers. */
  readonly apiVersion: string
}

/**
 * Why a server refuses an object. `Denied`: a policy or webhook refuses it. `Immutable`: a field cannot be changed. `UnknownField`: the kind
 * has no such field. `Malformed`: a value does not fit its type. Both are said of the manifest alone, whatever is live. `TwoOfOneKey`: two
 * items of a list have one key, which only a server-side apply refuses. `Invalid`: any other validation error.
 */
export type RefusalReason =
  | 'Denied'
  | 'Immutable'
  | 'NamespaceTerminating'
  | 'NamespaceMissing'
  | 'UnknownField'
  | 'Malformed'
  | 'TwoOfOneKey'
  | 'QuotaExceeded'
  | 'Conflict'
  | 'TooLarge'
  | 'Invalid'

/**
 * The server's answer to a dry-run apply.
 * `refused`: the server refuses the object (422, 400, 409; policy 403), so a plain re-apply fails too.
 * `unproven`: there is no answer (a recorded cluster, no right to patch, an outage).
 */
export type Prediction =
  | { readonly state: 'predicted'; readonly object: JsonObject }
  | { readonly state: 'refused'; readonly failure: Failure; readonly reason?: RefusalReason }
  | { readonly state: 'unproven'; readonly failure: Failure }
