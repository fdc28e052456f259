/** The cluster as Backporch reads it. It has two adapters: the API server and a recorded cluster. */
import type { Failure } from '@backporch/kyaml/failure'
import type { FieldPath, FieldSchema } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type {
  InventoryRef,
  LiveView,
  Prediction,
  Resource,
  ResourceId,
  WantedObject,
} from '@backporch/kyaml/resource'

export interface ClusterIdentity {
  /** uid of the kube-system namespace; empty where it could not be read, as in a recording. */
  readonly uid: string
  /** Whether the cluster has no such namespace: a server that just began, or no whole Kubernetes. */
  readonly hasNoUid?: boolean
  /** `v1.34.3`; empty where unknown. */
  readonly version: string
  /** When the objects were observed, RFC 3339 UTC with seconds. A recording has its own time. */
  readonly observedAt: string
  readonly recorded: boolean
  /** Where a namespaced object without a namespace goes: the context's namespace, `default` where it names none. */
  readonly namespace: string
  /** Everything that it serves, as charts ask for it: `apps/v1` and `apps/v1/Deployment`. Undefined where unknown, as in a recording. */
  readonly apiVersions?: readonly string[]
}

/** What the server knows of a kind. */
export interface ServedKind {
  readonly namespaced: boolean
  readonly schema: FieldSchema
}

/** An inventory: the objects that some applier lists as part of the package; or the result of a listing. */
export interface Inventory {
  /** Where it was found, for people: `ResourceGroup shop/inventory-1234`. */
  readonly source: string
  readonly resources: readonly ResourceId[]
  /** Of a listing: kind, apiVersion and metadata of each of `resources`, in their order; never their content. */
  readonly objects?: readonly JsonObject[]
  /** Parts of a listing that could not be read. What is in `resources` is there all the same. */
  readonly unread?: readonly Failure[]
  /** `resources` as their keeper applied them, where it keeps that and compares its next apply with it: with the content of Secrets. */
  readonly applied?: readonly Resource[]
  /** Where `applied` was applied before, and again in place of something newer: the revision, and when, RFC 3339 UTC. */
  readonly rollback?: { readonly to: number; readonly at: string }
  /** Of a Helm release, where it was asked for. */
  readonly release?: DeployedRelease
  /** What its keeper tried to apply since, without an end or without success: some of it may be there. */
  readonly later?: { readonly source: string; readonly resources: readonly ResourceId[] }
  /** What its keeper tried last and could not apply, with the reason as a clause. It need not be in `resources`. */
  readonly refused?: readonly RefusedObject[]
}

export interface RefusedObject {
  readonly id: ResourceId
  /** `ResourceGroup shop/inventory-1 says that its apply failed`. */
  readonly why: string
}

export interface ObjectList {
  readonly objects: readonly JsonObject[]
  /** False of a recording that does not claim to be complete: an object that is not listed may still exist. */
  readonly complete: boolean
}

/** A Helm release, as Helm stores it in the release's namespace. */
export interface HelmReleaseRef {
  readonly helmRelease: { readonly namespace: string; readonly name: string }
  /** Whether the chart, the values and the manifest of the deployed revision are wanted. */
  readonly withChart?: boolean
}

/** The revision of a Helm release that counts, with what it was made of. */
export interface DeployedRelease {
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** `deployed`, `failed`, `uninstalled` and so on (helm `pkg/release/common/status.go`). */
  readonly status: string
  /** `podinfo 6.5.0`. */
  readonly chartTitle: string
  /** Paths from the root of the chart. Undefined where Helm does not store all of it: dependencies are left out. */
  readonly chart: PackageFiles | undefined
  /** What the user of the release gave, over the defaults of the chart. */
  readonly values: JsonObject
  /** What was applied, after post-renderers, without hooks and the definitions of `crds/`. */
  readonly manifest: string
}

/** Objects of a kind in one namespace; an empty one for kinds that lie in none. */
export interface ListedLocation {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

/** The metadata of everything in these places, for inventories that are only marks on the objects. */
export interface ListingRef {
  readonly listing: readonly ListedLocation[]
  /** Equality terms with commas between, as the API takes them; empty for all objects. */
  readonly labelSelector: string
}

/** The metadata of all objects of all kinds that lie in these namespaces and that the account may list. */
interface NamespacesRef {
  readonly namespaces: readonly string[]
}

export type InventoryQuestion = InventoryRef | HelmReleaseRef | ListingRef | NamespacesRef

/** Reads only. Every method throws Failure (BP30xx) where it has no answer at all. */
export interface ClusterReader {
  readonly name: string
  identify(signal: AbortSignal): Promise<ClusterIdentity>
  /**
   * The kind as the server serves it in this API version.
   * @throws Failure BP3009 when it is not served; another BP30xx when this is unknown
   */
  servedKind(apiVersion: string, kind: string, signal: AbortSignal): Promise<ServedKind>
  /** Answers every wanted id; one that cannot be read is `unreadable`, the others are not affected. */
  readLive(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView>
  /**
   * Every object of a kind, in all namespaces and in the version that the server prefers for it.
   * @throws Failure BP3009 when it is not served, another BP30xx when the list could not be read as a whole
   */
  list(group: string, kind: string, signal: AbortSignal): Promise<ObjectList>
  /**
   * One answer for each, in their order: undefined where the cluster has no such inventory, a Failure where this is unknown. A listing
   * always has an inventory, perhaps an empty one, or a Failure where no part of it could be read.
   */
  readInventories(
    refs: readonly InventoryQuestion[],
    signal: AbortSignal,
  ): Promise<readonly (Inventory | Failure | undefined)[]>
  /** Server-side apply as a dry run, `force=true`. Never throws for one object: the answer reports what happened. */
  predict(resource: Resource, fieldManager: string, signal: AbortSignal): Promise<Prediction>
}

/** One approved change to one object, as the settle step sends it. */
export type ApprovedWrite =
  | { readonly kind: 'apply'; readonly resource: Resource }
  /** Removes a field that git does not have, only while it still holds `expected`. */
  | {
      readonly kind: 'remove-field'
      readonly target: WantedObject
      readonly path: FieldPath
      readonly expected: Json
      readonly resourceVersion: string
    }
  /**
   * Several fields of one object at once, where the server refuses them one by one: each only while it holds what was approved.
   * `undefined` means "not there".
   */
  | {
      readonly kind: 'patch-fields'
      readonly target: WantedObject
      readonly fields: readonly {
        readonly path: FieldPath
        readonly expected: Json | undefined
        readonly value: Json | undefined
      }[]
      readonly resourceVersion: string
    }
  | {
      readonly kind: 'delete'
      readonly target: WantedObject
      readonly uid: string
      readonly resourceVersion: string
    }

/** The merged commit that authorises a write; goes into the field manager and the audit annotation of each request. */
export interface Authorisation {
  readonly commit: string
  readonly episode: string
}

export interface ClusterWriter {
  /** @throws Failure BP3011 when the server refuses, BP2005 when live is no longer what was approved, BP30xx otherwise */
  write(change: ApprovedWrite, authorisation: Authorisation, signal: AbortSignal): Promise<void>
}

export interface OpenedWriter {
  readonly writer: ClusterWriter
  close(): void
}

/** One rule of the cluster's authorisation, as `SelfSubjectRulesReview` lists it. */
export interface AccessRule {
  readonly verbs: readonly string[]
  readonly groups: readonly string[]
  readonly resources: readonly string[]
  /** Only objects of these names; empty for all. */
  readonly names: readonly string[]
}

export interface ClusterAccessAnswer {
  readonly rules: readonly AccessRule[]
  /** The authoriser could not list all of them. */
  readonly incomplete: boolean
  /** Time of the server's answer in milliseconds since 1970; undefined where it sent none. */
  readonly serverTime: number | undefined
}
