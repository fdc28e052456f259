/** A unit whose objects a program prints: what is built, what differs between the programs, and what a syncer makes of a folder. */
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
  /** `Flux Kustomization flux-system/apps`. */
  readonly title: string
  /** What it builds, from the root of the repository. */
  readonly folder: string
  /** The resource, as the cluster has it or as a file of the repository declares it. */
  readonly object: JsonObject
  /** Of a resource that another resource of a syncer applies: how that one is built. Edits of its files change the resource. */
  readonly parent?: SyncerBuild | undefined
  /** With `parent`: its files at the commit that the cluster has; those of the commit that is built, unless given. */
  readonly appliedFiles?: SourceFiles | undefined
  /** With `parent`: whether the chart in the folder is rendered, because nothing is known of what Helm stored. */
  readonly ownChart?: boolean | undefined
  /** Objects beside the resource that decide about the build too. */
  readonly inputs?: readonly ResourceId[] | undefined
  /** Where the repository declares the resource, for objects of a chart that is not in the repository. */
  readonly place?: SourceLocation | undefined
  /** The file that declares it with the same specification: an edit there changes what is built. From the root of the repository. */
  readonly declared?: Declaration | undefined
  /** Of the ConfigMaps and Secrets that `substituteFrom` names, the later ones over the earlier ones. */
  readonly variables: ReadonlyMap<string, string>
  /** The ConfigMap or Secret that each of `variables` is from, by its name. */
  readonly variableSources?: ReadonlyMap<string, VariableSource> | undefined
  /** What the cluster has of a release: another one is another build. */
  readonly release?:
    | { readonly revision: number; readonly entries: readonly (string | undefined)[] }
    | undefined
  /** Of the cluster that it is built for. */
  readonly capabilities?: ClusterCapabilities | undefined
  /** Why it cannot be built, as a clause. */
  readonly problem?: string
  readonly builder: SyncerBuilder
  /** What packs the files for the syncer, and may leave some out; undefined where the syncer reads the repository itself. */
  readonly artifact?: SourceArtifact | undefined
  /** Why a merge alone does not change what is applied, and what has to move; undefined where it does. */
  readonly pinned?: string | undefined
}

/** A ConfigMap or Secret with variables. */
export interface VariableSource extends ResourceId {
  /** The file that sets the variable, where an edit there changes what is built. */
  readonly place?: VariablePlace
}

/** A text in a document of a file. */
interface VariablePlace {
  /** From the root of the repository. */
  readonly path: string
  readonly document: number
  readonly at: Steps
}

/** By the name of the variable. */
export function variablePlaces({
  variableSources = new Map(),
}: Pick<SyncerBuild, 'variableSources'>): ReadonlyMap<string, VariablePlace> {
  return new Map(
    [...variableSources].flatMap(([name, { place }]) =>
      place === undefined ? [] : [[name, place] as const],
    ),
  )
}

/** The document of a file that declares a resource, or another one that a controller makes it of. */
export interface Declaration {
  /** From the root of the repository. */
  readonly path: string
  /** Index of the document in the file. */
  readonly document: number
  /** Undefined where the document is the resource. */
  readonly maker?: ResourceMaker | undefined
}

/** How a controller makes a resource of another one, as Applications of an ApplicationSet. */
export interface ResourceMaker {
  /** Where the document has the fields of the resource. */
  readonly template: readonly (string | number)[]
  /** Files that it reads beside the document, from the root of the repository. */
  readonly reads: readonly string[]
  /** The resource that it makes of an edited document and edited files; undefined where it makes none. */
  readonly resourceOf: (document: JsonObject, files: SourceFiles) => JsonObject | undefined
  /** Places of which a text of the template is filled. */
  readonly sourcesOf: (
    document: JsonObject,
    files: SourceFiles,
    edit: TemplateEdit,
  ) => readonly FilledFrom[]
}

interface TemplateEdit {
  /** Of the template. */
  readonly text: string
  /** Of the resource. */
  readonly wanted: string
}

interface FilledFrom {
  readonly name: string
  /** One of `reads`; undefined for the document itself. */
  readonly file: string | undefined
  readonly at: readonly (string | number)[]
  /** What the place has to have. */
  readonly value: string
}

export interface SourceArtifact extends ArtifactContent {
  /** `GitRepository flux-system/apps`. */
  readonly title: string
  /** Every artifact of this repository: the file that declares the resource is applied from one of them. */
  readonly all: readonly ArtifactContent[]
}

/** What a chart asks of the cluster (`.Capabilities`). */
export interface ClusterCapabilities {
  /** `v1.34.3`; empty where unknown. */
  readonly version: string
  /** `apps/v1` and `apps/v1/Deployment`; empty where unknown. */
  readonly apiVersions: readonly string[]
}

/** What a chart is rendered from. */
export interface HelmInput {
  readonly build: SyncerBuild
  /** The syncer's resource. */
  readonly object: JsonObject
  /** What the repository declares beside the resource; undefined where the cluster has it. */
  readonly declared?: ReadonlyMap<string, JsonObject> | undefined
  readonly folder: string
  readonly files: SourceFiles
}

/** A chart, with everything that gives it values. */
export interface HelmChart {
  readonly order: HelmOrder
  readonly chart: ChartFiles
  /** `the chart podinfo 6.5.0`, for people; empty where it is in the repository. */
  readonly title: string
  /** The later ones over the earlier ones; the defaults of the chart are first. */
  readonly layers: readonly ValuesLayer[]
}

export interface ValuesLayer {
  readonly values: JsonObject
  readonly place: ValuesPlace
  /** Whether it is of the chart itself, so that everybody who uses the chart has it. */
  readonly isDefault: boolean
}

type Steps = readonly (string | number)[]

/** Where values are authored. */
export type ValuesPlace =
  /** A file of the repository; `under`: the values are those of a dependency with this name. */
  | { readonly kind: 'file'; readonly path: string; readonly under: Steps }
  /** A map in a document of a file. */
  | { readonly kind: 'field'; readonly path: string; readonly document: number; readonly at: Steps }
  /** A text with YAML in a document of a file. */
  | { readonly kind: 'text'; readonly path: string; readonly document: number; readonly at: Steps }
  /** Items with `name` and `value` in a document of a file. */
  | {
      readonly kind: 'parameters'
      readonly path: string
      readonly document: number
      readonly at: Steps
    }
  /** A field of the resource, which the unit builds that applies it. */
  | { readonly kind: 'resource'; readonly at: Steps }
  /** An entry with YAML of a ConfigMap, which the unit builds that applies the resource. */
  | {
      readonly kind: 'entry'
      readonly namespace: string
      readonly name: string
      readonly key: string
    }
  | { readonly kind: 'elsewhere'; readonly title: string }

/** A run of `helm`. */
export interface HelmOrder {
  /** Its arguments, with paths from the root of the repository. */
  readonly words: readonly string[]
  /** Files that are in no repository, such as the values of a resource; below `.git`, where no commit has a file. */
  readonly written: PackageFiles
  /** Whether `written` has values of Secrets: then nothing is told of what Helm says. */
  readonly hasSecrets?: boolean
  /** What kustomize makes of the output afterwards, one after the other. */
  readonly postRenderers?: readonly PostRenderer[]
}

export interface PostRenderer {
  /** Fields of a kustomization. */
  readonly kustomization: JsonObject
  /** Where the resource has them. */
  readonly at: Steps
}

/** The kustomization that a syncer writes into the folder, and whether the objects keep the marks of their origin. */
export interface WrittenKustomization {
  readonly path: string
  readonly text: string
  readonly keepsOrigins: boolean
  /** Whether the syncer renders no charts within it, and fails with one. */
  readonly isWithoutHelm?: boolean
}

export interface BuiltDocument {
  readonly text: string
  /** The document with other values in place of those of Secrets; undefined where it has none. */
  readonly other?: string
  /** Whether variables were substituted in it. */
  readonly isSubstituted?: boolean
}

/** How a syncer fills variables in the texts of built objects. */
export interface Substitution {
  /** Where the resource sets them, below `fields`. */
  readonly at: readonly string[]
  /** Those that the resource sets over those of the ConfigMaps and Secrets that it names. */
  readonly variables: (build: SyncerBuild, object: JsonObject) => ReadonlyMap<string, string>
  /** None in a text that cannot be filled. */
  readonly namesIn: (text: string) => readonly string[]
  /** @param valueFor undefined for a variable that nobody sets */
  readonly fill: (text: string, valueFor: (name: string) => string | undefined) => string
  /** Whether the variables of the object are filled. */
  readonly isIn: (built: JsonObject) => boolean
}

/** How one kind of resource is built; `object` is the resource, and `folder` is from the root of the repository. */
export interface SyncerBuilder {
  /** Where the resource has fields of a kustomization. */
  readonly fields: readonly (string | number)[]
  /** Names of files in the folder that have fields of a kustomization in one of theirs. */
  readonly overrides: { readonly names: readonly string[]; readonly field: string }
  /** What builds the folder. */
  readonly tool: BuildTool
  /** The variables that it fills in what kustomize built. */
  readonly substitution: Substitution | 'none'
  /** What it adds of `components`. */
  readonly components: (object: JsonObject) => readonly string[]
  /**
   * With `kustomization`, kustomize builds the folder; with `helm`, Helm renders it as a chart, with files that `reads` names too, from the
   * root of the repository; with `print`, nothing but the files is read. @throws Failure where the syncer fails
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
        /** The chart as it is rendered, and its values; without a render what Helm stored does not say which template made an object. */
        readonly chart: (input: HelmInput) => HelmChart
        readonly reads: (
          object: JsonObject,
          folder: string,
          files: SourceFiles,
        ) => readonly string[]
      }
    | { readonly print: (object: JsonObject, folder: string, files: SourceFiles) => string }
  /** Where a namespaced object without a namespace goes; undefined: where the context points. */
  readonly namespace: (object: JsonObject) => string | undefined
  /** The documents of the output. @throws Failure BP1209 where a substitution fails */
  readonly documents: (
    build: SyncerBuild,
    object: JsonObject,
    text: string,
  ) => readonly BuiltDocument[]
  /** What becomes of each object in the end; undefined where it is not applied. @throws Failure BP1209 where the syncer fails */
  readonly finished: (
    built: JsonObject,
    object: JsonObject,
    document: BuiltDocument,
  ) => JsonObject | undefined
}

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
  /** With `parent`: whether the resource is what the files declare, and not what the cluster has. */
  readonly asDeclared?: boolean | undefined
  /** Whether the syncer has a file, by path from the root of the repository; undefined where it has all of them. */
  readonly isPacked?: ((path: string) => boolean) | undefined
  /** Whether the commit has a file there, also one that nothing of the unit reads. */
  readonly isTaken?: ((path: string) => boolean) | undefined
}

export type BuildInput = Omit<BuiltSource, 'packagePath' | 'package'>

/** Each is a value in the folder of its source, and nothing else asks which one it is. */
export interface BuildTool {
  readonly name: Build['tool']
  /** The run of the program, or its answer where none is needed. @throws Unanswered where another run comes first, Failure where there is none */
  readonly order: (source: BuildInput, library: BuildLibrary) => Build | BuildAnswer
  /** Whether the output depends on what the cluster serves. */
  readonly asksCluster: boolean
  /** Whether the objects keep the marks of their origin. */
  readonly keepsOrigins: (source: BuiltSource) => boolean
  /** The location of an object by itself, and by its line in the output. */
  readonly locationsIn: (
    source: BuiltSource,
  ) => (object: Json, text: string, line: number) => SourceLocation
  /** Lines for people: where the value of a field comes from. @param resources the objects that are built */
  readonly originOf: (source: BuiltSource, resources: readonly DesiredResource[]) => LinesOf
  readonly locator: Locator | NoLocator
}

/** Nothing in the repository says where a value of the output comes from, so nothing is adopted. */
interface NoLocator {
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
  /** @throws Unanswered where a program has to run first, Failure of the files */
  readonly locationsOf: (
    source: BuiltSource,
    library: BuildLibrary,
    desired: DesiredResource,
  ) => ObjectLocations
  /** Whether values with the defaults of the server come before those without: the files write the defaults themselves. */
  readonly writesDefaults: boolean
  /** Where only one unit has a value, for people: `a patch of its overlay`. */
  readonly ownPlace: (source: BuiltSource) => string
  /** Whether the next apply makes the object anew in any case, so that a change in it moves nothing. */
  readonly isMadeAnew: (object: DesiredResource) => boolean
}

/** Groups of edits in order: a group counts where none of those before it has a result. */
export interface ObjectLocations {
  find(field: { readonly path: FieldPath; readonly wanted: Wanted }): readonly SourceLocations[]
  /** Of an object that is not in the cluster. */
  removal(): readonly SourceLocations[]
}
