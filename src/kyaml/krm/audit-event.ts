/**
 * `audit.k8s.io/v1` Event (k8s.io/apiserver/pkg/apis/audit/v1/types.go),
 * docs/facts/audit-events.md. Bodies identify the write that made a value, and are never shown. A
 * Secret's content is dropped here.
 */
import {
  findNonEmptyText,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../text/json.ts'
import { createWordSet } from '../text/words.ts'
import type { ResourceId } from './resource-id.ts'

type AuditVerb = 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

interface AuditedObject {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Before the write; empty if none. */
  readonly resourceVersion: string
  readonly kind: string | undefined
}

export interface AuditedWrite {
  readonly verb: AuditVerb
  readonly object: AuditedObject
  readonly user: string
  readonly actingAs: string
  readonly userAgent: string
  /** Or the start of the User-Agent, like in the server. */
  readonly manager: string
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  readonly answeredAt: number
  readonly created: boolean
  readonly bodies: boolean
  /** A Secret's bodies, without values. */
  readonly hidden: boolean
  readonly request: Json | undefined
  readonly response: JsonObject | undefined
}

const VERBS: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
/** The others are controllers' answers. */
const SUBRESOURCES: ReadonlySet<string> = new Set([
  '',
  'scale',
  'finalize',
  'ephemeralcontainers',
  'resize',
])

export function readAuditedWrite(event: Json | undefined): AuditedWrite | undefined {
  if (!isJsonObject(event) || getTextAt(event, 'stage') !== 'ResponseComplete') return undefined
  const verb = getTextAt(event, 'verb')
  const object = readObject(event)
  const code = getPartAt(event, 'responseStatus', 'code')
  if (!isVerb(verb) || object === undefined || typeof code !== 'number' || code < 200 || code > 299)
    return undefined
  const query = buildQuery(getTextAt(event, 'requestURI'))
  const requested = getKey(event, 'requestObject')
  if (query.get('dryRun') !== null || isDryRun(verb, requested)) return undefined
  const hidden = object.group === '' && object.resource === 'secrets'
  const answered = getKey(event, 'responseObject')
  const userAgent = getTextAt(event, 'userAgent')
  const response = isJsonObject(answered) ? answered : undefined
  return {
    verb,
    object,
    user: getTextAt(event, 'user', 'username'),
    actingAs: getTextAt(event, 'impersonatedUser', 'username'),
    userAgent,
    manager: query.get('fieldManager') || deriveManager(userAgent),
    receivedAt: time(event, 'requestReceivedTimestamp'),
    answeredAt: time(event, 'stageTimestamp'),
    created: verb === 'create' || code === 201,
    bodies: response !== undefined,
    hidden,
    request: hidden && requested !== undefined ? omitValues(requested) : requested,
    response: hidden && response !== undefined ? (omitValues(response) as JsonObject) : response,
  }
}

function readObject(event: JsonObject): AuditedObject | undefined {
  const ref = getKey(event, 'objectRef')
  if (!isJsonObject(ref)) return undefined
  const subresource = getTextAt(ref, 'subresource')
  if (!SUBRESOURCES.has(subresource)) return undefined
  const whole = subresource === ''
  const [group, resource] = [getTextAt(ref, 'apiGroup'), getTextAt(ref, 'resource')]
  return {
    group,
    resource,
    subresource,
    // A Namespace's address has its name as namespace too.
    namespace: group === '' && resource === 'namespaces' ? '' : getTextAt(ref, 'namespace'),
    // Only the answer has the name of a generateName object.
    name:
      getTextAt(ref, 'name') ||
      (whole && getTextAt(event, 'verb') === 'create'
        ? getTextAt(event, 'responseObject', 'metadata', 'name')
        : ''),
    uid:
      getTextAt(ref, 'uid') || (whole ? getTextAt(event, 'responseObject', 'metadata', 'uid') : ''),
    resourceVersion: getTextAt(ref, 'resourceVersion'),
    kind:
      whole && getTextAt(event, 'verb') !== 'delete'
        ? (findNonEmptyText(event, 'responseObject', 'kind') ??
          findNonEmptyText(event, 'requestObject', 'kind'))
        : undefined,
  }
}

/** Level Metadata lacks the body. */
function isDryRun(verb: AuditVerb, request: Json | undefined): boolean {
  const list = verb.startsWith('delete') ? getPartAt(request, 'dryRun') : undefined
  return isJsonArray(list) && list.length > 0
}

/**
 * The User-Agent before its first `/`, at most 128 bytes (k8s.io/apiserver,
 * pkg/endpoints/handlers/create.go, `managerOrUserAgent`).
 */
export function deriveManager(userAgent: string): string {
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
 * The log has the plural name, which a body or the API machinery's rule translates (apimachinery,
 * `meta.UnsafeGuessKindToResource`).
 */
export function isWriteTo(object: AuditedObject, id: ResourceId): boolean {
  return object.namespace === id.namespace && object.name === id.name && isOfKind(object, id)
}

export function isOfKind(object: AuditedObject, { group, kind }: ResourceId): boolean {
  return (
    object.group === group && (object.resource === deriveResourceName(kind) || object.kind === kind)
  )
}

export function deriveResourceName(kind: string): string {
  const name = kind.toLowerCase()
  if (name.endsWith('endpoints')) return name
  if (/(s|x|ch|sh)$/.test(name)) return `${name}es`
  // `Gateway` is `gateways`, against that rule.
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return `${name}s`
}

function omitValues(value: Json): Json {
  if (typeof value === 'string') return ''
  if (isJsonArray(value)) return value.map(omitOperationValues)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, below]): [string, Json][] => {
      if (key === 'annotations') return []
      return [[key, KEPT.has(key) ? below : omitValues(below)]]
    }),
  )
}

const KEPT = createWordSet(
  'managedFields resourceVersion uid name namespace kind apiVersion creationTimestamp',
)

function omitOperationValues(value: Json): Json {
  if (!isJsonObject(value) || typeof getKey(value, 'op') !== 'string') return omitValues(value)
  return { op: getKey(value, 'op') ?? '', path: getKey(value, 'path') ?? '' }
}

function isVerb(verb: string): verb is AuditVerb {
  return VERBS.has(verb)
}

function buildQuery(address: string): URLSearchParams {
  const mark = address.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : address.slice(mark + 1))
}

/** Milliseconds; 0 without a time. */
function time(object: JsonObject, key: string): number {
  const milliseconds = Date.parse(getTextAt(object, key))
  return Number.isNaN(milliseconds) ? 0 : milliseconds
}
