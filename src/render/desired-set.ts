/** What the package says should run, and where each object was written. */
import type { Resource } from '../krm/resource.ts'
import type { Note } from '../note.ts'
import type { InventoryRef } from '../ports/cluster.ts'

export interface SourceLocation {
  /** From the root of the repository, with `/`. */
  readonly path: string
  /** Place of the document in the file, from 0. */
  readonly document: number
  /** Place in `items` when the document is a `kind: List`, from 0; undefined otherwise. */
  readonly item: number | undefined
  /** Line of the object's first key in the file, from 1. */
  readonly line: number
  /** Name of the function that made the object, which no file declares; path and line are then those of the function in its Kptfile. */
  readonly step?: string | undefined
}

export interface DesiredResource extends Resource {
  readonly location: SourceLocation
}

export interface DesiredSet {
  /** In the order of files, documents and list items. No id stands twice. */
  readonly resources: readonly DesiredResource[]
  /** The inventory that the package names (`resourcegroup.yaml`, or the Kptfile's `inventory`). */
  readonly inventory: InventoryRef | undefined
  /** `run`: the package has a pipeline, and this is what its functions made of the files. */
  readonly pipeline: 'none' | 'run'
  /** Things a reader should know that are no failure: a link that was not followed, a scalar that reads surprisingly. */
  readonly notes: readonly Note[]
}
