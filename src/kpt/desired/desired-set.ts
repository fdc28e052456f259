import type { FieldPath } from '@backporch/kyaml/field'
import type { Note } from '@backporch/kyaml/note'
import type { InventoryRef, Resource } from '@backporch/kyaml/resource'

export interface SourceLocation {
  /** From the repository root. */
  readonly path: string
  readonly document: number
  /** In `items` of a `kind: List`; otherwise undefined. */
  readonly item: number | undefined
  /** From 1. */
  readonly line: number
  /** The function that created the object. Path and line are then the function's in its Kptfile. */
  readonly step?: string | undefined
}

export interface DesiredResource extends Resource {
  readonly location: SourceLocation
  /** Locations of a Secret's values, which are never shown. */
  readonly hidden?: readonly FieldPath[]
}

export interface DesiredSet {
  /** Each id once, in the order of files. */
  readonly resources: readonly DesiredResource[]
  readonly inventory: InventoryRef | undefined
  /** Of namespaced objects without one; undefined: the context's. */
  readonly namespace?: string
  /** `run`: output of a pipeline. */
  readonly pipeline: 'none' | 'run'
  readonly notes: readonly Note[]
}
