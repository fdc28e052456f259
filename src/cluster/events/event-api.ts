/**
 * The only requests that change a cluster without a merged commit. This file builds the paths, so a
 * caller can address no other resource.
 */
import type { ApiConnection } from '../connection/api-connection.ts'
import type { RequestDescription } from '../connection/kubernetes-failure.ts'
import type { ApiResponse } from '../connection/transport.ts'

export interface EventApi {
  readonly cluster: string
  create(namespace: string, body: string, signal: AbortSignal): Promise<ApiResponse>
  patch(namespace: string, name: string, body: string, signal: AbortSignal): Promise<ApiResponse>
}

export const EVENTS_VERSION = 'events.k8s.io/v1'

export function createEventApi(connection: ApiConnection): EventApi {
  const collection = (namespace: string): string =>
    `/apis/${EVENTS_VERSION}/namespaces/${encodeURIComponent(namespace)}/events`
  const cluster = connection.name
  return {
    cluster,
    create: (namespace, body, signal) => {
      const call = {
        method: 'POST',
        path: collection(namespace),
        body,
        repeatable: false,
        answers: [403, 404, 409],
      } as const
      return connection.send(call, describeEventRequest(cluster, 'create', namespace), signal)
    },
    patch: (namespace, name, body, signal) => {
      const path = `${collection(namespace)}/${encodeURIComponent(name)}`
      const call = {
        method: 'PATCH',
        path,
        body,
        contentType: 'application/merge-patch+json',
        repeatable: false,
      } as const
      return connection.send(
        { ...call, answers: [403, 404, 409, 422] },
        describeEventRequest(cluster, 'patch', namespace),
        signal,
      )
    },
  }
}

/** A missing right names both verbs. */
export function describeEventRequest(
  cluster: string,
  verb: 'create' | 'patch',
  namespace: string,
): RequestDescription {
  const resource = { group: 'events.k8s.io', kind: 'Event', plural: 'events', namespace, name: '' }
  return {
    cluster,
    verb,
    resource,
    path: `/apis/${EVENTS_VERSION}/events`,
    alsoNeeded: [verb === 'create' ? 'patch' : 'create'],
  }
}
