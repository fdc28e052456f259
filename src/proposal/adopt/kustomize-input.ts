/** What is known of a unit that another tool than kpt renders, to edit it and to prove the edit. */

import type { FieldPath } from '../../krm/field-path.ts'
import type { DesiredResource } from '../../render/desired-set.ts'
import type { BuiltSource } from '../../render/kustomize/read-built.ts'
import type { BuildLibrary } from '../../render/package-builder.ts'
import type { ResolvedChange } from '../resolution-edits.ts'
import type { Wanted } from './candidate.ts'

/** Another unit that reads files which this one is built from. */
export interface SharingUnit {
  /** `apps/staging`, or `apps/shop (kustomize overlays/staging)` where the package is rendered in several ways. */
  readonly name: string
  /** The files that both read, by path from the root of the repository. */
  readonly files: ReadonlySet<string>
  /** What it is built from; undefined where no build but the files themselves make it. */
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

/** A field of an object that was built. */
export interface BuiltTarget {
  readonly desired: DesiredResource
  readonly path: FieldPath
  readonly wanted: Wanted
  /** Name of the object in the file that declares it; empty where no file does. */
  readonly declaredName: string
}
