/**
 * The pods of a workload, as the poller of kstatus counts them: a workload that is in progress has failed as soon as one of its pods has
 * (docs/facts/kstatus-pods.md). A pod that ended is Current, whatever its exit code, so one that was evicted and replaced makes nothing fail.
 */
import {
  getKey,
  isJsonObject,
  type JsonObject,
  objectsIn,
  partOf,
  textOf,
} from '@backporch/kyaml/json'
import { metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import { computeStatus, type ObjectStatus } from './kstatus.ts'

/** A Deployment, a DaemonSet and a Job are judged by their own status alone, as by kpt. */
const COUNTED = new Set(['StatefulSet', 'ReplicaSet'])

/** Whether its pods decide: it is of a kind that kstatus counts pods of, and in progress. */
export function waitsForPods(workload: JsonObject, at: Date): boolean {
  const { group } = parseApiVersion(textOf(workload, 'apiVersion'))
  return (
    group === 'apps' &&
    COUNTED.has(textOf(workload, 'kind')) &&
    computeStatus(workload, at).status === 'InProgress'
  )
}

/** The labels that its pods have, as the API takes them; empty where it selects in another way. */
export function podSelector(workload: JsonObject): string {
  const labels = partOf(workload, 'spec', 'selector', 'matchLabels') ?? null
  if (!isJsonObject(labels)) return ''
  return Object.entries(labels)
    .flatMap(([name, value]) => (typeof value === 'string' ? [`${name}=${value}`] : []))
    .join(',')
}

/** Whether the workload is the controller of the pod. Labels alone prove nothing: two workloads may have the same. */
export function isOwnedBy(pod: JsonObject, workload: JsonObject): boolean {
  return objectsIn(partOf(pod, 'metadata', 'ownerReferences')).some(
    (owner) =>
      getKey(owner, 'controller') === true &&
      textOf(owner, 'kind') === textOf(workload, 'kind') &&
      textOf(owner, 'name') === metadataText(workload, 'name') &&
      textOf(owner, 'uid') === metadataText(workload, 'uid'),
  )
}

/** The status of a workload in progress one of whose pods has failed; undefined where none has. */
export function failedByPods(pods: readonly JsonObject[], at: Date): ObjectStatus | undefined {
  const failed = pods.flatMap((pod) => {
    const { status, message } = computeStatus(pod, at)
    return status === 'Failed' ? [`${metadataText(pod, 'name')}: ${message}`] : []
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
