/** The cluster port in memory: objects, a server-side apply of its own, and outages that a test asks for. */
import type {
  ApprovedWrite,
  ClusterIdentity,
  ClusterReader,
  ClusterWriter,
  Inventory,
  InventoryQuestion,
  ObjectList,
  ServedKind,
} from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  getMetadataText,
  getResourceKey,
  type LiveState,
  type LiveView,
  type Prediction,
  type Resource,
  type ResourceId,
  readResource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import { mergeSecretData } from '../../src/drift/compare/secret-data.ts'
import { predictedApply, TEST_SCHEMA, withMetadata } from './live-object.ts'

const CLUSTER_SCOPED = new Set(['Namespace', 'ClusterRole'])

export class MemoryCluster implements ClusterReader, ClusterWriter {
  name: string
  readonly objects = new Map<string, JsonObject>()
  /** Why nothing answers; undefined: everything does. */
  unreachable: Failure | undefined
  /** Keys that answer with an error instead, and kinds (`group/Kind`) that may not be read. */
  readonly unreadable = new Set<string>()
  /** Secrets are read as metadata only. */
  metadataOnly = false
  /** Why a dry run fails for everybody; undefined: it works. */
  outage: Failure | undefined
  /** Of the package's own ResourceGroup. */
  inventory: Inventory | undefined
  /** Helm releases, by `namespace/name`. */
  readonly releases = new Map<string, Inventory>()
  uid: string | undefined = 'uid-of-kube-system'
  now = '2026-11-21T10:00:00Z'
  readonly writes: ApprovedWrite[] = []
  /** That are both set, with the key of the object. */
  private readonly versions = new Set<string>()

  constructor(name = 'prod') {
    this.name = name
  }

  put(object: JsonObject): void {
    const read = readResource(object)
    if ('problem' in read) throw new TypeError(read.problem)
    this.store(getResourceKey(read.id), object)
  }

  /** The object under a key, changed. */
  change(key: string, edit: (live: JsonObject) => JsonObject): void {
    const live = this.objects.get(key)
    if (live === undefined) throw new TypeError(`no object ${key}`)
    this.store(key, edit(live))
  }

  /** A server gives an object no version twice. What has none stays without one. */
  private store(key: string, object: JsonObject): void {
    const version = getMetadataText(object, 'resourceVersion')
    const given = this.versions.has(`${key} ${version}`)
    const next = version === '' || !given ? version : `${1_000_000 + this.versions.size}`
    this.versions.add(`${key} ${next}`)
    this.objects.set(
      key,
      next === version ? object : withMetadata(object, { resourceVersion: next }),
    )
  }

  async identify(): Promise<ClusterIdentity> {
    if (this.unreachable !== undefined) throw this.unreachable
    return {
      uid: this.uid,
      version: 'v1.34.3',
      observedAt: this.now,
      recorded: false,
      namespace: 'default',
    }
  }

  async findServedKind(_apiVersion: string, kind: string): Promise<ServedKind> {
    if (kind === 'Unserved')
      throw new Failure({
        code: 'BP3009',
        what: 'cannot get',
        why: 'the kind is not served',
        remedy: 'install it',
      })
    return { namespaced: !CLUSTER_SCOPED.has(kind), schema: TEST_SCHEMA }
  }

  async readLive(wanted: readonly WantedObject[]): Promise<LiveView> {
    return new Map(wanted.map(({ id }) => [getResourceKey(id), this.stateOf(id)]))
  }

  /** Of kinds without any object: as of a cluster that does not serve them. */
  async list(group: string, kind: string): Promise<ObjectList> {
    if (this.isForbidden(group, kind)) throw forbidden(kind)
    const objects = [...this.objects].flatMap(([key, object]) =>
      key.startsWith(`${group}/${kind}/`) ? [object] : [],
    )
    if (objects.length === 0)
      throw new Failure({
        code: 'BP3009',
        what: `cannot list ${kind}`,
        why: 'it is not served',
        remedy: 'install it',
      })
    return { objects, complete: true }
  }

  async readInventories(
    refs: readonly InventoryQuestion[],
  ): Promise<readonly (Inventory | Failure | undefined)[]> {
    return refs.map((ref) => {
      if ('id' in ref) return this.inventory
      if ('helmRelease' in ref)
        return this.releases.get(`${ref.helmRelease.namespace}/${ref.helmRelease.name}`)
      return 'listing' in ref
        ? this.listed(({ group, kind, namespace }) =>
            ref.listing.some(
              (location) =>
                location.group === group &&
                location.kind === kind &&
                location.namespace === namespace,
            ),
          )
        : this.listed(({ namespace }) => ref.namespaces.includes(namespace))
    })
  }

  private listed(wanted: (id: ResourceId) => boolean): Inventory {
    const found = [...this.objects].filter(([key]) => wanted(idOf(key)))
    return {
      source: 'a listing',
      resources: found.map(([key]) => idOf(key)),
      objects: found.map(([, object]) => object),
    }
  }

  async predict(resource: Resource, fieldManager: string): Promise<Prediction> {
    if (this.outage !== undefined) return { state: 'unproven', failure: this.outage }
    const live = this.objects.get(getResourceKey(resource.id))
    const sent = resource.id.kind === 'Secret' ? mergeSecretData(resource.object) : resource.object
    return {
      state: 'predicted',
      object: live === undefined ? sent : predictedApply(live, sent, fieldManager),
    }
  }

  async write(change: ApprovedWrite): Promise<void> {
    this.writes.push(change)
  }

  isForbidden(group: string, kind: string): boolean {
    return this.unreadable.has(`${group}/${kind}`)
  }

  private stateOf(id: ResourceId): LiveState {
    const key = getResourceKey(id)
    if (this.isForbidden(id.group, id.kind))
      return { state: 'unreadable', failure: forbidden(id.kind) }
    if (this.unreadable.has(key)) {
      return {
        state: 'unreadable',
        failure: new Failure({
          code: 'BP3005',
          what: 'cannot get',
          why: 'the server is down',
          remedy: 'try again',
        }),
      }
    }
    const object = this.objects.get(key)
    if (object === undefined) return { state: 'absent' }
    if (!this.metadataOnly || id.kind !== 'Secret')
      return { state: 'present', object, metadataOnly: false }
    return {
      state: 'present',
      object: Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'data')),
      metadataOnly: true,
    }
  }
}

export function forbidden(kind: string): Failure {
  return new Failure({
    code: 'BP3003',
    what: `cannot list ${kind}`,
    why: 'it is forbidden',
    remedy: 'allow it',
  })
}

/** `apps/Deployment/shop/web` as an id. */
export function idOf(key: string): ResourceId {
  const [group, kind, namespace, name, ...more] = key.split('/')
  if (
    group === undefined ||
    kind === undefined ||
    namespace === undefined ||
    name === undefined ||
    more.length > 0
  )
    throw new TypeError(`not an id: ${key}`)
  return { group, kind, namespace, name }
}
