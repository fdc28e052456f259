/** A dry run of server-side apply with the syncer's field manager. */
import { formatJson, getKey, getPartAt, getTextAt, isJsonObject } from '@backporch/kyaml/json'
import { getMetadataText, type Prediction, type Resource } from '@backporch/kyaml/resource'
import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node/dist/gen/models/V1SelfSubjectAccessReview.js'
import type { ReadApi } from '../connection/cluster-api.ts'
import {
  createNotKubernetesFailure,
  createResponseFailure,
  dryRunUnsupported,
  parseJsonResponse,
  parseStatus,
  type RequestDescription,
  shorten,
} from '../connection/kubernetes-failure.ts'
import type { ApiResponse } from '../connection/transport.ts'
import type { WireForm } from '../connection/wire-form.ts'
import {
  buildObjectPath,
  describeResourceRequest,
  type ServedResource,
} from '../objects/discovery.ts'
import { listObjects, requireFailure } from '../objects/list-objects.ts'
import type { LiveSources } from '../objects/read-live.ts'
import { buildAppliedObject } from './applied-object.ts'
import { readRefusal } from './refused-apply.ts'

/** @throws only the reason of `signal` */
export async function predict(
  sources: LiveSources,
  resource: Resource,
  fieldManager: string,
  signal: AbortSignal,
): Promise<Prediction> {
  const { api } = sources
  try {
    const served = await sources.discovery.find(resource.apiVersion, resource.id.kind, signal)
    const namespace = served.namespaced ? resource.id.namespace || sources.defaultNamespace : ''
    const requested = describeResourceRequest(api.cluster, 'patch', served, {
      namespace,
      name: resource.id.name,
    })
    const down = sources.outages.findFailure(requested)
    if (down !== undefined) return { state: 'unproven', failure: down }
    const path = buildObjectPath(served, namespace, resource.id.name)
    const applied = { path, body: formatJson(buildAppliedObject(resource.object)), fieldManager }
    let response = await api.dryRunApply(applied, requested, signal)
    // etcd just elected another leader. A webhook or schema rejects again.
    if (isServerError(response, requested))
      response = await api.dryRunApply(applied, requested, signal)
    if (response.status >= 300) return await judge(sources, response, { served, requested }, signal)
    const object = parseJsonResponse(response, requested)
    if (
      !isJsonObject(object) ||
      getKey(object, 'kind') !== resource.id.kind ||
      getMetadataText(object, 'name') !== resource.id.name
    ) {
      throw createNotKubernetesFailure(requested, 'its answer is not the object')
    }
    return { state: 'predicted', object }
  } catch (thrown) {
    return { state: 'unproven', failure: requireFailure(thrown) }
  }
}

function isServerError(response: ApiResponse, requested: RequestDescription): boolean {
  if (response.status !== 500) return false
  const refusal = readRefusal(response, requested)
  return refusal.state === 'unproven' && !refusal.webhookDown
}

async function judge(
  { api, outages }: LiveSources,
  response: ApiResponse,
  {
    served,
    requested,
  }: { readonly served: ServedResource; readonly requested: RequestDescription },
  signal: AbortSignal,
): Promise<Prediction> {
  const failure = createResponseFailure(response, requested)
  if (response.status === 404 && failure.code !== 'BP3011') return { state: 'unproven', failure }
  const refusal = readRefusal(response, requested)
  if (refusal.state === 'unproven') {
    if (refusal.webhookDown) outages.add(requested, refusal.failure)
    return { state: 'unproven', failure: refusal.failure }
  }
  if (response.status === 403 && refusal.reason === 'Invalid') {
    const lacking = await findLackingRight(api, served, requested, signal)
    if (lacking !== undefined)
      return {
        state: 'unproven',
        failure: createResponseFailure(response, { ...requested, verb: lacking }),
      }
  }
  const unsupported = findDryRunRefusal(response)
  return unsupported === undefined
    ? refusal
    : { state: 'unproven', failure: dryRunUnsupported(requested, shorten(unsupported)) }
}

/**
 * Undefined when admission refused: RBAC and admission use the same status and reason, so this asks
 * the server about the account's rights. Without an answer it is the right to patch.
 */
async function findLackingRight(
  api: ReadApi,
  served: ServedResource,
  requested: RequestDescription,
  signal: AbortSignal,
): Promise<'patch' | 'create' | undefined> {
  try {
    if (!(await isAllowed(api, 'patch', requested, signal))) return 'patch'
    if (await isAllowed(api, 'create', requested, signal)) return undefined
    // An apply creates a missing object, which needs that right too.
    const { namespace = '', name = '' } = requested.resource ?? {}
    let exists = false
    const options = { namespace, name, metadataOnly: true, restart: () => {}, take: () => {} }
    await listObjects(api, served, { ...options, take: () => (exists = true) }, signal)
    return exists ? undefined : 'create'
  } catch (thrown) {
    requireFailure(thrown)
    return 'patch'
  }
}

async function isAllowed(
  api: ReadApi,
  verb: 'patch' | 'create',
  requested: RequestDescription,
  signal: AbortSignal,
): Promise<boolean> {
  const { group = '', plural: resource = '', namespace = '', name = '' } = requested.resource ?? {}
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource, namespace, name } },
  } satisfies WireForm<V1SelfSubjectAccessReview>
  const about: RequestDescription = {
    ...requested,
    verb: 'create',
    resource: undefined,
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  }
  const answer = parseJsonResponse(await api.reviewAccess(formatJson(body), about, signal), about)
  if (!isJsonObject(getPartAt(answer, 'status')))
    throw createNotKubernetesFailure(about, 'its answer is not an access review')
  return getPartAt(answer, 'status', 'allowed') === true
}

/**
 * A plain 400 that only its message identifies (k8s.io/apiserver, admission/plugin/webhook/errors,
 * `NewDryRunUnsupportedErr`). As a refusal it would wrongly say that a re-apply fails. @returns the
 * name of the webhook
 */
function findDryRunRefusal(response: ApiResponse): string | undefined {
  if (response.status !== 400) return undefined
  return /^admission webhook "(.*)" does not support dry run$/.exec(
    getTextAt(parseStatus(response.body), 'message'),
  )?.[1]
}
