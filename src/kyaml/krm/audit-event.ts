/**
 * A write in the API server's audit log. Source: `audit.k8s.io/v1` Event (k8s.io/apiserver/pkg/apis/audit/v1/types.go) and
 * docs/facts/audit-events.md. Bodies identify the write that made a value, and are never shown. The content of a Secret is dropped here.
 */
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  partOf,
  textOf,
} from '../text/json.ts'
import { wordSet } from '../text/words.ts'
import type { ResourceId } from './resource-id.ts'

type AuditVerb = 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** The object of a request, by the plural name of its kind. */
interface AuditedObject {
  readonly group: string
  /** `deployments` */
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
  readonly uid: string
  /** The version that the request names, before the write. Empty if it names none. */
  readonly resourceVersion: string
  /** The kind in a body; empty without one. */
  readonly kind: string
}

/** A successful write that was no dry run. */
export interface AuditedWrite {
  readonly verb: AuditVerb
  readonly object: AuditedObject
  /** The authenticated user. */
  readonly user: string
  /** The impersonated user; empty without impersonation. */
  readonly actingAs: string
  readonly userAgent: string
  /** The field manager of the request, or the start of the User-Agent, as in the server. */
  readonly manager: string
  /** Milliseconds since 1970 of the request and of its answer. */
  readonly receivedAt: number
  readonly answeredAt: number
  readonly created: boolean
  /** Whether the log has bodies of this request. */
  readonly bodies: boolean
  /** Whether the bodies are those of a Secret, without values. */
  readonly hidden: boolean
  readonly request: Json | undefined
  /** The object after the write; a `Scale` for the subresource. */
  readonly response: JsonObject | undefined
}

const VERBS: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
/** Subresources with a specification; the others are answers of controllers. */
const SUBRESOURCES: ReadonlySet<string> = new Set([
  '',
  'scale',
  'finalize',
  'ephemeralcontainers',
  'resize',
])

/** The write of one event; undefined for any other event. */
export function readAuditedWrite(event: Json | undefined): AuditedWrite | undefined {
  if (!isJsonObject(event) || textOf(event, 'stage') !== 'ResponseComplete') return undefined
  const verb = textOf(event, 'verb')
  const object = readObject(event)
  const code = partOf(event, 'responseStatus', 'code')
  if (!isVerb(verb) || object === undefined || typeof code !== 'number' || code < 200 || code > 299)
    return undefined
  const query = queryOf(textOf(event, 'requestURI'))
  const requested = getKey(event, 'requestObject')
  if (query.get('dryRun') !== null || isDryRun(verb, requested)) return undefined
  const hidden = object.group === '' && object.resource === 'secrets'
  const answered = getKey(event, 'responseObject')
  const userAgent = textOf(event, 'userAgent')
  const response = isJsonObject(answered) ? answered : undefined
  return {
    verb,
    object,
    user: textOf(event, 'user', 'username'),
    actingAs: textOf(event, 'impersonatedUser', 'username'),
    userAgent,
    manager: query.get('fieldManager') || managerOf(userAgent),
    receivedAt: time(event, 'requestReceivedTimestamp'),
    answeredAt: time(event, 'stageTimestamp'),
    created: verb === 'create' || code === 201,
    bodies: response !== undefined,
    hidden,
    request: hidden && requested !== undefined ? withoutValues(requested) : requested,
    response: hidden && response !== undefined ? (withoutValues(response) as JsonObject) : response,
  }
}

function readObject(event: JsonObject): AuditedObject | undefined {
  const ref = getKey(event, 'objectRef')
  if (!isJsonObject(ref)) return undefined
  const subresource = textOf(ref, 'subresource')
  if (!SUBRESOURCES.has(subresource)) return undefined
  const whole = subresource === ''
  const [group, resource] = [textOf(ref, 'apiGroup'), textOf(ref, 'resource')]
  return {
    group,
    resource,
    subresource,
    // The address of a Namespace has its name as namespace too.
    namespace: group === '' && resource === 'namespaces' ? '' : textOf(ref, 'namespace'),
    // Only the answer has the name of an object with a generateName.
    name:
      textOf(ref, 'name') ||
      (whole && textOf(event, 'verb') === 'create'
        ? textOf(event, 'responseObject', 'metadata', 'name')
        : ''),
    uid: textOf(ref, 'uid') || (whole ? textOf(event, 'responseObject', 'metadata', 'uid') : ''),
    resourceVersion: textOf(ref, 'resourceVersion'),
    kind:
      whole && textOf(event, 'verb') !== 'delete'
        ? textOf(event, 'responseObject', 'kind') || textOf(event, 'requestObject', 'kind')
        : '',
  }
}

/** A DELETE has `dryRun` in its body, which level Metadata lacks. */
function isDryRun(verb: AuditVerb, request: Json | undefined): boolean {
  const list = verb.startsWith('delete') ? partOf(request, 'dryRun') : undefined
  return isJsonArray(list) && list.length > 0
}

/**
 * The manager of a request that names none: the User-Agent before its first `/`, printable, at most 128 bytes (k8s.io/apiserver,
 * pkg/endpoints/handlers/create.go, `managerOrUserAgent`).
 */
export function managerOf(userAgent: string): string {
  const encoder = new TextEncoder()
  let [name, bytes] = ['', 0]
  for (const character of (userAgent.split('/')[0] ?? '').replace(
    /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu,
    '',
  )) {
    bytes += encoder.encode(character).length
    if (bytes > 128) break
    name += character
  }
  return name
}

/**
 * Whether a write is to this object. The log has the plural name of the kind, which a body or the rule of the API machinery translates
 * (apimachinery, `meta.UnsafeGuessKindToResource`).
 */
export function isWriteTo(object: AuditedObject, id: ResourceId): boolean {
  return object.namespace === id.namespace && object.name === id.name && isOfKind(object, id)
}

export function isOfKind(object: AuditedObject, { group, kind }: ResourceId): boolean {
  return (
    object.group === group &&
    (object.resource === resourceOf(kind) || (object.kind !== '' && object.kind === kind))
  )
}

/** `NetworkPolicy` to `networkpolicies`. */
export function resourceOf(kind: string): string {
  const name = kind.toLowerCase()
  if (name.endsWith('endpoints')) return name
  if (/(s|x|ch|sh)$/.test(name)) return `${name}es`
  // `Gateway` is `gateways`, against the rule of the API machinery.
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return `${name}s`
}

/** The structure without texts. A `null`, which removes something, stays. */
function withoutValues(value: Json): Json {
  if (typeof value === 'string') return ''
  if (isJsonArray(value)) return value.map(withoutOperation)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, below]): [string, Json][] => {
      if (key === 'annotations') return []
      return [[key, KEPT.has(key) ? below : withoutValues(below)]]
    }),
  )
}

const KEPT = wordSet(
  'managedFields resourceVersion uid name namespace kind apiVersion creationTimestamp',
)

/** An operation of a JSON Patch keeps its location. */
function withoutOperation(value: Json): Json {
  if (!isJsonObject(value) || typeof getKey(value, 'op') !== 'string') return withoutValues(value)
  return { op: getKey(value, 'op') ?? '', path: getKey(value, 'path') ?? '' }
}

function isVerb(verb: string): verb is AuditVerb {
  return VERBS.has(verb)
}

function queryOf(address: string): URLSearchParams {
  const mark = address.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : address.slice(mark + 1))
}

/** Milliseconds; 0 where there is no time. */
function time(object: JsonObject, key: string): number {
  const milliseconds = Date.parse(textOf(object, key))
  return Number.isNaN(milliseconds) ? 0 : milliseconds
}
