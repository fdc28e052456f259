/** Units of a repository that are known by what a syncer applies (design §14). */
import { metadataText } from '../krm/resource.ts'
import { parseApiVersion, type ResourceId } from '../krm/resource-id.ts'
import type { RenderChoice } from '../render/render-choice.ts'
import { type JsonObject, textOf } from '../text/json.ts'

/** A ConfigMap or Secret whose entries a build reads. */
export interface VariablesRef {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly namespace: string
  readonly name: string
  readonly optional: boolean
}

/** A folder of the repository, and what a syncer makes of it. */
export interface UnitSource {
  /** `Flux Kustomization flux-system/apps`. */
  readonly title: string
  /** The syncer's own resource. */
  readonly id: ResourceId
  /** From the root of the repository; empty for the root. */
  readonly folder: string
  readonly variablesFrom: readonly VariablesRef[]
  /** @param variables of `variablesFrom`, the later ones over the earlier ones */
  readonly render: (variables: ReadonlyMap<string, string>) => RenderChoice
  /** Why a merge alone does not change what is applied, and what has to move; undefined where it does. */
  readonly pinned: string | undefined
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
}

export interface SourcedRepository {
  /** Whether the address is one of this repository. */
  readonly isHere: (address: string) => boolean
  readonly baseBranch: string
  readonly isBranch: (name: string) => boolean
  /** Whether the base branch has the file. */
  readonly has: (path: string) => boolean
  readonly declared: readonly DeclaredSyncer[]
  /** Whether the resources are those that the repository declares: what its bootstrap makes may be in none of its files. */
  readonly isFiles: boolean
}

/**
 * The file that declares the resource, if what is built of it is the same as of the one of the cluster: then an edit there changes what is built.
 * @param builtBy the part of its specification that decides about the objects
 */
export function declarationOf(
  own: JsonObject,
  declared: readonly DeclaredSyncer[],
  builtBy: (object: JsonObject) => string,
): { path: string; document: number } | undefined {
  const { group } = parseApiVersion(textOf(own, 'apiVersion'))
  const same = declared.filter(
    ({ object }) =>
      textOf(object, 'kind') === textOf(own, 'kind') &&
      parseApiVersion(textOf(object, 'apiVersion')).group === group &&
      metadataText(object, 'name') === metadataText(own, 'name') &&
      ['', metadataText(own, 'namespace')].includes(metadataText(object, 'namespace')) &&
      builtBy(object) === builtBy(own),
  )
  const [only] = same
  return only === undefined || same.length > 1 ? undefined : { path: only.path, document: only.document }
}

/** A kind, and the version in which its changes are followed. */
export interface SourceKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface SourceDiscovery {
  readonly kinds: readonly SourceKind[]
  /** @param of the resources of a kind, of the cluster or of the files */
  readonly read: (of: (kind: string) => readonly JsonObject[], repository: SourcedRepository) => readonly (UnitSource | RefusedSource)[]
}
