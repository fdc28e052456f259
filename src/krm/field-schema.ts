/**
 * What the server says about the shape of a kind, as far as drift needs it: which lists are maps, sets or atomic, and
 * which maps are atomic. Source: the `x-kubernetes-list-type`, `-list-map-keys` and `-map-type` extensions of the API
 * server's OpenAPI v3 document; see docs/facts/list-map-keys.md.
 */
import type { Json } from '../text/json.ts'

export type ListType = 'atomic' | 'set' | 'map'

export interface FieldSchema {
  readonly kind: 'object' | 'list' | 'scalar' | 'unknown'
  /** Objects only: atomic objects are owned and replaced as a whole. */
  readonly atomic: boolean
  /** Lists only. A list whose type the server does not name is atomic, as for server-side apply. */
  readonly listType: ListType
  /** List-maps only: the fields that name an item, in the server's order. */
  readonly keys: readonly string[]
  /** Scalars only: the value of `format` or `x-kubernetes-int-or-string`, as in `int32`, `byte`, `int-or-string`, `quantity`. */
  readonly format: string
  /** Whether the server reads it into a type of its own and writes it anew, as it does with built-in kinds and not with custom ones. */
  readonly typed?: boolean
  /** Objects only: the server knows every name, and drops or refuses others. */
  readonly closed?: boolean
  /** Whether `name` is declared, as a struct field is and a label is not. */
  declares(name: string): boolean
  /** What the server fills in for a field that is not there, as in `protocol: TCP`; undefined where there is none, or none is known. */
  defaultOf(name: string): Json | undefined
  child(name: string): FieldSchema
  items(): FieldSchema
}

/** Nothing is known: objects are granular, lists are atomic. This is how the server treats unknown fields of a CRD. */
export const UNKNOWN_SCHEMA: FieldSchema = {
  kind: 'unknown',
  atomic: false,
  listType: 'atomic',
  keys: [],
  format: '',
  declares: () => false,
  defaultOf: () => undefined,
  child: () => UNKNOWN_SCHEMA,
  items: () => UNKNOWN_SCHEMA,
}
