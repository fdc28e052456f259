/** Audit events as a kube-apiserver writes them (docs/facts/audit-events.md), with what a test is about. */
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { type AuditedWrite, readAuditedWrite } from '@backporch/kyaml/resource'

export interface AuditSample {
  readonly verb?: string
  readonly user?: string
  readonly actingAs?: string
  readonly userAgent?: string
  /** `fieldManager` of the request. */
  readonly manager?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly resourceVersion?: string
  /** RFC 3339 with any fraction; the request came 10 ms before. */
  readonly at?: string
  readonly code?: number
  readonly stage?: string
  readonly query?: string
  readonly request?: Json
  readonly response?: JsonObject
}

/** A merge patch of ConfigMap shop/web by ada, unless it is said otherwise. */
export function auditEvent(sample: AuditSample = {}): JsonObject {
  const {
    verb = 'patch',
    user = 'ada',
    actingAs,
    manager,
    group = '',
    resource = 'configmaps',
    subresource,
    namespace = 'shop',
  } = sample
  const {
    name = 'web',
    resourceVersion,
    at = '2026-11-21T09:30:00.250000Z',
    code = 200,
    stage = 'ResponseComplete',
    query = '',
  } = sample
  const {
    userAgent = 'kubectl/v1.32.4 (linux/amd64) kubernetes/59526cd',
    request,
    response,
  } = sample
  const parameters = [
    ...(manager === undefined ? [] : [`fieldManager=${manager}`]),
    ...(query === '' ? [] : [query]),
  ].join('&')
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: response === undefined ? 'Metadata' : 'RequestResponse',
    auditID: '00000000-0000-0000-0000-000000000000',
    stage,
    requestURI: `/api/v1/namespaces/${namespace}/${resource}/${name}${parameters === '' ? '' : `?${parameters}`}`,
    verb,
    user: { username: user, groups: ['system:authenticated'] },
    ...(actingAs === undefined ? {} : { impersonatedUser: { username: actingAs } }),
    userAgent,
    objectRef: {
      resource,
      namespace,
      name,
      ...(group === '' ? {} : { apiGroup: group }),
      apiVersion: 'v1',
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(subresource === undefined ? {} : { subresource }),
    },
    responseStatus: { metadata: {}, code },
    ...(request === undefined ? {} : { requestObject: request }),
    ...(response === undefined ? {} : { responseObject: response }),
    requestReceivedTimestamp: new Date(Date.parse(at) - 10).toISOString(),
    stageTimestamp: at,
  }
}

export function auditedWrite(sample: AuditSample = {}): AuditedWrite {
  const write = readAuditedWrite(auditEvent(sample))
  if (write === undefined) throw new TypeError('the sample is no write that was carried out')
  return write
}

/** ConfigMap shop/web as the server answers: `owners` by manager, with the time of each and the keys of data that it owns. */
export function answered(
  version: string,
  data: JsonObject,
  owners: Readonly<Record<string, { readonly at: string; readonly keys: readonly string[] }>> = {},
): JsonObject {
  const managedFields = Object.entries(owners).map(([manager, { at, keys }]) => ({
    manager,
    operation: manager === 'ci' ? 'Apply' : 'Update',
    apiVersion: 'v1',
    time: at,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) },
  }))
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'u1',
      resourceVersion: version,
      managedFields,
    },
    data,
  }
}
