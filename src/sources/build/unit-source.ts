/** Units of a repository that are known by what a syncer applies (design §14). */
import type { DeployedRelease } from '@backporch/cluster/cluster'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { Declaration, ResourceMaker, SyncerBuild } from './built-source.ts'
import type { SyncedChoice } from './render-choice.ts'
import { isSameResource } from './syncer-object.ts'

/** A ConfigMap or Secret with values, in the namespace of the HelmRelease. */
export interface ValuesRef {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly namespace: string
  readonly name: string
  readonly optional: boolean
  readonly key: string
  /** Where the entry is one value; empty where it is a file of values. */
  readonly targetPath: string
}

export interface SetRepository {
  /** Whether the address is this repository. */
  readonly isHere: (address: string) => boolean
  readonly baseBranch: string
  /** Every folder, hidden ones left out, from the root; in the order of their paths, part by part. */
  readonly folders: () => readonly string[]
  /** Texts by path from the root, of the files that generators name; in the order of their paths. */
  readonly texts: ReadonlyMap<string, string>
}

/** A ConfigMap or Secret whose entries a build reads. */
export interface VariablesRef {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly namespace: string
  readonly name: string
  readonly optional: boolean
}

/** A folder of the repository, and what a syncer makes of it. */
export interface UnitSource {
  readonly tool: SyncedChoice['tool']
  /** `Flux Kustomization flux-system/apps`. */
  readonly title: string
  /** The syncer's own resource. */
  readonly id: ResourceId
  /** From the root of the repository; empty for the root. */
  readonly folder: string
  /** Whether another resource applies the folder itself, so that the unit has a name below it. */
  readonly isPart?: boolean
  readonly variablesFrom: readonly VariablesRef[]
  /** Values of a chart. */
  readonly valuesFrom?: readonly ValuesRef[]
  /** The Helm release that it makes. */
  readonly release?: { readonly namespace: string; readonly name: string }
  /** Of a release that files declare: what counts where nothing that Helm stored of it is known. Undefined: nothing does. */
  readonly unstored?: 'chart' | { readonly why: string }
  /** The unit that applies its resource. */
  readonly partOf?: UnitSource
  readonly build: (answers: SourceAnswers) => SyncerBuild
  /** Why a merge alone does not change what is applied, and what has to move; undefined where it does. */
  readonly pinned: string | undefined
}

interface GivenVariables {
  readonly values: ReadonlyMap<string, string>
  /** The ConfigMap or Secret that each of them is from. */
  readonly sources: ReadonlyMap<string, ResourceId>
}

/** What the cluster has of the inputs of a build. */
export interface SourceAnswers {
  /** Of `variablesFrom`, the later ones over the earlier ones; undefined: what files of the repository declare of them counts. */
  readonly variables: GivenVariables | undefined
  /** The entry of each of `valuesFrom`; undefined where it is not there. */
  readonly values: readonly (string | undefined)[]
  readonly release: DeployedRelease | undefined
  /** The build of `partOf`. */
  readonly parent: SyncerBuild | undefined
}

/** What a syncer applies from the repository and cannot be compared. */
export interface RefusedSource {
  readonly title: string
  readonly why: string
}

/** A resource of a syncer that a file of the base branch declares. */
export interface DeclaredSyncer {
  readonly object: JsonObject
  readonly path: string
  /** Index of the document in the file. */
  readonly document: number
  /** Of its first key in the file, from 1. */
  readonly line: number
  readonly maker?: ResourceMaker | undefined
}

export interface SourcedRepository extends SetRepository {
  readonly isBranch: (name: string) => boolean
  /** Whether the base branch has the file. */
  readonly has: (path: string) => boolean
  readonly declared: readonly DeclaredSyncer[]
  /** ConfigMaps that a `substituteFrom` may name. */
  readonly configMaps: readonly DeclaredSyncer[]
  /** Whether the resources are those that the repository declares: what its bootstrap makes may be in none of its files. */
  readonly isFiles: boolean
}

/** The only file that declares a resource of this name, whatever it says. @param isWhole false for a patch of one */
export function declaredNamed(
  own: JsonObject,
  declared: readonly DeclaredSyncer[],
  isWhole: (object: JsonObject) => boolean,
): DeclaredSyncer | undefined {
  const same = sameName(own, declared).filter(({ object }) => isWhole(object))
  return same.length > 1 ? undefined : same[0]
}

function sameName(own: JsonObject, declared: readonly DeclaredSyncer[]): readonly DeclaredSyncer[] {
  return declared.filter(({ object }) => isSameResource(object, own))
}

/**
 * The file that declares the resource, if what is built of it is the same as of the one of the cluster: then an edit there changes what is built.
 * @param builtBy the part of its specification that decides about the objects
 * @param applied folders that the cluster is built from: of files for several clusters, the one in them counts
 */
export function declarationOf(
  own: JsonObject,
  declared: readonly DeclaredSyncer[],
  builtBy: (object: JsonObject) => string,
  applied: readonly string[] = [],
): Declaration | undefined {
  const all = sameName(own, declared).filter(({ object }) => builtBy(object) === builtBy(own))
  const isApplied = ({ path }: DeclaredSyncer): boolean =>
    applied.some((folder) => folder !== '' && path.startsWith(`${folder}/`))
  const same = all.length > 1 ? all.filter(isApplied) : all
  const [only] = same
  return only === undefined || same.length > 1
    ? undefined
    : { path: only.path, document: only.document, maker: only.maker }
}

/** A kind, and the version in which its changes are followed. */
export interface SourceKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** `optional`: units are known without it, and where it cannot be listed it counts as not there. `files`: only files declare it. */
  readonly use?: 'optional' | 'files'
}

/** The resources of a kind in any version, of the cluster or of the files: two syncers may have kinds of one name. */
export type ResourcesOf = (group: string, kind: string) => readonly JsonObject[]

export interface SourceDiscovery {
  /** For people; the titles of its units begin with it. */
  readonly name: string
  readonly kinds: readonly SourceKind[]
  readonly read: (
    of: ResourcesOf,
    repository: SourcedRepository,
  ) => readonly (UnitSource | RefusedSource)[]
  /** What controllers make of resources that files declare. */
  readonly made?: (
    declared: readonly DeclaredSyncer[],
    repository: SetRepository,
  ) => readonly DeclaredSyncer[]
  /** Without a cluster: resources of these kinds that a unit builds name units too. */
  readonly built?: readonly BuiltKind[]
}

export interface BuiltKind {
  readonly group: string
  readonly kind: string
  /** Whether a file alone names the unit too: what is built of it counts, and without a build the file. */
  readonly isOfFiles: boolean
  /** @param object that `parent` builds */
  readonly read: (
    object: DesiredResource,
    parent: UnitSource,
    of: ResourcesOf,
    repository: SourcedRepository,
  ) => readonly (UnitSource | RefusedSource)[]
}
