/** What Backporch knows of one kind of source, as one value in the folder of the source. registry.ts has all of them, and chooses. */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { FunctionLibrary } from '@backporch/kpt/function'
import type { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import type { CommitFiles } from '../commit/commit-files.ts'
import type { ResolvedChange } from '../edits/resolution-edits.ts'
import type { PackageRenderer, TurnRendering } from '../kpt/render/package-renderer.ts'
import type { BuiltSource, ClusterCapabilities, LinesOf, SyncerBuild } from './built-source.ts'
import type { BuiltUnit } from './built-unit.ts'
import type { RenderChoice } from './render-choice.ts'
import type { SourceDiscovery } from './unit-source.ts'

export interface Source<Choice extends RenderChoice> {
  /** How the resources of a cluster, or of files, name its units; `none` where policies and files alone do. */
  readonly discover: SourceDiscovery | 'none'
  readonly describe: (choice: Choice) => Description
  /** How a policy chooses it; `none` where no policy can. */
  readonly policy: PolicyFields<Choice> | 'none'
  /** Every file that the unit is built from. Runs nothing. @throws OversizedRead, Failure BP40xx when git fails */
  readonly filesRead: (
    commit: CommitFiles,
    unit: UnitFiles<Choice>,
    signal: AbortSignal,
  ) => Promise<FilesRead>
  /** @param read of this unit. @throws Failure BP9001 where the renderer broke, and the signal's reason */
  readonly build: (
    renderer: PackageRenderer,
    unit: UnitFiles<Choice>,
    read: FilesRead,
    signal: AbortSignal,
  ) => Promise<TurnRendering>
  /** Lines for people: where the value of a field is authored. @throws Unanswered, Failure of the files */
  readonly originOf: (unit: OriginUnit) => LinesOf
  readonly edit: SourceEditor
}

/** What others need to know of a choice, so that nobody asks which source it is of. */
export interface Description {
  /** `kustomize overlays/prod`, for people. */
  readonly title: string
  /** After "rendered": `with kustomize overlays/prod`. */
  readonly how: string
  /** Equal for choices that build the same of the same files. */
  readonly key: readonly string[]
  /** What the unit is known by in place of its source: `Helm release shop/web`. */
  readonly unit?: string
  /** The build of a syncer, for a resource of its own. */
  readonly synced?: SyncerBuild
  /** The choice where the cluster is known, of which it asks what it serves. */
  readonly forCluster?: (capabilities: ClusterCapabilities) => RenderChoice
  /**
   * What kubectl applies: the files as they stand, those that `kpt fn render` wrote, or a kustomization, by its folder from the package. `none`:
   * the output of something else.
   */
  readonly kubectl: 'files' | 'rendered files' | { readonly kustomization: string } | 'none'
  /** What the unit is made of: the manifests of its folder, every file of it, or files that are named one by one, wherever they are. */
  readonly reads: 'manifests' | 'every file' | 'named files'
}

/** Fields of `spec.render` of a DriftPolicy beside `tool`. */
export interface RenderFields {
  readonly path: string
  readonly command: readonly string[]
  readonly release: string
  readonly namespace: string
  readonly values: readonly string[]
}

export interface PolicyFields<Choice> {
  readonly allowed: readonly (keyof RenderFields)[]
  readonly required: readonly (keyof RenderFields)[]
  /** @param fields checked; what is not given is empty */
  readonly choiceOf: (fields: RenderFields) => Choice
}

export interface UnitFiles<Choice extends RenderChoice> {
  /** From the root of the repository; empty for the root. */
  readonly packagePath: string
  /** Of the package's folder. */
  readonly files: PackageFiles
  readonly choice: Choice
}

export interface FilesRead {
  /** Undefined where kpt renders the unit, or its files are applied as they are. */
  readonly source: BuiltSource | undefined
  /** From the root of the repository. */
  readonly paths: ReadonlySet<string>
  /** Why it cannot be built, whatever a program would say. */
  readonly failures: readonly Failure[]
}

export interface OriginUnit {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly functions: FunctionLibrary
  readonly built: Pick<BuiltUnit, 'source'> | undefined
  /** The objects of the unit. */
  readonly resources: readonly DesiredResource[]
}

export interface EditInput {
  readonly packagePath: string
  readonly files: PackageFiles
  /** Whether the package has a pipeline: then the inputs of its functions are edited. */
  readonly pipeline: boolean
  readonly functions: FunctionLibrary
  readonly built?: BuiltUnit | undefined
  readonly changes: readonly ResolvedChange[]
}

export interface SourceEdit {
  readonly changes: readonly FileChange[]
  /** What a reader of the edit should know. */
  readonly notes: readonly Note[]
}

/** Adopt and Release as edits of the authored files: proven by a render, in which the chosen fields move and nothing else. */
export interface SourceEditor {
  /** @throws Failure BP1207, BP2001, BP2002, BP2007, BP2010 or BP2014; Unanswered where something has to run first */
  readonly apply: (input: EditInput) => SourceEdit
  /** Writes whole objects that git does not declare. @param edited with the edits of other changes. @throws as `apply` */
  readonly place: (input: EditInput, edited: readonly FileChange[]) => readonly FileChange[]
  /** Why each change cannot be adopted, in their order; undefined where it can. @throws as `apply` */
  readonly problems: (input: EditInput) => readonly (string | undefined)[]
}
