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
  /** Of the kube-system namespace; undefined if unreadable, as in a recording. */
  readonly uid: string | undefined
  /** No such namespace: a server that just started, or an incomplete Kubernetes. */
  readonly hasNoUid?: boolean
  readonly version: string
  /** RFC 3339 UTC with seconds. A recording has its own time. */
  readonly observedAt: string
  readonly recorded: boolean
  /** For namespaced objects without a namespace: the context's namespace, or `default`. */
  readonly namespace: string
  /** As charts ask: `apps/v1` and `apps/v1/Deployment`. Undefined if unknown. */
  readonly apiVersions?: readonly string[]
}

export interface ServedKind {
  readonly namespaced: boolean
  readonly schema: FieldSchema
}

export interface Inventory {
  readonly source: string
  readonly resources: readonly ResourceId[]
  /** For a listing: metadata of `resources` in their order, never content. */
  readonly objects?: readonly JsonObject[]
  /** Unreadable parts. `resources` exist nevertheless. */
  readonly unread?: readonly Failure[]
  /**
   * As its keeper applied them, if it compares its next apply with them. Includes the content of
   * Secrets.
   */
  readonly applied?: readonly Resource[]
  /** If a rollback applied `applied` in place of something newer. RFC 3339 UTC. */
  readonly rollback?: { readonly to: number; readonly at: string }
  readonly release?: DeployedRelease
  /** Applies without an end or success: some objects may exist. */
  readonly later?: { readonly source: string; readonly resources: readonly ResourceId[] }
  /** Reasons are clauses. Need not be in `resources`. */
  readonly refused?: readonly RefusedObject[]
}

export interface RefusedObject {
  readonly id: ResourceId
  readonly why: string
}

export interface ObjectList {
  readonly objects: readonly JsonObject[]
  /** False: an unlisted object may exist. */
  readonly complete: boolean
}

export interface HelmReleaseRef {
  readonly helmRelease: { readonly namespace: string; readonly name: string }
  readonly withChart?: boolean
}

export interface DeployedRelease {
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** helm `pkg/release/common/status.go` */
  readonly status: string
  readonly chartTitle: string
  /** Undefined if incomplete: Helm omits dependencies. */
  readonly chart: PackageFiles | undefined
  readonly values: JsonObject
  /** After post-renderers, without hooks and `crds/`. */
  readonly manifest: string
}

export interface ListedLocation {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

export interface ListingRef {
  readonly listing: readonly ListedLocation[]
  /** Undefined: all objects of the locations. */
  readonly labelSelector: string | undefined
}

interface NamespacesRef {
  readonly namespaces: readonly string[]
}

export type InventoryQuestion = InventoryRef | HelmReleaseRef | ListingRef | NamespacesRef

/** Every method throws Failure (BP30xx) if it has no answer at all. */
export interface ClusterReader {
  readonly name: string
  identify(signal: AbortSignal): Promise<ClusterIdentity>
  /** @throws Failure BP3009 when it is not served; another BP30xx when this is unknown */
  findServedKind(apiVersion: string, kind: string, signal: AbortSignal): Promise<ServedKind>
  /** An `unreadable` id does not affect the others. */
  readLive(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView>
  /**
   * All namespaces, the server's preferred version.
   * @throws Failure BP3009 when it is not served, another BP30xx when the list is not whole
   */
  list(group: string, kind: string, signal: AbortSignal): Promise<ObjectList>
  /**
   * In order of the refs: undefined without such an inventory, a Failure if unknown. A listing
   * always has one, possibly empty, or a Failure if no part could be read.
   */
  readInventories(
    refs: readonly InventoryQuestion[],
    signal: AbortSignal,
  ): Promise<readonly (Inventory | Failure | undefined)[]>
  /** Dry run of server-side apply, `force=true`. Never throws for one object. */
  predict(resource: Resource, fieldManager: string, signal: AbortSignal): Promise<Prediction>
}

export type ApprovedWrite =
  | { readonly kind: 'apply'; readonly resource: Resource }
  /** Only while the field holds `expected`. */
  | {
      readonly kind: 'remove-field'
      readonly target: WantedObject
      readonly path: FieldPath
      readonly expected: Json
      readonly resourceVersion: string
    }
  /**
   * If the server rejects the fields one by one. Each only while it holds the approved value;
   * `undefined` means absent.
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
      readonly uid: string | undefined
      readonly resourceVersion: string | undefined
    }

/** The commit goes into the field manager and User-Agent of each request. */
export interface Authorisation {
  readonly commit: string
  readonly episode: string
}

export interface ClusterWriter {
  /**
   * @throws Failure BP3011 when the server refuses, BP2005 when live is no longer what was
   * approved, BP30xx otherwise
   */
  write(change: ApprovedWrite, authorisation: Authorisation, signal: AbortSignal): Promise<void>
}

export interface OpenedWriter {
  readonly writer: ClusterWriter
  close(): void
}

export interface AccessRule {
  readonly verbs: readonly string[]
  readonly groups: readonly string[]
  readonly resources: readonly string[]
  /** Empty: all. */
  readonly names: readonly string[]
}

export interface ClusterAccessAnswer {
  /** Undefined if the server does not say. */
  readonly user?: string
  readonly rules: readonly AccessRule[]
  readonly incomplete: boolean
  /** Milliseconds since 1970; undefined if the server sent none. */
  readonly serverTime: number | undefined
}
