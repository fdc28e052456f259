/** A fleet whose syncer marks what it applies, and reports in a resource of its own in each cluster. */
import type { Inventory } from '@backporch/cluster/cluster'
import {
  filterObjects,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getResourceKey, type ResourceId, readResource } from '@backporch/kyaml/resource'
import { FleetWorld } from '../fakes/fleet-world.ts'
import { appliedBy, withMetadata } from '../fakes/live-object.ts'
import { idOf, type MemoryCluster } from '../fakes/memory-cluster.ts'
import { KPTFILE } from '../fakes/turn-world.ts'

export type SyncerName = keyof typeof SYNCERS

interface TestSyncer {
  readonly manager: string
  /** Marks of an object of a package. */
  readonly labels: (name: string) => JsonObject
  readonly annotations: (name: string, id: ResourceId) => JsonObject
  /** Its own resource, that says what it applied. */
  readonly own: (name: string, inventory: readonly ResourceId[], commit: string) => JsonObject
  /** Its own resource with one more object in the inventory. */
  readonly listing: (own: JsonObject, id: ResourceId) => JsonObject
  /** Packages that it applies; the others are applied without marks. */
  readonly applies: (name: string) => boolean
}

const SYNCERS = {
  flux: {
    manager: 'kustomize-controller',
    labels: (name) => ({
      'kustomize.toolkit.fluxcd.io/name': name,
      'kustomize.toolkit.fluxcd.io/namespace': 'apps',
    }),
    annotations: () => ({}),
    applies: () => true,
    listing: (own, id) =>
      addedTo(own, ['status', 'inventory', 'entries'], { id: objMetadata(id), v: 'v1' }),
    own: (name, inventory, commit) => ({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name, namespace: 'apps' },
      spec: {
        interval: '10m',
        path: `./apps/${name}`,
        prune: true,
        sourceRef: { kind: 'GitRepository', name: 'shop' },
      },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        lastAppliedRevision: `main@sha1:${commit}`,
        inventory: { entries: inventory.map((id) => ({ id: objMetadata(id), v: 'v1' })) },
      },
    }),
  },
  argo: {
    manager: 'argocd-controller',
    labels: () => ({}),
    annotations: (name, id) => ({
      'argocd.argoproj.io/tracking-id': `${name}:${id.group}/${id.kind}:${id.namespace}/${id.name}`,
    }),
    applies: () => true,
    listing: (own, id) =>
      addedTo(own, ['status', 'resources'], { ...id, status: 'OutOfSync', requiresPruning: true }),
    own: (name, inventory, commit) => ({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name, namespace: 'argocd' },
      spec: {
        source: { repoURL: 'https://forge.example/shop.git', path: `apps/${name}` },
        syncPolicy: { automated: { selfHeal: true } },
      },
      status: {
        sourceType: 'Directory',
        operationState: { phase: 'Succeeded' },
        history: [{ revision: commit }],
        resources: inventory.map((id) => ({ ...id, status: 'Synced' })),
      },
    }),
  },
  kpt: {
    manager: 'kubectl',
    labels: () => ({}),
    annotations: () => ({ 'config.k8s.io/owning-inventory': 'shop-web' }),
    applies: (name) => name === 'web',
    listing: (own, id) => addedTo(own, ['spec', 'resources'], { ...id }),
    own: (name, inventory) => ({
      apiVersion: 'kpt.dev/v1alpha1',
      kind: 'ResourceGroup',
      metadata: {
        name,
        namespace: 'shop',
        labels: { 'cli-utils.sigs.k8s.io/inventory-id': 'shop-web' },
      },
      spec: { resources: inventory.map((id) => ({ ...id })) },
    }),
  },
} as const satisfies { readonly [name: string]: TestSyncer }

const OWN_KEYS = {
  flux: (name: string) => `kustomize.toolkit.fluxcd.io/Kustomization/apps/${name}`,
  argo: (name: string) => `argoproj.io/Application/argocd/${name}`,
  kpt: (name: string) => `kpt.dev/ResourceGroup/shop/${name}`,
} as const satisfies { readonly [name in SyncerName]: (name: string) => string }

/** Key of the syncer's own resource about a package. */
export function ownKey(syncer: SyncerName, name: string): string {
  return OWN_KEYS[syncer](name)
}

export class SyncedFleet extends FleetWorld {
  private readonly syncer: SyncerName | undefined
  /** Keys of what was applied, by cluster and package. */
  private readonly inventories = new Map<string, Set<string>>()

  constructor(clusters: number, policy: string, syncer: SyncerName | undefined) {
    super(clusters, policy)
    this.syncer = syncer
    if (syncer !== 'kpt') return
    for (const cluster of this.clusters)
      Object.defineProperty(cluster, 'inventory', { get: () => inventoryIn(cluster) })
  }

  /**
   * An object that git does not have, as the syncer applied it once. Not where its own resource is away: what is left is then known by marks
   * alone, and an object that no unit has names nobody until the next turn about everything.
   */
  leave(cluster: MemoryCluster, name: string, manifest: JsonObject): void {
    const { syncer } = this
    if (syncer === undefined || !cluster.objects.has(ownKey(syncer, name))) return
    const left = this.applied(manifest, `apps/${name}/left.yaml`)
    const found = readResource(left)
    if ('problem' in found) throw new TypeError(found.problem)
    cluster.put(left)
    cluster.change(ownKey(syncer, name), (own) => SYNCERS[syncer].listing(own, found.id))
  }

  /** kpt's names the inventory. */
  kptfile(name: string): string {
    return this.syncer === 'kpt'
      ? `${KPTFILE.replace('web', name)}inventory: {namespace: shop, name: ${name}, inventoryID: shop-web}\n`
      : KPTFILE
  }

  /** As Flux, Argo CD and kpt report what they applied; nothing is pruned. */
  override sync(clusters: readonly MemoryCluster[] = this.clusters): void {
    super.sync(clusters)
    if (this.syncer === undefined) return
    for (const path of this.repository
      .paths('main')
      .filter((each) => /^apps\/[^/]+\/Kptfile$/.test(each)))
      for (const cluster of clusters) this.report(cluster, nameIn(path))
  }

  protected override applied(manifest: JsonObject, path: string): JsonObject {
    const name = nameIn(path)
    // The fleet begins in sync before its syncer is known.
    const syncer: TestSyncer | undefined =
      this.syncer === undefined ? undefined : SYNCERS[this.syncer]
    if (syncer === undefined) return super.applied(manifest, path)
    if (!syncer.applies(name)) return appliedBy(syncer.manager, manifest)
    const found = readResource(manifest)
    if ('problem' in found) throw new TypeError(found.problem)
    const { labels = {}, annotations = {} } = (manifest['metadata'] ?? {}) as {
      labels?: JsonObject
      annotations?: JsonObject
    }
    const marks = {
      ...joined('labels', labels, syncer.labels(name)),
      ...joined('annotations', annotations, syncer.annotations(name, found.id)),
    }
    for (const cluster of this.clusters)
      this.inventoryOf(cluster, name).add(getResourceKey(found.id))
    return appliedBy(syncer.manager, withMetadata(manifest, marks))
  }

  private report(cluster: MemoryCluster, name: string): void {
    const syncer: TestSyncer | undefined =
      this.syncer === undefined ? undefined : SYNCERS[this.syncer]
    if (syncer === undefined || !syncer.applies(name)) return
    const resources = [...this.inventoryOf(cluster, name)]
      .filter((key) => cluster.objects.has(key))
      .map(idOf)
    const own = syncer.own(name, resources, this.repository.head('main'))
    cluster.put(withMetadata(own, { uid: `uid-of-${name}`, resourceVersion: '1' }))
  }

  private inventoryOf(cluster: MemoryCluster, name: string): Set<string> {
    const key = `${cluster.name} ${name}`
    const inventory = this.inventories.get(key) ?? new Set()
    this.inventories.set(key, inventory)
    return inventory
  }
}

/** As cli-utils writes it. */
function objMetadata({ namespace, name, group, kind }: ResourceId): string {
  return `${namespace}_${name}_${group}_${kind}`
}

function addedTo(
  object: JsonObject,
  [part = '', ...below]: readonly string[],
  item: JsonObject,
): JsonObject {
  const before = object[part]
  if (below.length > 0)
    return { ...object, [part]: addedTo(isJsonObject(before) ? before : {}, below, item) }
  return { ...object, [part]: [...(isJsonArray(before) ? before : []), item] }
}

function inventoryIn({ objects }: MemoryCluster): Inventory | undefined {
  const group = objects.get(ownKey('kpt', 'web'))
  if (group === undefined) return undefined
  const resources = filterObjects(getPartAt(group, 'spec', 'resources')).map(
    (each) => each as unknown as ResourceId,
  )
  return { source: 'ResourceGroup shop/web', resources }
}

/** Without an empty part, which would be a difference. */
function joined(part: string, ...given: readonly JsonObject[]): JsonObject {
  const all = Object.assign({}, ...given) as JsonObject
  return Object.keys(all).length === 0 ? {} : { [part]: all }
}

/** `apps/web/config.yaml` is of web. */
function nameIn(path: string): string {
  return path.split('/')[1] ?? ''
}
