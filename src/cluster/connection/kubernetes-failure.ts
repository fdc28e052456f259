/** Shapes: `metav1.Status` in k8s.io/apimachinery/pkg/apis/meta/v1/types.go. */
import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import {
  filterObjects,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { hasSecretText, isSensitive } from '@backporch/kyaml/redaction'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { ApiResponse, TransportFault } from './transport.ts'

export interface RequestDescription {
  readonly cluster: string
  readonly verb: 'get' | 'list' | 'watch' | 'patch' | 'create' | 'delete'
  readonly resource: RequestedResource | undefined
  readonly path: string
  /** Verbs that the missing rule includes too. */
  readonly alsoNeeded?: readonly string[]
}

export interface RequestedResource {
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** Empty for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string
  readonly name: string
}

export function describeRequestedPath(cluster: string, path: string): RequestDescription {
  return { cluster, verb: 'get', resource: undefined, path: path.replace(/\?.*$/, '') }
}

const LONGEST_MESSAGE = 300
const MOST_CAUSES = 5

const PASSING: ReadonlySet<FailureCode> = new Set([
  'BP3001',
  'BP3004',
  'BP3005',
  'BP3006',
  'BP3010',
])

export function createResponseFailure(
  response: ApiResponse,
  requested: RequestDescription,
): Failure {
  const { status } = response
  const answer = parseStatus(response.body)
  const failure = (code: FailureCode, why: string, remedy: string): Failure =>
    createKubernetesFailure(requested, code, { why, remedy })
  if (status >= 300 && status < 400)
    return createNotKubernetesFailure(
      requested,
      `it answers ${status}, a redirect, which is not followed`,
    )
  if (status === 401)
    return failure(
      'BP3002',
      'the server does not accept the credentials (401)',
      'log in again, or correct the user of the context',
    )
  if (status === 403) {
    const user = /User "((?:[^"\\]|\\.)+)" cannot /.exec(getTextAt(answer, 'message'))?.[1]
    return failure(
      'BP3003',
      `the account may not ${requested.verb} it (403)`,
      formatRbacRule(requested, user),
    )
  }
  if (status === 404) return createNotFoundFailure(requested, answer)
  if (status === 429)
    return failure(
      'BP3004',
      'the server is busy (429)',
      'wait, or give the account a priority level of its own',
    )
  if (status === 408 || status === 504)
    return failure(
      'BP3006',
      `the server gave up on the request (${status})`,
      'try again; check the API server and its etcd',
    )
  if (status >= 500 && /^conversion webhook for /.test(getTextAt(answer, 'message'))) {
    const why =
      'ConversionFailed: the conversion webhook of the kind does not answer, or answers with an error'
    return failure(
      'BP3005',
      why,
      'check the service in spec.conversion of the CustomResourceDefinition',
    )
  }
  if (status >= 500)
    return failure(
      'BP3005',
      formatReason(requested, status, answer),
      'try again; check the API server and its admission webhooks',
    )
  if (status === 405 || status === 406 || status === 415) {
    const why = `the server does not serve ${requested.verb} for it (${status})`
    return failure('BP3009', why, 'check the API service that serves the kind')
  }
  if (status === 410)
    return failure('BP3010', 'the list expired while it was read (410)', 'try again')
  return createRefusalFailure(response, requested)
}

export function createFaultFailure(fault: TransportFault, requested: RequestDescription): Failure {
  const { detail } = fault
  const failure = (code: FailureCode, why: string, remedy: string): Failure =>
    createKubernetesFailure(requested, code, { why, remedy })
  switch (fault.fault) {
    case 'unreachable':
      return failure(
        'BP3001',
        `no connection (${detail})`,
        'check that the server of the context is up and reachable from here',
      )
    case 'broken':
      return failure(
        'BP3001',
        `the connection broke before the whole answer came (${detail})`,
        'try again',
      )
    case 'timeout':
      return failure('BP3006', detail, 'try again; check the network between here and the server')
    case 'rejected': {
      const why = `the server refuses the client certificate (${detail})`
      return failure('BP3002', why, 'log in again with the tool that made the kubeconfig')
    }
    case 'untrusted': {
      const ended = fault.notAfter === undefined ? '' : `; it was valid until ${fault.notAfter}`
      const why = `the server's certificate is not accepted (${detail}${ended})`
      return failure(
        'BP3007',
        why,
        "renew the server's certificate, or put its authority into the kubeconfig",
      )
    }
    case 'too-large': {
      const why = `the answer is too large (${detail})`
      return createKubernetesFailure(requested, 'BP3010', {
        why,
        remedy: 'name fewer objects, or the larger ones alone',
        retry: 'never',
      })
    }
    case 'not-http':
      return createNotKubernetesFailure(requested, `it does not speak HTTP (${detail})`)
    case 'link-local':
      return failure('BP1006', detail, 'correct clusters[].cluster.server')
  }
}

export function createRefusalFailure(
  response: ApiResponse,
  requested: RequestDescription,
): Failure {
  const why = formatReason(requested, response.status, parseStatus(response.body))
  return createRefusedFailure(requested, why, 'correct the object, or what refuses it')
}

export function createRefusedFailure(
  requested: RequestDescription,
  why: string,
  remedy: string,
): Failure {
  return createKubernetesFailure(requested, 'BP3011', { why, remedy })
}

/** `failurePolicy: Fail`: neither Backporch nor the syncer learns what the server would do. */
export function createAdmissionUnavailable(
  requested: RequestDescription,
  webhook: string,
): Failure {
  const why = `AdmissionUnavailable: the admission webhook ${webhook} does not answer`
  return createAdmissionFailure(requested, {
    why,
    remedy: `check the service behind the webhook ${webhook}`,
  })
}

export function createAdmissionFailure(
  requested: RequestDescription,
  { why, remedy }: { readonly why: string; readonly remedy: string },
): Failure {
  return createKubernetesFailure(requested, 'BP3005', { why, remedy })
}

/** By `sideEffects` of its configuration; nothing was decided. */
export function dryRunUnsupported(requested: RequestDescription, webhook: string): Failure {
  const why = `DryRunUnsupported: the admission webhook ${webhook} does not support dry runs, so the result shows ownership only`
  const remedy =
    'declare sideEffects: None or NoneOnDryRun in the webhook configuration, if that is true of it'
  return createKubernetesFailure(requested, 'BP3005', { why, remedy, retry: 'on-change' })
}

export function createNotKubernetesFailure(requested: RequestDescription, why: string): Failure {
  const remedy = 'check the server of the context: a login page or a proxy may answer in its place'
  return createKubernetesFailure(requested, 'BP3008', { why, remedy })
}

export function createIncompleteListFailure(requested: RequestDescription, why: string): Failure {
  return createKubernetesFailure(requested, 'BP3010', {
    why,
    remedy: 'try again; if it stays, check the API service that serves the kind',
  })
}

/**
 * @param reason why it is unknown, such as an API service that is down
 * @param others versions in which the server has a kind of this name
 */
export function createNotServedFailure(
  { cluster, apiVersion }: { readonly cluster: string; readonly apiVersion: string },
  kind: string,
  reason: string,
  others: readonly string[] = [],
): Failure {
  const moved = others.length === 0 ? undefined : others.slice(0, MOST_CAUSES).join(', ')
  return new Failure({
    code: 'BP3009',
    what: `the cluster does not serve ${kind} in ${apiVersion}`,
    where: `cluster ${cluster}`,
    why: moved === undefined ? reason : `${reason}; it serves ${kind} in ${moved}`,
    remedy:
      moved === undefined
        ? 'install what serves the kind, or correct apiVersion and kind in the manifest'
        : `write the manifest for ${others[0]}, or install what serves the kind`,
    retry: 'on-change',
  })
}

/**
 * @param types further media types; real servers send the OpenAPI index as text/plain
 * @throws Failure BP3008 if it is not JSON
 */
export function parseJsonResponse(
  response: ApiResponse,
  requested: RequestDescription,
  types: readonly string[] = [],
): Json {
  assertJson(response.headers, requested, types)
  try {
    return parseJson(response.body)
  } catch {
    // The parser's message quotes the text.
    throw createNotKubernetesFailure(requested, 'its answer is not whole JSON')
  }
}

/** @throws Failure BP3008 if the content type is not JSON */
export function assertJson(
  headers: ApiResponse['headers'],
  requested: RequestDescription,
  types: readonly string[] = [],
): void {
  const type = /^[\w.+/-]+/.exec(headers.get('content-type') ?? '')?.[0]?.toLowerCase()
  if (type !== undefined && (/^application\/([a-z.-]+\+)?json$/.test(type) || types.includes(type)))
    return
  throw createNotKubernetesFailure(
    requested,
    `it answers with ${type ?? 'no content type'}, wanted JSON`,
  )
}

export function parseStatus(body: string): JsonObject | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const value = parseJson(body)
    return isJsonObject(value) && getTextAt(value, 'kind') === 'Status' ? value : undefined
  } catch {
    return undefined
  }
}

export function isObjectAbsent(response: ApiResponse, name: string): boolean {
  const status = parseStatus(response.body)
  return (
    response.status === 404 &&
    status !== undefined &&
    getTextAt(status, 'reason') === 'NotFound' &&
    getTextAt(status, 'details', 'name') === name
  )
}

export function formatRbacRule(requested: RequestDescription, user: string | undefined): string {
  const { resource } = requested
  const verbs = [requested.verb, ...(requested.alsoNeeded ?? [])].sort().map((verb) => `"${verb}"`)
  const whom = user === undefined ? 'the account of the context' : `user ${JSON.stringify(user)}`
  if (resource === undefined)
    return `bind ${whom} to a ClusterRole with nonResourceURLs: ["${requested.path}"], verbs: ["${requested.verb}"]`
  const role =
    resource.namespace === '' ? 'a ClusterRole' : `a Role in namespace ${resource.namespace}`
  return `bind ${whom} to ${role} with apiGroups: ["${resource.group}"], resources: ["${resource.plural}"], verbs: [${verbs.join(', ')}]`
}

function createNotFoundFailure(
  requested: RequestDescription,
  answer: JsonObject | undefined,
): Failure {
  const [kind, name] = [getTextAt(answer, 'details', 'kind'), getTextAt(answer, 'details', 'name')]
  if (kind === 'namespaces' && requested.resource?.plural !== 'namespaces')
    return createRefusedFailure(
      requested,
      `namespace ${name} does not exist`,
      `create namespace ${name} first`,
    )
  if (name !== '' && name === requested.resource?.name)
    return createRefusedFailure(requested, 'the object does not exist', 'look again')
  const remedy = 'install what serves the kind, or correct apiVersion and kind'
  return createKubernetesFailure(requested, 'BP3009', {
    why: 'the path is not served (404)',
    remedy,
  })
}

/** For a Secret only classes and paths, because messages quote values. */
function formatReason(
  requested: RequestDescription,
  status: number,
  answer: JsonObject | undefined,
): string {
  const reason = getTextAt(answer, 'reason') || undefined
  const head = reason === undefined ? `status ${status}` : `${reason} (${status})`
  const causes = filterObjects(getPartAt(answer, 'details', 'causes')).slice(0, MOST_CAUSES)
  const hides = (text: string): boolean => shouldHideText(requested, text)
  const parts = causes.map((cause) => {
    const [location, message] = [getTextAt(cause, 'field'), getTextAt(cause, 'message')]
    return [
      hasSecretText(location) ? 'a hidden place' : location,
      hides(message) ? getTextAt(cause, 'reason') : shorten(message, requested),
    ]
      .filter((text) => text !== '')
      .join(': ')
  })
  const message = getTextAt(answer, 'message')
  if (parts.length === 0 && message !== '' && !hides(message))
    parts.push(shorten(message, requested))
  return parts.length === 0 ? head : `${head}: ${parts.join('; ')}`
}

/** Every message about a Secret, and any that looks like one. */
export function shouldHideText({ resource }: RequestDescription, text: string): boolean {
  const id = { group: resource?.group ?? '', kind: resource?.kind ?? '', namespace: '', name: '' }
  return isSensitive({ id, path: [] }, text)
}

/** Quotations become `…`, because any value may be a secret; names from the request stay. */
export function shorten(
  text: string,
  { resource }: Pick<RequestDescription, 'resource'> = { resource: undefined },
): string {
  const requested =
    resource === undefined
      ? []
      : [resource.name, resource.namespace, resource.kind, resource.plural, resource.group]
  const message = text
    .replace(QUOTED, (quoted) =>
      requested.includes(quoted.slice(1, -1)) ? quoted : `${quoted.charAt(0)}…${quoted.charAt(0)}`,
    )
    .replace(UNQUOTED_VALUE, '$1…$2')
  return formatForeignLine(message, { limit: LONGEST_MESSAGE })
}

/** To the end of the text if not closed. An apostrophe within a word does not count. */
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|`[^`]*(?:`|$)|(?<!\w)'[^']*(?:'(?!\w)|$)/gs
/** In Go or JSON form (k8s.io/apimachinery/pkg/util/validation/field, `ErrorBody`). */
const UNQUOTED_VALUE = /\b((?:Invalid|Duplicate|Unsupported) value: )(?!"…")[^…].*?(: [^:]*)?$/s

function createKubernetesFailure(
  requested: RequestDescription,
  code: FailureCode,
  { why, remedy, retry }: { readonly why: string; readonly remedy: string; readonly retry?: Retry },
): Failure {
  const { resource, cluster, verb } = requested
  const what = `cannot ${verb} ${resource === undefined ? requested.path : describe(resource)}`
  return new Failure({
    code,
    what,
    where: `cluster ${cluster}`,
    why,
    remedy,
    retry: retry ?? (PASSING.has(code) ? 'backoff' : 'on-change'),
  })
}

function describe({ group, plural, namespace, name }: RequestedResource): string {
  const type = group === '' ? plural : `${plural}.${group}`
  return `${type}${name === '' ? '' : ` ${JSON.stringify(name)}`}${namespace === '' ? '' : ` in namespace ${namespace}`}`
}
