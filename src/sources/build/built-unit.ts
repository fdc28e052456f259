/** A unit that another tool than kpt renders, as input of an edit and of its proof. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { FieldPath } from '@backporch/kyaml/field'
import type { ResolvedChange } from '../edits/resolution-edits.ts'
import type { Wanted } from '../locate/candidate.ts'
import type { BuildLibrary } from '../programs/package-builder.ts'
import type { BuiltSource } from './built-source.ts'

/** Another unit that reads files of this one. */
export interface SharingUnit {
  /** `apps/staging`, or `apps/shop (kustomize overlays/staging)` where the package is rendered in several ways. */
  readonly name: string
  /** Paths of the shared files from the root of the repository. */
  readonly files: ReadonlySet<string>
  /** Undefined where the unit is not built. */
  readonly source: BuiltSource | undefined
}

export interface BuiltUnit {
  readonly source: BuiltSource
  readonly library: BuildLibrary
  readonly others: readonly SharingUnit[]
}

export interface BuiltAdoptionInput extends BuiltUnit {
  readonly changes: readonly ResolvedChange[]
}

/** A field of a built object. */
export interface BuiltTarget {
  readonly desired: DesiredResource
  readonly path: FieldPath
  readonly wanted: Wanted
  /** Name of the object in its file; empty where no file declares it. */
  readonly declaredName: string
}
