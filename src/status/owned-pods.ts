/**
 * As the poller of kstatus: a workload in progress has failed as soon as one of its pods has
 * (docs/facts/kstatus-pods.md). A pod that ended is Current, whatever its exit code, so an evicted
 * and replaced pod causes no failure.
 */
import {
  filterObjects,
  getKey,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText, parseApiVersion } from '@backporch/kyaml/resource'
import { computeStatus, type ObjectStatus } from './kstatus.ts'

/** A Deployment, a DaemonSet and a Job are judged only by their own status, as in kpt. */
export const COUNTED_BY_PODS = new Set(['StatefulSet', 'ReplicaSet'])

export function waitsForPods(workload: JsonObject, at: Date): boolean {
  const { group } = parseApiVersion(getTextAt(workload, 'apiVersion'))
  return (
    group === 'apps' &&
    COUNTED_BY_PODS.has(getTextAt(workload, 'kind')) &&
    computeStatus(workload, at).status === 'InProgress'
  )
}

/** In the API's form; empty if the workload selects in another way. */
export function formatPodSelector(workload: JsonObject): string {
  const labels = getPartAt(workload, 'spec', 'selector', 'matchLabels') ?? null
  if (!isJsonObject(labels)) return ''
  return Object.entries(labels)
    .flatMap(([name, value]) => (typeof value === 'string' ? [`${name}=${value}`] : []))
    .join(',')
}

/** Labels alone prove nothing: two workloads may have the same. */
export function isOwnedBy(pod: JsonObject, workload: JsonObject): boolean {
  return filterObjects(getPartAt(pod, 'metadata', 'ownerReferences')).some(
    (owner) =>
      getKey(owner, 'controller') === true &&
      getTextAt(owner, 'kind') === getTextAt(workload, 'kind') &&
      getTextAt(owner, 'name') === getMetadataText(workload, 'name') &&
      getTextAt(owner, 'uid') === getMetadataText(workload, 'uid'),
  )
}

export function findPodFailure(pods: readonly JsonObject[], at: Date): ObjectStatus | undefined {
  const failed = pods.flatMap((pod) => {
    const { status, message } = computeStatus(pod, at)
    return status === 'Failed' ? [`${getMetadataText(pod, 'name')}: ${message}`] : []
  })
  const [first] = failed.sort()
  if (first === undefined) return undefined
  const more = failed.length === 1 ? '' : ', …'
  return {
    status: 'Failed',
    message: `${failed.length} pods have failed (${first}${more})`,
    reason: 'PodsFailed',
    reported: true,
  }
}
