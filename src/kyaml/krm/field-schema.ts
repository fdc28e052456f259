/**
 * `x-kubernetes-list-type`, `-list-map-keys` and `-map-type` of the OpenAPI v3 document;
 * docs/facts/list-map-keys.md.
 */
import type { Json } from '../text/json.ts'

export type ListType = 'atomic' | 'set' | 'map'

export interface FieldSchema {
  readonly kind: 'object' | 'list' | 'scalar' | 'unknown'
  /** Owned and replaced as a whole. */
  readonly atomic: boolean
  /** A list without a type is atomic, like in server-side apply. */
  readonly listType: ListType
  readonly keys: readonly string[]
  /** `format` or `x-kubernetes-int-or-string`, such as `byte`, `quantity`. */
  readonly format: string
  /** Decoded into a Go type, like built-in kinds. */
  readonly typed?: boolean
  /** The server drops or rejects undeclared names. */
  readonly closed?: boolean
  /** A struct field is declared, a label is not. */
  hasField(name: string): boolean
  /** Absent if nothing is required. The server may still have a default. */
  requires?(name: string): boolean
  /** Such as `protocol: TCP`; undefined if unknown. */
  findDefault(name: string): Json | undefined
  getChildSchema(name: string): FieldSchema
  getItemSchema(): FieldSchema
}

/** Objects are granular and lists atomic, as the server treats unknown CRD fields. */
export const UNKNOWN_SCHEMA: FieldSchema = {
  kind: 'unknown',
  atomic: false,
  listType: 'atomic',
  keys: [],
  format: '',
  hasField: () => false,
  findDefault: () => undefined,
  getChildSchema: () => UNKNOWN_SCHEMA,
  getItemSchema: () => UNKNOWN_SCHEMA,
}
