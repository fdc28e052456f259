/** The server's answer to applying an object: a dry run of server-side apply with the syncer's field manager. */
import { formatJson, getKey, isJsonObject } from '../../krm/json.ts'
import type { Prediction } from '../../krm/live-view.ts'
import { metadataText, type Resource } from '../../krm/resource.ts'
import { appliedObject } from './applied-object.ts'
import type { ReadApi } from './cluster-api.ts'
import { askedFor, objectPath, type ServedResource } from './discovery.ts'
import {
  type Asked,
  dryRunUnsupported,
  failureOfRefusal,
  failureOfResponse,
  jsonOf,
  notKubernetes,
  statusOf,
} from './kubernetes-failure.ts'
import { failureOrThrow, listObjects } from './list-objects.ts'
import type { LiveSources } from './read-live.ts'
import type { ApiResponse } from './transport.ts'

/** As `ClusterReader.predict`. @throws only the reason of `signal` */
export async function predict(sources: LiveSources, resource: Resource, fieldManager: string, signal: AbortSignal): Promise<Prediction> {
  const { api } = sources
  try {
    const served = await sources.discovery.find(resource.apiVersion, resource.id.kind, signal)
    const namespace = served.namespaced ? resource.id.namespace || sources.defaultNamespace : ''
    const asked = askedFor(api.cluster, 'patch', served, namespace, resource.id.name)
    const path = objectPath(served, namespace, resource.id.name)
    const response = await api.dryRunApply(path, formatJson(appliedObject(resource.object)), fieldManager, asked, signal)
    if (response.status >= 300) return await judge(api, response, served, asked, signal)
    const object = jsonOf(response, asked)
    if (!isJsonObject(object) || getKey(object, 'kind') !== resource.id.kind || metadataText(object, 'name') !== resource.id.name) {
      throw notKubernetes(asked, 'its answer is not the object')
    }
    return { state: 'predicted', object }
  } catch (thrown) {
    return { state: 'unproven', failure: failureOrThrow(thrown) }
  }
}

/** What a 4xx means: the server will not take the object, or nobody could say. */
async function judge(api: ReadApi, response: ApiResponse, served: ServedResource, asked: Asked, signal: AbortSignal): Promise<Prediction> {
  if (response.status === 404) {
    const failure = failureOfResponse(response, asked)
    return { state: failure.code === 'BP3011' ? 'refused' : 'unproven', failure }
  }
  if (response.status === 403) {
    const lacking = await lackingRight(api, served, asked, signal)
    if (lacking !== undefined) return { state: 'unproven', failure: failureOfResponse(response, { ...asked, verb: lacking }) }
  }
  if (isDryRunUnsupported(response)) return { state: 'unproven', failure: dryRunUnsupported(asked) }
  return { state: 'refused', failure: failureOfRefusal(response, asked) }
}

/**
 * The right that a 403 was about, or undefined when there is none and admission refused: RBAC and admission answer with
 * one and the same status and reason, so the server is asked about our rights. Without an answer: the right to patch.
 */
async function lackingRight(
  api: ReadApi,
  served: ServedResource,
  asked: Asked,
  signal: AbortSignal,
): Promise<'patch' | 'create' | undefined> {
  try {
    if (!(await isAllowed(api, 'patch', asked, signal))) return 'patch'
    if (await isAllowed(api, 'create', asked, signal)) return undefined
    // An apply creates what is not there, and then needs that right too.
    const { namespace = '', name = '' } = asked.resource ?? {}
    let exists = false
    const options = { namespace, name, metadataOnly: true, restart: () => {}, take: () => {} }
    await listObjects(api, served, { ...options, take: () => (exists = true) }, signal)
    return exists ? undefined : 'create'
  } catch (thrown) {
    failureOrThrow(thrown)
    return 'patch'
  }
}

/** @throws Failure */
async function isAllowed(api: ReadApi, verb: 'patch' | 'create', asked: Asked, signal: AbortSignal): Promise<boolean> {
  const { group = '', plural: resource = '', namespace = '', name = '' } = asked.resource ?? {}
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource, namespace, name } },
  }
  const about: Asked = { ...asked, verb: 'create', resource: undefined, path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' }
  const answer = jsonOf(await api.reviewAccess(formatJson(body), about, signal), about)
  const status = isJsonObject(answer) ? getKey(answer, 'status') : undefined
  if (!isJsonObject(status)) throw notKubernetes(about, 'its answer is not an access review')
  return getKey(status, 'allowed') === true
}

/**
 * The server says this by a plain 400 whose only mark is its sentence (k8s.io/apiserver, admission/plugin/webhook/errors,
 * `NewDryRunUnsupportedErr`), so here a message is read: taking it for a refusal would say that a re-apply fails, which it does not.
 */
function isDryRunUnsupported(response: ApiResponse): boolean {
  const message = getKey(statusOf(response.body) ?? {}, 'message')
  return response.status === 400 && typeof message === 'string' && /^admission webhook ".*" does not support dry run$/.test(message)
}
