/** The objects that a package declares, with their locations. */
import type { FieldPath } from '@backporch/kyaml/field'
import type { Note } from '@backporch/kyaml/note'
import type { InventoryRef, Resource } from '@backporch/kyaml/resource'

export interface SourceLocation {
  /** From the root of the repository, with `/`. */
  readonly path: string
  /** Index of the document in the file. */
  readonly document: number
  /** Index in `items` where the document is a `kind: List`; undefined otherwise. */
  readonly item: number | undefined
  /** Line of the object's first key in the file, from 1. */
  readonly line: number
  /** Name of the function that created the object. Path and line are then those of the function in its Kptfile. */
  readonly step?: string | undefined
}

export interface DesiredResource extends Resource {
  readonly location: SourceLocation
  /** Where it has values of a Secret, which are never shown. */
  readonly hidden?: readonly FieldPath[]
}

export interface DesiredSet {
  /** In the order of files, documents and list items. Each id occurs once. */
  readonly resources: readonly DesiredResource[]
  /** The inventory that the package names (`resourcegroup.yaml`, or the Kptfile's `inventory`). */
  readonly inventory: InventoryRef | undefined
  /** Where a namespaced object without a namespace goes; undefined: where the context points. */
  readonly namespace?: string
  /** `run`: the objects are the output of a pipeline. */
  readonly pipeline: 'none' | 'run'
  /** Remarks that are no failures: a link that was not followed, a scalar that reads surprisingly. */
  readonly notes: readonly Note[]
}
