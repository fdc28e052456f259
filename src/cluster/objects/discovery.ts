/**
 * Aggregated discovery, or on servers without it one request per group version.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api,
 * k8s.io/api/apidiscovery/v2/types.go.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '@backporch/kyaml/failure'
import {
  filterObjects,
  filterTexts,
  formatJson,
  getKey,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseApiVersion } from '@backporch/kyaml/resource'
import type { Clock } from '@backporch/system/clock'
import { LRUCache } from 'lru-cache'
import type { ReadApi } from '../connection/cluster-api.ts'
import {
  createNotKubernetesFailure,
  createNotServedFailure,
  describeRequestedPath,
  parseJsonResponse,
  type RequestDescription,
  type RequestedResource,
} from '../connection/kubernetes-failure.ts'

export interface ServedResource {
  readonly apiVersion: string
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

interface GroupVersion {
  readonly kinds: ReadonlyMap<string, ServedResource>
  /** The group's API service did not answer: kinds may be outdated or lacking. */
  readonly stale: boolean
}

interface Catalogue {
  /** By apiVersion; `undefined`: kinds need a separate request (older servers). */
  readonly groupVersions: Map<string, GroupVersion | undefined>
  readonly readAt: number
}

const ACCEPT = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',')
/** Milliseconds. A missing kind's CRD may be new. */
const TRUST_A_MISS = 2_000
/** Milliseconds: the server's handlers drop a CRD before its discovery does. */
const LOOKS = [0, 0, 500, 2_000]
/** Most clusters serve the same group versions, at 30 KiB per cluster. */
const SHARED = new LRUCache<string, GroupVersion>({ maxSize: 2_000, sizeCalculation: () => 1 })

export class Discovery {
  private readonly api: ReadApi
  private readonly clock: Clock
  private catalogue: Promise<Catalogue> | undefined

  constructor(api: ReadApi, clock: Clock) {
    this.api = api
    this.clock = clock
  }

  /**
   * An empty `apiVersion` is the server's preferred one of `group`.
   * @throws Failure BP3009 if the kind is not served, BP3005 if its group does not answer, another
   * BP30xx if that is unknown
   */
  async find(
    apiVersion: string,
    kind: string,
    signal: AbortSignal,
    group = '',
  ): Promise<ServedResource> {
    const catalogue = await this.read(signal)
    const wanted = { apiVersion, group, kind }
    const found = await this.lookUpAny(catalogue, wanted, signal)
    if (found !== undefined) return found
    // The clock may have been set back.
    if (Math.abs(this.getNow() - catalogue.readAt) > TRUST_A_MISS) {
      this.catalogue = undefined
      const again = await this.read(signal)
      const late = await this.lookUpAny(again, wanted, signal)
      if (late !== undefined) return late
    }
    const where = { cluster: this.api.cluster, apiVersion: apiVersion || group || 'v1' }
    throw createNotServedFailure(
      where,
      kind,
      'discovery does not list it',
      await this.listOtherVersions(kind),
    )
  }

  /**
   * Whether its CRD was removed.
   * @throws Failure BP30xx if this is unknown
   */
  async isGone({ apiVersion, kind }: ServedResource, signal: AbortSignal): Promise<boolean> {
    for (const wait of LOOKS) {
      await sleep(wait, undefined, { signal })
      const known = await this.read(signal)
      if ((await this.lookUp(known, apiVersion, kind, signal)) === undefined) return true
      if ((await this.catalogue) === known) this.catalogue = undefined
    }
    return false
  }

  /** Without a request: kinds move between groups. */
  private async listOtherVersions(kind: string): Promise<readonly string[]> {
    const groupVersions =
      (await this.catalogue)?.groupVersions ?? new Map<string, GroupVersion | undefined>()
    return [...groupVersions].flatMap(([version, known]) =>
      known?.kinds.has(kind) === true ? [version] : [],
    )
  }

  /**
   * In the server's preferred versions.
   * @returns `unknown`: failures of groups whose API service does not answer
   * @throws Failure BP30xx
   */
  async listNamespacedKinds(
    signal: AbortSignal,
  ): Promise<{ readonly kinds: readonly ServedResource[]; readonly unknown: readonly Failure[] }> {
    const { groupVersions } = await this.read(signal)
    const kinds = new Map<string, ServedResource>()
    const unknown: Failure[] = []
    for (const [version, known] of groupVersions) {
      const listed = known ?? (await this.readGroupVersion(version, signal))
      groupVersions.set(version, listed)
      if (listed.stale) unknown.push(this.groupIsDown(version))
      for (const served of listed.kinds.values()) {
        const key = `${served.group}/${served.kind}`
        if (served.namespaced && served.verbs.includes('list') && !kinds.has(key))
          kinds.set(key, served)
      }
    }
    return { kinds: [...kinds.values()], unknown }
  }

  /**
   * Kinds as far as known without further requests.
   * @throws Failure BP30xx
   */
  async listApiVersions(signal: AbortSignal): Promise<readonly string[]> {
    const { groupVersions } = await this.read(signal)
    return [...groupVersions].flatMap(([version, known]) => [
      version,
      ...[...(known?.kinds.keys() ?? [])].map((kind) => `${version}/${kind}`),
    ])
  }

  private async lookUpAny(
    catalogue: Catalogue,
    { apiVersion, group, kind }: Pick<ServedResource, 'apiVersion' | 'group' | 'kind'>,
    signal: AbortSignal,
  ): Promise<ServedResource | undefined> {
    if (apiVersion !== '') return this.lookUp(catalogue, apiVersion, kind, signal)
    for (const version of catalogue.groupVersions.keys()) {
      const found =
        parseApiVersion(version).group === group
          ? await this.lookUp(catalogue, version, kind, signal)
          : undefined
      if (found !== undefined) return found
    }
    return undefined
  }

  private async lookUp(
    catalogue: Catalogue,
    apiVersion: string,
    kind: string,
    signal: AbortSignal,
  ): Promise<ServedResource | undefined> {
    if (!catalogue.groupVersions.has(apiVersion)) return undefined
    let listed = catalogue.groupVersions.get(apiVersion)
    if (listed === undefined) {
      listed = await this.readGroupVersion(apiVersion, signal)
      catalogue.groupVersions.set(apiVersion, listed)
    }
    const found = listed.kinds.get(kind)
    if (found === undefined && listed.stale) throw this.groupIsDown(apiVersion)
    return found
  }

  private read(signal: AbortSignal): Promise<Catalogue> {
    this.catalogue ??= this.readAll(signal).catch((thrown: unknown) => {
      this.catalogue = undefined
      throw thrown
    })
    return this.catalogue
  }

  private async readAll(signal: AbortSignal): Promise<Catalogue> {
    const groupVersions = new Map<string, GroupVersion | undefined>()
    await Promise.all(['/api', '/apis'].map((path) => this.readRoot(path, groupVersions, signal)))
    return { groupVersions, readAt: this.getNow() }
  }

  private async readRoot(
    path: string,
    into: Map<string, GroupVersion | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const requested = describeRequestedPath(this.api.cluster, path)
    const answer = parseJsonResponse(
      await this.api.get(path, requested, signal, { accept: ACCEPT }),
      requested,
    )
    const kind = getTextAt(answer, 'kind')
    if (!isJsonObject(answer))
      throw createNotKubernetesFailure(requested, 'its answer is not an object')
    if (kind === 'APIGroupDiscoveryList') {
      for (const group of filterObjects(getKey(answer, 'items'))) readGroup(group, into)
    } else if (kind === 'APIVersions') {
      for (const version of filterTexts(getKey(answer, 'versions'))) into.set(version, undefined)
    } else if (kind === 'APIGroupList') {
      const versions = filterObjects(getKey(answer, 'groups')).flatMap((group) =>
        filterObjects(getKey(group, 'versions')),
      )
      for (const version of versions) into.set(getTextAt(version, 'groupVersion'), undefined)
    } else throw createNotKubernetesFailure(requested, 'its answer is not a list of API groups')
  }

  private async readGroupVersion(apiVersion: string, signal: AbortSignal): Promise<GroupVersion> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const requested = describeRequestedPath(this.api.cluster, path)
    const response = await this.api
      .get(path, requested, signal, { answers: [404] })
      .catch((thrown: unknown) => {
        // An API service that is down hides only the kinds of its group.
        if (thrown instanceof Failure && thrown.code === 'BP3005') return undefined
        throw thrown
      })
    if (response === undefined || response.status === 404)
      return { kinds: new Map(), stale: response === undefined }
    const answer = parseJsonResponse(response, requested)
    if (!isJsonObject(answer) || getKey(answer, 'kind') !== 'APIResourceList')
      throw createNotKubernetesFailure(requested, 'its answer is not a list of resources')
    const { group } = parseApiVersion(apiVersion)
    const kinds = new Map<string, ServedResource>()
    for (const resource of filterObjects(getKey(answer, 'resources'))) {
      const [plural, kind] = [getTextAt(resource, 'name'), getTextAt(resource, 'kind')]
      if (plural.includes('/') || kinds.has(kind)) continue
      kinds.set(kind, {
        apiVersion,
        group,
        kind,
        plural,
        namespaced: getKey(resource, 'namespaced') === true,
        verbs: filterTexts(getKey(resource, 'verbs')),
      })
    }
    return { kinds, stale: false }
  }

  private groupIsDown(apiVersion: string): Failure {
    return new Failure({
      code: 'BP3005',
      what: `the kinds of ${apiVersion} cannot be looked up`,
      where: `cluster ${this.api.cluster}`,
      why: 'the API service behind the group does not answer',
      remedy: `check the APIService of ${apiVersion}, then try again`,
      retry: 'backoff',
    })
  }

  private getNow(): number {
    return this.clock.now().getTime()
  }
}

function readGroup(item: JsonObject, into: Map<string, GroupVersion | undefined>): void {
  const group = getTextAt(item, 'metadata', 'name')
  for (const version of filterObjects(getKey(item, 'versions'))) {
    const apiVersion =
      group === '' ? getTextAt(version, 'version') : `${group}/${getTextAt(version, 'version')}`
    const key = hash('sha256', `${apiVersion} ${formatJson(version)}`)
    const known = SHARED.get(key) ?? readVersion(version, apiVersion, group)
    SHARED.set(key, known)
    into.set(apiVersion, known)
  }
}

function readVersion(version: JsonObject, apiVersion: string, group: string): GroupVersion {
  const kinds = new Map<string, ServedResource>()
  for (const resource of filterObjects(getKey(version, 'resources'))) {
    const kind = getTextAt(resource, 'responseKind', 'kind') || undefined
    // A placeholder for subresources of an unserved kind has no kind.
    if (kind === undefined || kinds.has(kind)) continue
    const namespaced = getTextAt(resource, 'scope') === 'Namespaced'
    const plural = getTextAt(resource, 'resource')
    kinds.set(kind, {
      apiVersion,
      group,
      kind,
      plural,
      namespaced,
      verbs: filterTexts(getKey(resource, 'verbs')),
    })
  }
  return { kinds, stale: getTextAt(version, 'freshness') === 'Stale' }
}

export function buildCollectionPath(resource: ServedResource, namespace: string): string {
  const { apiVersion, plural } = resource
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const middle =
    resource.namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${middle}/${plural}`
}

export function buildObjectPath(resource: ServedResource, namespace: string, name: string): string {
  return `${buildCollectionPath(resource, namespace)}/${encodeURIComponent(name)}`
}

export function describeResourceRequest(
  cluster: string,
  verb: RequestDescription['verb'],
  served: ServedResource,
  {
    namespace = '',
    name = '',
  }: { readonly namespace?: string | undefined; readonly name?: string | undefined } = {},
): RequestDescription {
  const { group, kind, plural } = served
  const resource: RequestedResource = {
    group,
    kind,
    plural,
    namespace: served.namespaced ? namespace : '',
    name,
  }
  return { cluster, verb, resource, path: buildCollectionPath(served, namespace) }
}
