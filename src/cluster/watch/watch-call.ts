import type { ApiCall } from '../connection/api-connection.ts'
import type { RequestDescription } from '../connection/kubernetes-failure.ts'
import { describeResourceRequest, type ServedResource } from '../objects/discovery.ts'
import type { WatchedKind } from '../ports/cluster-watch.ts'

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
/** The initial objects, then a bookmark, then the watch (docs/facts/watch.md). */
export const STREAMED_LIST = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
export const NOT_STREAMED = [400, 422]

export function describeWatchRequest(
  cluster: string,
  { namespace, name }: WatchedKind,
  served: ServedResource,
): RequestDescription {
  return {
    ...describeResourceRequest(cluster, 'watch', served, { namespace, name }),
    alsoNeeded: ['list'],
  }
}

/**
 * @param seconds maximum duration of the watch
 * @param from parameters that set its start
 */
export function watchCall(
  { name, metadataOnly }: WatchedKind,
  { path }: Pick<RequestDescription, 'path'>,
  seconds: number,
  from: Readonly<Record<string, string>>,
): Pick<ApiCall, 'path' | 'accept'> {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(seconds),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
    ...from,
  })
  return { path: `${path}?${query}`, ...(metadataOnly ? { accept: METADATA_ONLY } : {}) }
}
