import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { FieldPath } from '@backporch/kyaml/field'
import type { ResolvedChange } from '../edits/resolution-edits.ts'
import type { Wanted } from '../locate/candidate.ts'
import type { BuildLibrary } from '../programs/package-builder.ts'
import type { BuiltSource } from './built-source.ts'

export interface SharingUnit {
  readonly name: string
  /** By path from the repository root. */
  readonly files: ReadonlySet<string>
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

export interface BuiltTarget {
  readonly desired: DesiredResource
  readonly path: FieldPath
  readonly wanted: Wanted
  /** Empty if no file declares the object. */
  readonly declaredName: string
}
