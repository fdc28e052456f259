/** Unreadable is never reported as absent. */
import type { Failure } from '../failure.ts'
import type { JsonObject } from '../text/json.ts'
import type { ResourceId } from './resource-id.ts'

export type LiveState =
  | {
      readonly state: 'present'
      readonly object: JsonObject /** Secrets read as metadata only have no content. */
      readonly metadataOnly: boolean
    }
  /** Only after a complete list of one resource version. */
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly failure: Failure }

/** By `getResourceKey`. */
export type LiveView = ReadonlyMap<string, LiveState>

export interface WantedObject {
  readonly id: ResourceId
  /** Empty: the server's preferred version. */
  readonly apiVersion: string
}

/**
 * `Denied`: by a policy or webhook. `UnknownField`, `Malformed`: depend only on the manifest,
 * whatever is live. `TwoOfOneKey`: two list items have the same key, which only a server-side apply
 * refuses. `Invalid`: any other validation error.
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
 * `refused`: 422, 400, 409, or policy 403, so a plain re-apply also fails. `unproven`: no answer (a
 * recorded cluster, no right to patch, an outage).
 */
export type Prediction =
  | { readonly state: 'predicted'; readonly object: JsonObject }
  | { readonly state: 'refused'; readonly failure: Failure; readonly reason?: RefusalReason }
  | { readonly state: 'unproven'; readonly failure: Failure }
