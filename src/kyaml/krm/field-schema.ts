/**
 * The shape of a kind, as far as drift needs it: which lists are maps, sets or atomic, and which maps are atomic. Source: the extensions
 * `x-kubernetes-list-type`, `-list-map-keys` and `-map-type` of the OpenAPI v3 document; docs/facts/list-map-keys.md.
 */
import type { Json } from '../text/json.ts'

export type ListType = 'atomic' | 'set' | 'map'

export interface FieldSchema {
  readonly kind: 'object' | 'list' | 'scalar' | 'unknown'
  /** Objects only: atomic objects are owned and replaced as a whole. */
  readonly atomic: boolean
  /** Lists only. A list without a type is atomic, as in server-side apply. */
  readonly listType: ListType
  /** List-maps only: the key fields, in the server's order. */
  readonly keys: readonly string[]
  /** Scalars only: the value of `format` or `x-kubernetes-int-or-string`, as in `int32`, `byte`, `int-or-string`, `quantity`. */
  readonly format: string
  /** Whether the server decodes it into a Go type, as for built-in kinds. */
  readonly typed?: boolean
  /** Objects only: whether the server drops or refuses undeclared names. */
  readonly closed?: boolean
  /** Whether `name` is declared: a struct field is, and a label is not. */
  declares(name: string): boolean
  /** Whether the schema demands `name`; left out where none is demanded. The server may have a default for it all the same. */
  requires?(name: string): boolean
  /** The server's default of an absent field, as in `protocol: TCP`; undefined if none is known. */
  defaultOf(name: string): Json | undefined
  child(name: string): FieldSchema
  items(): FieldSchema
}

/** An unknown schema: objects are granular and lists atomic, as the server treats unknown fields of a CRD. */
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
