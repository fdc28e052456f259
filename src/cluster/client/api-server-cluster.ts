/** It cannot write. */
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { getPartAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import {
  getMetadataText,
  type LiveView,
  type Prediction,
  type Resource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import { predict } from '../apply/predict.ts'
import type { ReadApi } from '../connection/cluster-api.ts'
import {
  createNotKubernetesFailure,
  describeRequestedPath,
  parseJsonResponse,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'
import { AdmissionOutages } from '../objects/admission-outages.ts'
import { Discovery } from '../objects/discovery.ts'
import { KnownRevisions } from '../objects/known-revisions.ts'
import { listObjects } from '../objects/list-objects.ts'
import { readInventories } from '../objects/read-inventories.ts'
import { type LiveSources, readLive } from '../objects/read-live.ts'
import { SchemaSource } from '../objects/schema-source.ts'
import type {
  ClusterIdentity,
  ClusterReader,
  Inventory,
  InventoryQuestion,
  ObjectList,
  ServedKind,
} from '../ports/cluster.ts'

interface ApiServerOptions {
  readonly clock: Clock
  readonly defaultNamespace: string
}

export class ApiServerCluster implements ClusterReader {
  readonly name: string
  private readonly api: ReadApi
  private readonly clock: Clock
  private readonly sources: LiveSources
  private readonly schemas: SchemaSource

  constructor(api: ReadApi, options: ApiServerOptions) {
    this.name = api.cluster
    this.api = api
    this.clock = options.clock
    this.sources = {
      api,
      discovery: new Discovery(api, options.clock),
      defaultNamespace: options.defaultNamespace,
      refused: new Set(),
      outages: new AdmissionOutages(options.clock),
      revisions: new KnownRevisions(),
    }
    this.schemas = new SchemaSource(api)
  }

  async identify(signal: AbortSignal): Promise<ClusterIdentity> {
    const requested = describeRequestedPath(this.name, '/version')
    const answer = parseJsonResponse(await this.api.get('/version', requested, signal), requested)
    const version = getPartAt(answer, 'gitVersion')
    if (typeof version !== 'string')
      throw createNotKubernetesFailure(
        requested,
        'its answer is not the version of a Kubernetes API server',
      )
    const { uid, hasNoUid } = await this.readUid(signal)
    return {
      uid,
      ...(hasNoUid ? { hasNoUid } : {}),
      version,
      observedAt: `${this.clock.now().toISOString().slice(0, 19)}Z`,
      recorded: false,
      namespace: this.sources.defaultNamespace,
      ...omitUndefined({ apiVersions: await this.listApiVersions(signal) }),
    }
  }

  private async listApiVersions(signal: AbortSignal): Promise<readonly string[] | undefined> {
    try {
      return await this.sources.discovery.listApiVersions(signal)
    } catch (thrown) {
      signal.throwIfAborted()
      convertToFailure(thrown)
      return undefined
    }
  }

  async findServedKind(apiVersion: string, kind: string, signal: AbortSignal): Promise<ServedKind> {
    const { namespaced } = await this.sources.discovery.find(apiVersion, kind, signal)
    return { namespaced, schema: await this.schemas.readSchema(apiVersion, kind, signal) }
  }

  readLive(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView> {
    return readLive(this.sources, wanted, signal)
  }

  async list(group: string, kind: string, signal: AbortSignal): Promise<ObjectList> {
    const served = await this.sources.discovery.find('', kind, signal, group)
    const objects: JsonObject[] = []
    const take = (item: JsonObject): unknown => objects.push(item)
    await listObjects(
      this.api,
      served,
      { namespace: '', take, restart: () => objects.splice(0) },
      signal,
    )
    return { objects, complete: true }
  }

  readInventories(
    refs: readonly InventoryQuestion[],
    signal: AbortSignal,
  ): Promise<readonly (Inventory | Failure | undefined)[]> {
    return readInventories(this.sources, refs, signal)
  }

  predict(resource: Resource, fieldManager: string, signal: AbortSignal): Promise<Prediction> {
    return predict(this.sources, resource, fieldManager, signal)
  }

  /** @throws Failure BP30xx */
  openApiDocument(apiVersion: string, signal: AbortSignal) {
    return this.schemas.readDocument(apiVersion, signal)
  }

  /** Undefined if unreadable or absent: nothing else depends on it. */
  private async readUid(
    signal: AbortSignal,
  ): Promise<{ readonly uid: string | undefined; readonly hasNoUid: boolean }> {
    const path = '/api/v1/namespaces/kube-system'
    const resource = {
      group: '',
      kind: 'Namespace',
      plural: 'namespaces',
      namespace: '',
      name: 'kube-system',
    }
    const requested: RequestDescription = { cluster: this.name, verb: 'get', resource, path }
    try {
      const answer = parseJsonResponse(await this.api.get(path, requested, signal), requested)
      const uid = isJsonObject(answer) ? getMetadataText(answer, 'uid') : undefined
      return { uid: uid || undefined, hasNoUid: false }
    } catch (thrown) {
      if (thrown instanceof Failure && (thrown.code === 'BP3003' || thrown.code === 'BP3011'))
        return { uid: undefined, hasNoUid: thrown.code === 'BP3011' }
      throw thrown
    }
  }
}
