/** A unit whose objects a program prints, and what differs between the programs. */
import type { DesiredResource, SourceLocation } from '@backporch/kpt/desired-set'
import type { FieldPath } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Json } from '@backporch/kyaml/json'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import type { SourceLocations, Wanted } from '../locate/candidate.ts'
import type { Build, BuildAnswer, BuildLibrary } from '../programs/package-builder.ts'
import type { SyncerBuild } from './syncer-build.ts'

/** A unit that is built: its folder in git, and the input of the build. */
export interface BuiltSource {
  readonly packagePath: string
  /** Files of the package's folder. */
  readonly package: PackageFiles
  /** What builds it. */
  readonly tool: BuildTool
  /** Folder of the kustomization, the chart or the package, from the root of the repository. */
  readonly folder: string
  /** Authored files by path from the root of the repository. */
  readonly files: SourceFiles
  /** Program and arguments; empty for kustomize and Helm. */
  readonly command: readonly string[]
  /** Where a syncer builds it: what it makes of the folder. */
  readonly synced?: SyncerBuild | undefined
  /** Of a resource that another unit applies: that unit, with the files that the cluster has. Other files are those of an edit or a merge. */
  readonly parent?: BuiltSource | undefined
  /** Whether the syncer has a file, by path from the root of the repository; undefined where it has all of them. */
  readonly isPacked?: ((path: string) => boolean) | undefined
}

export type BuildInput = Omit<BuiltSource, 'packagePath' | 'package'>

/** Each is a value in the folder of its source, and nothing else asks which one it is. */
export interface BuildTool {
  readonly name: Build['tool']
  /** The run of the program, or its answer where none is needed. @throws MissingBuilds where another run comes first, Failure where there is none */
  readonly order: (source: BuildInput, library: BuildLibrary) => Build | BuildAnswer
  /** Whether the objects keep the marks of their origin. */
  readonly keepsOrigins: (source: BuiltSource) => boolean
  /** The location of an object by itself, and by its line in the output. */
  readonly locationsIn: (source: BuiltSource) => (object: Json, text: string, line: number) => SourceLocation
  /** Lines for people: where the value of a field comes from. @param resources the objects that are built */
  readonly originOf: (source: BuiltSource, resources: readonly DesiredResource[]) => LinesOf
  readonly locator: Locator | NoLocator
}

/** Nothing in the repository says where a value of the output comes from, so nothing is adopted. */
export interface NoLocator {
  /** In a table of changes. */
  readonly why: string
  readonly refusal: (source: BuiltSource) => { readonly why: string; readonly remedy: string }
}

/** Whether the repository says where the values of the output come from. */
export function isLocated({ tool }: BuiltSource): boolean {
  return !('refusal' in tool.locator)
}

export type LinesOf = (desired: DesiredResource, path: FieldPath) => readonly string[]

export interface Locator {
  /** @throws MissingBuilds where a program has to run first, Failure of the files */
  readonly locationsOf: (source: BuiltSource, library: BuildLibrary, desired: DesiredResource) => ObjectLocations
  /** Whether values with the defaults of the server come before those without: the files write the defaults themselves. */
  readonly writesDefaults: boolean
  /** Whether the next apply makes the object anew in any case, so that a change in it moves nothing. */
  readonly isMadeAnew: (object: DesiredResource) => boolean
}

/** Groups of edits in order: a group counts where none of those before it has a result. */
export interface ObjectLocations {
  find(field: { readonly path: FieldPath; readonly wanted: Wanted }): readonly SourceLocations[]
  /** Of an object that is not in the cluster. */
  removal(): readonly SourceLocations[]
}
