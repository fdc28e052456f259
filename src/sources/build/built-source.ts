import type { DesiredResource, SourceLocation } from '@backporch/kpt/desired-set'
import type { FieldPath } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { ArtifactContent } from '../../syncers/flux-artifact/artifact-content.ts'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import type { SourceLocations, Wanted } from '../locate/candidate.ts'
import type { Build, BuildAnswer, BuildLibrary } from '../programs/package-builder.ts'
import type { ChartFiles } from './chart-templates.ts'

export interface SyncerBuild {
  /** As `Flux Kustomization flux-system/apps`. */
  readonly title: string
  /** From the repository root. */
  readonly folder: string
  /** From the cluster, or as a repository file declares it. */
  readonly object: JsonObject
  /** Of the syncer resource that applies this one. Edits of its files change the resource. */
  readonly parent?: SyncerBuild | undefined
  /** With `parent`: at the cluster's commit. Default: those of the built commit. */
  readonly appliedFiles?: SourceFiles | undefined
  /** With `parent`: the folder's chart is rendered, because Helm's stored release is unknown. */
  readonly ownChart?: boolean | undefined
  readonly inputs?: readonly ResourceId[] | undefined
  /** In the repository, for objects of a chart outside of it. */
  readonly place?: SourceLocation | undefined
  /** A file with the same specification: an edit there changes the build. */
  readonly declared?: Declaration | undefined
  /** Later ones override earlier ones. */
  readonly variables: ReadonlyMap<string, string>
  /** By variable name. */
  readonly variableSources?: ReadonlyMap<string, VariableSource> | undefined
  /** Another stored release is another build. */
  readonly release?:
    | { readonly revision: number; readonly entries: readonly (string | undefined)[] }
    | undefined
  readonly capabilities?: ClusterCapabilities | undefined
  /** Why there is no build, as a clause. */
  readonly problem?: string
  readonly builder: SyncerBuilder
  /** May omit files; undefined if the syncer reads the repository itself. */
  readonly artifact?: SourceArtifact | undefined
  /** Why a merge alone does not change what is applied, and what must move. */
  readonly pinned?: string | undefined
}

export interface VariableSource extends ResourceId {
  readonly place?: VariablePlace
}

interface VariablePlace {
  readonly path: string
  readonly document: number
  readonly at: Steps
}

export function mapVariablePlaces({
  variableSources = new Map(),
}: Pick<SyncerBuild, 'variableSources'>): ReadonlyMap<string, VariablePlace> {
  return new Map(
    [...variableSources].flatMap(([name, { place }]) =>
      place === undefined ? [] : [[name, place] as const],
    ),
  )
}

/** Or the document from which a controller creates the resource. */
export interface Declaration {
  readonly path: string
  readonly document: number
  /** Undefined if the document is the resource. */
  readonly generator?: ResourceGenerator | undefined
}

/** Such as Applications from an ApplicationSet. */
export interface ResourceGenerator {
  readonly template: readonly (string | number)[]
  /** From the repository root. */
  readonly reads: readonly string[]
  readonly resourceOf: (document: JsonObject, files: SourceFiles) => JsonObject | undefined
  readonly sourcesOf: (
    document: JsonObject,
    files: SourceFiles,
    edit: TemplateEdit,
  ) => readonly FilledFrom[]
}

interface TemplateEdit {
  readonly text: string
  readonly wanted: string
}

interface FilledFrom {
  readonly name: string
  readonly file: string | undefined
  readonly at: readonly (string | number)[]
  readonly value: string
}

export interface SourceArtifact extends ArtifactContent {
  /** As `GitRepository flux-system/apps`. */
  readonly title: string
  /** One of them applies the file that declares the resource. */
  readonly all: readonly ArtifactContent[]
}

export interface ClusterCapabilities {
  /** As `v1.34.3`; undefined if unknown. */
  readonly version: string | undefined
  /** As `apps/v1` and `apps/v1/Deployment`; empty if unknown. */
  readonly apiVersions: readonly string[]
}

export interface HelmInput {
  readonly build: SyncerBuild
  readonly object: JsonObject
  /** Declared in the repository; undefined if the cluster has the resource. */
  readonly declared?: ReadonlyMap<string, JsonObject> | undefined
  readonly folder: string
  readonly files: SourceFiles
}

export interface HelmChart {
  readonly order: HelmOrder
  readonly chart: ChartFiles
  /** As `the chart podinfo 6.5.0`; undefined for a chart in the repository. */
  readonly title: string | undefined
  /** Later ones override earlier ones; the chart's defaults come first. */
  readonly layers: readonly ValuesLayer[]
}

export interface ValuesLayer {
  readonly values: JsonObject
  readonly place: ValuesPlace
  /** All users of the chart have it. */
  readonly isDefault: boolean
}

type Steps = readonly (string | number)[]

export type ValuesPlace =
  /** `under`: a dependency with this name. */
  | { readonly kind: 'file'; readonly path: string; readonly under: Steps }
  | { readonly kind: 'field'; readonly path: string; readonly document: number; readonly at: Steps }
  | { readonly kind: 'text'; readonly path: string; readonly document: number; readonly at: Steps }
  | {
      readonly kind: 'parameters'
      readonly path: string
      readonly document: number
      readonly at: Steps
    }
  | { readonly kind: 'resource'; readonly at: Steps }
  /** YAML in a ConfigMap. The unit that applies the resource builds it. */
  | {
      readonly kind: 'entry'
      readonly namespace: string
      readonly name: string
      readonly key: string
    }
  | { readonly kind: 'elsewhere'; readonly title: string }

export interface HelmOrder {
  /** Paths are from the repository root. */
  readonly words: readonly string[]
  /** Such as a resource's values; below `.git`, where no commit has a file. */
  readonly written: PackageFiles
  /** Then Helm's messages are not shown. */
  readonly hasSecrets?: boolean
  readonly postRenderers?: readonly PostRenderer[]
}

export interface PostRenderer {
  readonly kustomization: JsonObject
  readonly at: Steps
}

export interface WrittenKustomization {
  readonly path: string
  readonly text: string
  readonly keepsOrigins: boolean
  readonly isWithoutHelm?: boolean
}

export interface BuiltDocument {
  readonly text: string
  /** With other values in place of Secret values; undefined without any. */
  readonly other?: string
  readonly isSubstituted?: boolean
}

export interface Substitution {
  readonly at: readonly string[]
  /** The resource's own override those of its ConfigMaps and Secrets. */
  readonly variables: (build: SyncerBuild, object: JsonObject) => ReadonlyMap<string, string>
  readonly namesIn: (text: string) => readonly string[]
  /** @param valueFor undefined for a variable that nobody sets */
  readonly fill: (text: string, valueFor: (name: string) => string | undefined) => string
  readonly isIn: (built: JsonObject) => boolean
}

/** `object` is the resource; `folder` is from the repository root. */
export interface SyncerBuilder {
  readonly fields: readonly (string | number)[]
  readonly overrides: { readonly names: readonly string[]; readonly field: string }
  readonly tool: BuildTool
  readonly substitution: Substitution | 'none'
  readonly components: (object: JsonObject) => readonly string[]
  /**
   * `kustomization`: kustomize builds the folder; `helm`: Helm renders it as a chart, also with the
   * files from `reads`; `print`: only the files are read.
   * @throws Failure where the syncer fails
   */
  readonly way:
    | {
        readonly kustomization: (
          object: JsonObject,
          folder: string,
          files: SourceFiles,
        ) => WrittenKustomization
      }
    | {
        readonly helm: (input: HelmInput) => HelmOrder | { readonly text: string }
        /** Helm's stored release does not say which template made an object. */
        readonly chart: (input: HelmInput) => HelmChart
        readonly reads: (
          object: JsonObject,
          folder: string,
          files: SourceFiles,
        ) => readonly string[]
      }
    | { readonly print: (object: JsonObject, folder: string, files: SourceFiles) => string }
  /** For objects without a namespace; undefined: the context's. */
  readonly namespace: (object: JsonObject) => string | undefined
  /** @throws Failure BP1209 where a substitution fails */
  readonly documents: (
    build: SyncerBuild,
    object: JsonObject,
    text: string,
  ) => readonly BuiltDocument[]
  /**
   * Undefined if the object is not applied.
   * @throws Failure BP1209 where the syncer fails
   */
  readonly finished: (
    built: JsonObject,
    object: JsonObject,
    document: BuiltDocument,
  ) => JsonObject | undefined
}

export interface BuiltSource {
  readonly packagePath: string
  readonly package: PackageFiles
  readonly tool: BuildTool
  /** From the repository root. */
  readonly folder: string
  /** By path from the repository root. */
  readonly files: SourceFiles
  /** Empty for kustomize and Helm. */
  readonly command: readonly string[]
  readonly synced?: SyncerBuild | undefined
  /**
   * The unit that applies the resource, with the cluster's files. Other files are those of an edit
   * or merge.
   */
  readonly parent?: BuiltSource | undefined
  /** With `parent`: the resource is as the files declare it, not as in the cluster. */
  readonly asDeclared?: boolean | undefined
  /** By path from the repository root; undefined if the syncer has all files. */
  readonly isPacked?: ((path: string) => boolean) | undefined
  readonly isTaken?: ((path: string) => boolean) | undefined
}

export type BuildInput = Omit<BuiltSource, 'packagePath' | 'package'>

/** No other code asks which tool it is. */
export interface BuildTool {
  readonly name: Build['tool']
  /** The run of the program, or its answer where none is needed. @throws Unanswered where another run comes first, Failure where there is none */
  readonly order: (source: BuildInput, library: BuildLibrary) => Build | BuildAnswer
  /** Then the output depends on what the cluster serves. */
  readonly asksCluster: boolean
  readonly keepsOrigins: (source: BuiltSource) => boolean
  readonly locationsIn: (
    source: BuiltSource,
  ) => (object: Json, text: string, line: number) => SourceLocation
  readonly originOf: (source: BuiltSource, resources: readonly DesiredResource[]) => LinesOf
  readonly locator: Locator | NoLocator
}

/** The repository does not say where a value comes from, so nothing is adopted. */
interface NoLocator {
  readonly why: string
  readonly refusal: (source: BuiltSource) => { readonly why: string; readonly remedy: string }
}

export function isLocated({ tool }: BuiltSource): boolean {
  return !('refusal' in tool.locator)
}

export type LinesOf = (desired: DesiredResource, path: FieldPath) => readonly string[]

export interface Locator {
  /** @throws Unanswered where a program has to run first, Failure of the files */
  readonly locationsOf: (
    source: BuiltSource,
    library: BuildLibrary,
    desired: DesiredResource,
  ) => ObjectLocations
  /** Then values with server defaults precede those without. */
  readonly writesDefaults: boolean
  /** For people: `a patch of its overlay`. Only one unit has a value there. */
  readonly ownPlace: (source: BuiltSource) => string
  /** The next apply recreates the object, so a change in it moves nothing. */
  readonly isMadeAnew: (object: DesiredResource) => boolean
}

export interface ObjectLocations {
  find(field: { readonly path: FieldPath; readonly wanted: Wanted }): readonly SourceLocations[]
  removal(): readonly SourceLocations[]
}
