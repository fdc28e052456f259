/**
 * Each write needs the merged commit that authorises it. The commit goes into the field manager
 * (`backporch.dev/<12 digits>`), which the server stores, and, with the episode, into the
 * User-Agent, which the server puts into audit events. A client cannot set audit annotations
 * (docs/facts/audit-annotations.md).
 */
import { Failure } from '@backporch/kyaml/failure'
import { SETTLE_MANAGER } from '@backporch/kyaml/field'
import { formatJson, getKey, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  getMetadataText,
  type Resource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { Clock } from '@backporch/system/clock'
import type { ApiWrite, ReadApi, WriteApi } from '../connection/cluster-api.ts'
import {
  createNotKubernetesFailure,
  createResponseFailure,
  isObjectAbsent,
  parseJsonResponse,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'
import {
  buildObjectPath,
  Discovery,
  describeResourceRequest,
  type ServedResource,
} from '../objects/discovery.ts'
import type { ApprovedWrite, Authorisation, ClusterWriter } from '../ports/cluster.ts'
import { buildAppliedObject } from './applied-object.ts'
import { buildGuardedPatch } from './guarded-patch.ts'

interface ApiServerWriterOptions {
  readonly clock: Clock
  readonly defaultNamespace: string
  readonly userAgent: string
}

interface Location {
  readonly served: ServedResource
  readonly namespace: string
  readonly name: string
  readonly path: string
}

type WriteOptions = Pick<ApiWrite, 'fieldManager' | 'userAgent'>

const COMMIT = /^[0-9a-f]{40}$/
const EPISODE = /^[0-9A-Za-z._-]{1,64}$/

export class ApiServerWriter implements ClusterWriter {
  private readonly reads: ReadApi
  private readonly writes: WriteApi
  private readonly discovery: Discovery
  private readonly options: ApiServerWriterOptions

  constructor(reads: ReadApi, writes: WriteApi, options: ApiServerWriterOptions) {
    this.reads = reads
    this.writes = writes
    this.discovery = new Discovery(reads, options.clock)
    this.options = options
  }

  async write(
    change: ApprovedWrite,
    authorisation: Authorisation,
    signal: AbortSignal,
  ): Promise<void> {
    const options = this.authorise(authorisation)
    if (change.kind === 'apply') return this.apply(change.resource, options, signal)
    if (change.kind === 'delete') return this.remove(change, options, signal)
    if (change.kind === 'patch-fields') return this.patchFields(change, options, signal)
    const { path, expected } = change
    return this.patchFields(
      { ...change, kind: 'patch-fields', fields: [{ path, expected, value: undefined }] },
      options,
      signal,
    )
  }

  private authorise({ commit, episode }: Authorisation): WriteOptions {
    if (!COMMIT.test(commit) || !EPISODE.test(episode)) {
      throw new Failure({
        code: 'BP3013',
        what: 'the cluster is not written to',
        where: `cluster ${this.reads.cluster}`,
        why: 'the write names no merged commit of 40 hex digits and its episode',
        remedy: 'approve and merge the proposal first',
      })
    }
    return {
      fieldManager: `${SETTLE_MANAGER}${commit.slice(0, 12)}`,
      userAgent: `${this.options.userAgent} (commit ${commit}; episode ${episode})`,
    }
  }

  /** `uid` and `resourceVersion`, if set, are preconditions. */
  private async apply(
    resource: Resource,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const location = await this.findLocation(
      { id: resource.id, apiVersion: resource.apiVersion },
      signal,
    )
    const requested = this.describeRequest('patch', location)
    const body = formatJson(buildAppliedObject(resource.object, ['uid', 'resourceVersion']))
    const answer = await this.writes.apply(
      { ...options, path: location.path, body, answers: [409] },
      requested,
      signal,
    )
    if (answer.status === 409)
      throw createChangedFailure(
        this.reads.cluster,
        resource,
        'it is no longer the object that was reviewed',
      )
  }

  private async remove(
    change: Extract<ApprovedWrite, { kind: 'delete' }>,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion } = change
    if (uid === undefined || resourceVersion === undefined)
      throw createChangedFailure(
        this.reads.cluster,
        change.target,
        'its uid and resource version were not recorded',
      )
    const location = await this.findLocation(change.target, signal)
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      preconditions: { uid, resourceVersion },
    }
    const requested = this.describeRequest('delete', location)
    const write = { ...options, path: location.path, body: formatJson(body), answers: [404, 409] }
    const answer = await this.writes.delete(write, requested, signal)
    if (answer.status === 409)
      throw createChangedFailure(
        this.reads.cluster,
        change.target,
        'it changed since it was reviewed',
      )
    // An absent object is the approved state; a missing path is not.
    if (answer.status === 404 && !isObjectAbsent(answer, location.name))
      throw createResponseFailure(answer, requested)
  }

  /** A `test` of the version and of the reviewed value precedes each operation. */
  private async patchFields(
    change: Extract<ApprovedWrite, { kind: 'patch-fields' }>,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const location = await this.findLocation(change.target, signal)
    const live = await this.read(location, change.target, signal)
    if (getMetadataText(live, 'resourceVersion') !== change.resourceVersion) {
      throw createChangedFailure(
        this.reads.cluster,
        change.target,
        'it changed since it was reviewed',
      )
    }
    const patch = buildGuardedPatch(live, change.fields)
    if ('unlike' in patch) {
      throw createChangedFailure(
        this.reads.cluster,
        change.target,
        `${formatRedactedPath(patch.unlike, change.target.id)} does not hold the value that was reviewed`,
      )
    }
    const body = [
      { op: 'test', path: '/metadata/resourceVersion', value: change.resourceVersion },
      ...patch.operations,
    ]
    const requested = this.describeRequest('patch', location)
    const write = { ...options, path: location.path, body: formatJson(body), answers: [409, 422] }
    const answer = await this.writes.jsonPatch(write, requested, signal)
    if (answer.status < 300) return
    // A failed `test` and an invalid result are both 422: the version distinguishes them.
    const now = await this.read(location, change.target, signal)
    if (
      answer.status === 409 ||
      getMetadataText(now, 'resourceVersion') !== change.resourceVersion
    ) {
      throw createChangedFailure(
        this.reads.cluster,
        change.target,
        'it changed while it was written',
      )
    }
    throw createResponseFailure(answer, requested)
  }

  private async read(
    location: Location,
    target: WantedObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const requested = this.describeRequest('get', location)
    const answer = await this.reads.get(location.path, requested, signal, { answers: [404] })
    if (answer.status === 404) {
      if (isObjectAbsent(answer, location.name))
        throw createChangedFailure(this.reads.cluster, target, 'it no longer exists')
      throw createResponseFailure(answer, requested)
    }
    const object = parseJsonResponse(answer, requested)
    if (!isJsonObject(object) || getKey(object, 'kind') !== target.id.kind)
      throw createNotKubernetesFailure(requested, 'its answer is not the object')
    return object
  }

  private async findLocation(
    { id, apiVersion }: WantedObject,
    signal: AbortSignal,
  ): Promise<Location> {
    const served = await this.discovery.find(apiVersion, id.kind, signal)
    const namespace = served.namespaced ? id.namespace || this.options.defaultNamespace : ''
    return { served, namespace, name: id.name, path: buildObjectPath(served, namespace, id.name) }
  }

  private describeRequest(
    verb: RequestDescription['verb'],
    { served, namespace, name }: Location,
  ): RequestDescription {
    return describeResourceRequest(this.reads.cluster, verb, served, { namespace, name })
  }
}

function createChangedFailure(
  cluster: string,
  { id }: Pick<WantedObject, 'id'>,
  why: string,
): Failure {
  return new Failure({
    code: 'BP2005',
    what: `${describeResourceId(id)} is not written`,
    where: `cluster ${cluster}`,
    why,
    remedy: 'run scan again and review what the cluster has now',
    retry: 'on-change',
  })
}
