/** As cli-utils v0.37.2, pkg/kstatus/status/core.go. */
import { getKey, isJsonArray, isJsonObject, type JsonObject, partOf } from '@backporch/kyaml/json'
import {
  conditionsOf,
  current,
  failed,
  inProgress,
  integerAt,
  nestedInteger,
  nestedValue,
  type RuleVerdict,
  StatusFault,
  stringAt,
} from './kstatus-fields.ts'

const MAX_INT32 = 2_147_483_647
/** Milliseconds until an unscheduled Pod has failed. */
const SCHEDULE_WINDOW = 15_000

export function deploymentStatus(object: JsonObject): RuleVerdict {
  // Without a deadline the controller writes no Progressing condition.
  let progressing = integerAt(object, 'spec.progressDeadlineSeconds', MAX_INT32) === MAX_INT32
  let available = false
  for (const { type, status, reason } of conditionsOf(object)) {
    if (type === 'Progressing') {
      if (reason === 'ProgressDeadlineExceeded') return failed(reason, 'Progress deadline exceeded')
      if (status === 'True' && reason === 'NewReplicaSetAvailable') progressing = true
    }
    if (type === 'Available' && status === 'True') available = true
  }
  const wanted = integerAt(object, 'spec.replicas', 1)
  const total = integerAt(object, 'status.replicas', 0)
  const updated = integerAt(object, 'status.updatedReplicas', 0)
  const ready = integerAt(object, 'status.readyReplicas', 0)
  const availableReplicas = integerAt(object, 'status.availableReplicas', 0)
  if (wanted > total) return inProgress('LessReplicas', `Replicas: ${total}/${wanted}`)
  if (wanted > updated) return inProgress('LessUpdated', `Updated: ${updated}/${wanted}`)
  if (total > wanted) return inProgress('ExtraPods', `Pending termination: ${total - wanted}`)
  if (updated > availableReplicas)
    return inProgress('LessAvailable', `Available: ${availableReplicas}/${updated}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (!progressing) return inProgress('ReplicaSetNotAvailable', 'ReplicaSet not Available')
  if (!available) return inProgress('DeploymentNotAvailable', 'Deployment not Available')
  return current(`Deployment is available. Replicas: ${total}`)
}

export function statefulSetStatus(object: JsonObject): RuleVerdict {
  if (stringAt(object, 'spec.updateStrategy.type', '') === 'OnDelete')
    return current('StatefulSet is using the ondelete update strategy')
  const wanted = integerAt(object, 'spec.replicas', 1)
  const ready = integerAt(object, 'status.readyReplicas', 0)
  const currentReplicas = integerAt(object, 'status.currentReplicas', 0)
  const updated = integerAt(object, 'status.updatedReplicas', 0)
  const total = integerAt(object, 'status.replicas', 0)
  const partition = integerAt(object, 'spec.updateStrategy.rollingUpdate.partition', -1)
  if (wanted > total) return inProgress('LessReplicas', `Replicas: ${total}/${wanted}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (total > wanted) return inProgress('ExtraPods', `Pending termination: ${total - wanted}`)
  // Partition 0, the server's default, also takes this branch.
  if (partition !== -1) {
    if (updated < wanted - partition)
      return inProgress('PartitionRollout', `updated: ${updated}/${wanted - partition}`)
    return current(`Partition rollout complete. updated: ${updated}`)
  }
  if (wanted > currentReplicas)
    return inProgress('LessCurrent', `current: ${currentReplicas}/${wanted}`)
  if (
    stringAt(object, 'status.currentRevision', '') !== stringAt(object, 'status.updateRevision', '')
  ) {
    return inProgress('RevisionMismatch', 'Waiting for updated revision to match current')
  }
  return current(`All replicas scheduled as expected. Replicas: ${total}`)
}

export function daemonSetStatus(object: JsonObject, kind: string): RuleVerdict {
  // Without these fields the controller has not acted yet.
  if (nestedInteger(object, ['metadata', 'generation']) === undefined) {
    return inProgress('NoGeneration', `${kind} metadata.generation not found`)
  }
  if (nestedInteger(object, ['status', 'observedGeneration']) === undefined) {
    return inProgress('NoObservedGeneration', `${kind} status.observedGeneration not found`)
  }
  const desired = integerAt(object, 'status.desiredNumberScheduled', -1)
  const scheduled = integerAt(object, 'status.currentNumberScheduled', 0)
  const updated = integerAt(object, 'status.updatedNumberScheduled', 0)
  const available = integerAt(object, 'status.numberAvailable', 0)
  const ready = integerAt(object, 'status.numberReady', 0)
  if (desired === -1) return inProgress('NoDesiredNumber', 'Missing .status.desiredNumberScheduled')
  if (desired > scheduled) return inProgress('LessCurrent', `Current: ${scheduled}/${desired}`)
  if (desired > updated) return inProgress('LessUpdated', `Updated: ${updated}/${desired}`)
  if (desired > available) return inProgress('LessAvailable', `Available: ${available}/${desired}`)
  if (desired > ready) return inProgress('LessReady', `Ready: ${ready}/${desired}`)
  return current(`All replicas scheduled as expected. Replicas: ${desired}`)
}

export function replicaSetStatus(object: JsonObject): RuleVerdict {
  if (
    conditionsOf(object).some(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  ) {
    return inProgress('ReplicaFailure', 'Replica Failure condition. Check Pods')
  }
  const wanted = integerAt(object, 'spec.replicas', 1)
  const total = integerAt(object, 'status.replicas', 0)
  const ready = integerAt(object, 'status.readyReplicas', 0)
  const available = integerAt(object, 'status.availableReplicas', 0)
  const labelled = integerAt(object, 'status.fullyLabeledReplicas', 0)
  if (wanted > labelled) return inProgress('LessLabelled', `Labelled: ${labelled}/${wanted}`)
  if (wanted > available) return inProgress('LessAvailable', `Available: ${available}/${wanted}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (total > wanted) return inProgress('ExtraPods', `Pending termination: ${total - wanted}`)
  return current(`ReplicaSet is available. Replicas: ${total}`)
}

export function jobStatus(object: JsonObject): RuleVerdict {
  const completions = integerAt(
    object,
    'spec.completions',
    integerAt(object, 'spec.parallelism', 1),
  )
  const succeeded = integerAt(object, 'status.succeeded', 0)
  const active = integerAt(object, 'status.active', 0)
  const failures = integerAt(object, 'status.failed', 0)
  for (const { type, status } of conditionsOf(object)) {
    if (status !== 'True') continue
    if (type === 'Complete') return current(`Job Completed. succeeded: ${succeeded}/${completions}`)
    if (type === 'Failed')
      return failed('JobFailed', `Job Failed. failed: ${failures}/${completions}`)
    // A suspended Job waits for nothing (cli-utils since October 2025, after v0.37.2).
    if (type === 'Suspended' && partOf(object, 'spec', 'suspend') === true)
      return current('Job is suspended')
  }
  if (stringAt(object, 'status.startTime', '') === '')
    return inProgress('JobNotStarted', 'Job not started')
  return current(`Job in progress. success:${succeeded}, active: ${active}, failed: ${failures}`)
}

export function podStatus(object: JsonObject, at: Date): RuleVerdict {
  const conditions = conditionsOf(object)
  const phase = stringAt(object, 'status.phase', '')
  if (phase === 'Succeeded') return current('Pod has completed successfully')
  if (phase === 'Failed') return current('Pod has completed, but not successfully')
  if (phase === 'Running') {
    if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
      return current('Pod is Ready')
    const looping = crashLoopingContainers(object)
    if (looping.length > 0)
      return failed('ContainerCrashLooping', `Containers in CrashLoop state: ${looping.join(',')}`)
    return inProgress('PodRunningNotReady', 'Pod is running but is not Ready')
  }
  if (phase === 'Pending') {
    const scheduled = conditions.find(
      ({ type, status }) => type === 'PodScheduled' && status === 'False',
    )
    if (scheduled?.reason !== 'Unschedulable')
      return inProgress('PodPending', 'Pod is in the Pending phase')
    // An unreadable creation time counts as long ago, like Go's zero time.
    const created = Date.parse(stringAt(object, 'metadata.creationTimestamp', ''))
    if (at.getTime() - SCHEDULE_WINDOW < created)
      return inProgress('PodNotScheduled', 'Pod has not been scheduled')
    return failed('PodUnschedulable', 'Pod could not be scheduled')
  }
  if (phase === '') return inProgress('PodNotObserved', 'Pod phase not available')
  throw new StatusFault(`unknown phase ${phase}`)
}

function crashLoopingContainers(object: JsonObject): readonly string[] {
  const statuses = nestedValue(object, ['status', 'containerStatuses'])
  if (statuses === undefined) return []
  if (!isJsonArray(statuses)) throw new StatusFault('.status.containerStatuses is not a list')
  return statuses.flatMap((container) => {
    if (!isJsonObject(container))
      throw new StatusFault('.status.containerStatuses has an item that is no map')
    const name = getKey(container, 'name')
    return typeof name === 'string' &&
      stringAt(container, 'state.waiting.reason', '') === 'CrashLoopBackOff'
      ? [name]
      : []
  })
}
