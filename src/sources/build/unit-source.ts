import type { DeployedRelease } from '@backporch/cluster/cluster'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { Declaration, ResourceGenerator, SyncerBuild } from './built-source.ts'
import type { SyncedChoice } from './render-choice.ts'
import { isSameResource } from './syncer-object.ts'

export interface ValuesRef {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly namespace: string
  readonly name: string
  readonly optional: boolean
  readonly key: string
  /** For a single value; undefined for a values file. */
  readonly targetPath: string | undefined
}

export interface SetRepository {
  readonly isHere: (address: string) => boolean
  readonly baseBranch: string
  /** From the root, except hidden ones, sorted by path segments. */
  readonly folders: () => readonly string[]
  /** Files that generators name, by path from the root, in path order. */
  readonly texts: ReadonlyMap<string, string>
}

export interface VariablesRef {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly namespace: string
  readonly name: string
  readonly optional: boolean
}

export interface UnitSource {
  readonly tool: SyncedChoice['tool']
  /** As `Flux Kustomization flux-system/apps`. */
  readonly title: string
  readonly id: ResourceId
  /** Empty for the repository root. */
  readonly folder: string
  readonly isPart?: boolean
  readonly variablesFrom: readonly VariablesRef[]
  readonly valuesFrom?: readonly ValuesRef[]
  readonly release?: { readonly namespace: string; readonly name: string }
  /** For a release in files: used if Helm's stored release is unknown. */
  readonly unstored?: 'chart' | { readonly why: string }
  readonly partOf?: UnitSource
  readonly build: (answers: SourceAnswers) => SyncerBuild
  /** Why a merge alone does not change what is applied, and what must be moved. */
  readonly pinned: string | undefined
}

interface GivenVariables {
  readonly values: ReadonlyMap<string, string>
  readonly sources: ReadonlyMap<string, ResourceId>
}

export interface SourceAnswers {
  /** Later ones override earlier ones; undefined: the repository's declarations count. */
  readonly variables: GivenVariables | undefined
  /** Undefined if the entry does not exist. */
  readonly values: readonly (string | undefined)[]
  readonly release: DeployedRelease | undefined
  readonly parent: SyncerBuild | undefined
}

export interface RefusedSource {
  readonly title: string
  readonly why: string
}

export interface DeclaredSyncer {
  readonly object: JsonObject
  readonly path: string
  readonly document: number
  /** Of its first key, from 1. */
  readonly line: number
  readonly generator?: ResourceGenerator | undefined
}

export interface SourcedRepository extends SetRepository {
  readonly isBranch: (name: string) => boolean
  readonly has: (path: string) => boolean
  readonly declared: readonly DeclaredSyncer[]
  readonly configMaps: readonly DeclaredSyncer[]
  /** From files: the repository's bootstrap may make resources that are in no file. */
  readonly isFiles: boolean
}

/**
 * Whatever its content.
 * @param isWhole false for a patch of a resource
 */
export function findDeclaredNamed(
  own: JsonObject,
  declared: readonly DeclaredSyncer[],
  isWhole: (object: JsonObject) => boolean,
): DeclaredSyncer | undefined {
  const same = listSameResource(own, declared).filter(({ object }) => isWhole(object))
  return same.length > 1 ? undefined : same[0]
}

function listSameResource(
  own: JsonObject,
  declared: readonly DeclaredSyncer[],
): readonly DeclaredSyncer[] {
  return declared.filter(({ object }) => isSameResource(object, own))
}

/**
 * The file must give the same build as the cluster's resource: then an edit of it changes the
 * build.
 * @param builtBy the part of the specification that determines the objects
 * @param applied folders that the cluster is built from: a file in them counts
 */
export function findDeclaration(
  own: JsonObject,
  declared: readonly DeclaredSyncer[],
  builtBy: (object: JsonObject) => string,
  applied: readonly string[] = [],
): Declaration | undefined {
  const all = listSameResource(own, declared).filter(
    ({ object }) => builtBy(object) === builtBy(own),
  )
  const isApplied = ({ path }: DeclaredSyncer): boolean =>
    applied.some((folder) => folder !== '' && path.startsWith(`${folder}/`))
  const same = all.length > 1 ? all.filter(isApplied) : all
  const [only] = same
  return only === undefined || same.length > 1
    ? undefined
    : { path: only.path, document: only.document, generator: only.generator }
}

/** The version is for following changes. */
export interface SourceKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  /**
   * `optional`: units are known without it, and a failed list means absent. `files`: only files
   * declare it.
   */
  readonly use?: 'optional' | 'files'
}

/** In any version: two syncers may have kinds of the same name. */
export type ResourcesOf = (group: string, kind: string) => readonly JsonObject[]

export interface SourceDiscovery {
  readonly name: string
  readonly kinds: readonly SourceKind[]
  readonly read: (
    of: ResourcesOf,
    repository: SourcedRepository,
  ) => readonly (UnitSource | RefusedSource)[]
  readonly made?: (
    declared: readonly DeclaredSyncer[],
    repository: SetRepository,
  ) => readonly DeclaredSyncer[]
  /** Without a cluster, such resources that a unit builds also name units. */
  readonly built?: readonly BuiltKind[]
}

export interface BuiltKind {
  readonly group: string
  readonly kind: string
  /** A file alone also names the unit: its built form counts, and without a build the file. */
  readonly isOfFiles: boolean
  readonly read: (
    object: DesiredResource,
    parent: UnitSource,
    of: ResourcesOf,
    repository: SourcedRepository,
  ) => readonly (UnitSource | RefusedSource)[]
}
