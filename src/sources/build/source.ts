/**
 * The interface of a source. There is one value per kind of source, in its folder; registry.ts
 * lists all and chooses.
 */
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
  readonly discover: SourceDiscovery | 'none'
  readonly describe: (choice: Choice) => Description
  readonly policy: PolicyFields<Choice> | 'none'
  /**
   * Runs nothing.
   * @throws OversizedRead, Failure BP40xx when git fails
   */
  readonly filesRead: (
    commit: CommitFiles,
    unit: UnitFiles<Choice>,
    signal: AbortSignal,
  ) => Promise<FilesRead>
  /** @throws Failure BP9001 if the renderer broke, and the signal's reason */
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

export interface Description {
  readonly title: string
  readonly how: string
  /** Equal if the same files build the same. */
  readonly key: readonly string[]
  /** Instead of its source: `Helm release shop/web`. */
  readonly unit?: string
  readonly synced?: SyncerBuild
  /** Asks for the cluster's served APIs. */
  readonly forCluster?: (capabilities: ClusterCapabilities) => RenderChoice
  /**
   * What kubectl applies; `kustomization` is the folder from the package. `none`: another tool's
   * output.
   */
  readonly kubectl: 'files' | 'rendered files' | { readonly kustomization: string } | 'none'
  /** The folder's manifests, every file in it, or individually named files anywhere. */
  readonly reads: 'manifests' | 'every file' | 'named files'
}

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
  readonly choiceOf: (fields: RenderFields) => Choice
}

export interface UnitFiles<Choice extends RenderChoice> {
  /** From the repository root. */
  readonly packagePath: string
  readonly files: PackageFiles
  readonly choice: Choice
}

export interface FilesRead {
  /** Undefined if kpt renders the unit, or its files are applied unchanged. */
  readonly source: BuiltSource | undefined
  /** From the repository root. */
  readonly paths: ReadonlySet<string>
  readonly failures: readonly Failure[]
}

export interface OriginUnit {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly functions: FunctionLibrary
  readonly built: Pick<BuiltUnit, 'source'> | undefined
  readonly resources: readonly DesiredResource[]
}

export interface EditInput {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly pipeline: boolean
  readonly functions: FunctionLibrary
  readonly built?: BuiltUnit | undefined
  readonly changes: readonly ResolvedChange[]
}

export interface SourceEdit {
  readonly changes: readonly FileChange[]
  readonly notes: readonly Note[]
}

export interface SourceEditor {
  /** @throws Failure BP1207, BP2001, BP2002, BP2007, BP2010 or BP2014; Unanswered where something has to run first */
  readonly apply: (input: EditInput) => SourceEdit
  /**
   * Whole undeclared objects. @param edited with the edits of other changes
   * @throws as `apply`
   */
  readonly place: (input: EditInput, edited: readonly FileChange[]) => readonly FileChange[]
  /**
   * In order; undefined if the change can be adopted.
   * @throws as `apply`
   */
  readonly problems: (input: EditInput) => readonly (string | undefined)[]
}
