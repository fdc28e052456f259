/** As cli-utils v0.37.2, pkg/kstatus/status/core.go. */
import {
  getKey,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  createCurrentVerdict,
  createFailedVerdict,
  createInProgressVerdict,
  findNestedInteger,
  findNestedValue,
  getInteger,
  getString,
  listStatusConditions,
  type RuleVerdict,
  StatusFault,
} from './kstatus-fields.ts'

const MAX_INT32 = 2_147_483_647
/** Milliseconds until an unscheduled Pod has failed. */
const SCHEDULE_WINDOW = 15_000

export function computeDeploymentStatus(object: JsonObject): RuleVerdict {
  // Without a deadline the controller writes no Progressing condition.
  let progressing = getInteger(object, 'spec.progressDeadlineSeconds', MAX_INT32) === MAX_INT32
  let available = false
  for (const { type, status, reason } of listStatusConditions(object)) {
    if (type === 'Progressing') {
      if (reason === 'ProgressDeadlineExceeded')
        return createFailedVerdict(reason, 'Progress deadline exceeded')
      if (status === 'True' && reason === 'NewReplicaSetAvailable') progressing = true
    }
    if (type === 'Available' && status === 'True') available = true
  }
  const wanted = getInteger(object, 'spec.replicas', 1)
  const total = getInteger(object, 'status.replicas', 0)
  const updated = getInteger(object, 'status.updatedReplicas', 0)
  const ready = getInteger(object, 'status.readyReplicas', 0)
  const availableReplicas = getInteger(object, 'status.availableReplicas', 0)
  if (wanted > total) return createInProgressVerdict('LessReplicas', `Replicas: ${total}/${wanted}`)
  if (wanted > updated)
    return createInProgressVerdict('LessUpdated', `Updated: ${updated}/${wanted}`)
  if (total > wanted)
    return createInProgressVerdict('ExtraPods', `Pending termination: ${total - wanted}`)
  if (updated > availableReplicas)
    return createInProgressVerdict('LessAvailable', `Available: ${availableReplicas}/${updated}`)
  if (wanted > ready) return createInProgressVerdict('LessReady', `Ready: ${ready}/${wanted}`)
  if (!progressing)
    return createInProgressVerdict('ReplicaSetNotAvailable', 'ReplicaSet not Available')
  if (!available)
    return createInProgressVerdict('DeploymentNotAvailable', 'Deployment not Available')
  return createCurrentVerdict(`Deployment is available. Replicas: ${total}`)
}

export function computeStatefulSetStatus(object: JsonObject): RuleVerdict {
  if (getString(object, 'spec.updateStrategy.type', '') === 'OnDelete')
    return createCurrentVerdict('StatefulSet is using the ondelete update strategy')
  const wanted = getInteger(object, 'spec.replicas', 1)
  const ready = getInteger(object, 'status.readyReplicas', 0)
  const currentReplicas = getInteger(object, 'status.currentReplicas', 0)
  const updated = getInteger(object, 'status.updatedReplicas', 0)
  const total = getInteger(object, 'status.replicas', 0)
  const partition = getInteger(object, 'spec.updateStrategy.rollingUpdate.partition', -1)
  if (wanted > total) return createInProgressVerdict('LessReplicas', `Replicas: ${total}/${wanted}`)
  if (wanted > ready) return createInProgressVerdict('LessReady', `Ready: ${ready}/${wanted}`)
  if (total > wanted)
    return createInProgressVerdict('ExtraPods', `Pending termination: ${total - wanted}`)
  // Partition 0, the server's default, also takes this branch.
  if (partition !== -1) {
    if (updated < wanted - partition)
      return createInProgressVerdict(
        'PartitionRollout',
        `updated: ${updated}/${wanted - partition}`,
      )
    return createCurrentVerdict(`Partition rollout complete. updated: ${updated}`)
  }
  if (wanted > currentReplicas)
    return createInProgressVerdict('LessCurrent', `current: ${currentReplicas}/${wanted}`)
  if (
    getString(object, 'status.currentRevision', '') !==
    getString(object, 'status.updateRevision', '')
  ) {
    return createInProgressVerdict(
      'RevisionMismatch',
      'Waiting for updated revision to match current',
    )
  }
  return createCurrentVerdict(`All replicas scheduled as expected. Replicas: ${total}`)
}

export function computeDaemonSetStatus(object: JsonObject, kind: string): RuleVerdict {
  // Without these fields the controller has not acted yet.
  if (findNestedInteger(object, ['metadata', 'generation']) === undefined) {
    return createInProgressVerdict('NoGeneration', `${kind} metadata.generation not found`)
  }
  if (findNestedInteger(object, ['status', 'observedGeneration']) === undefined) {
    return createInProgressVerdict(
      'NoObservedGeneration',
      `${kind} status.observedGeneration not found`,
    )
  }
  const desired = getInteger(object, 'status.desiredNumberScheduled', -1)
  const scheduled = getInteger(object, 'status.currentNumberScheduled', 0)
  const updated = getInteger(object, 'status.updatedNumberScheduled', 0)
  const available = getInteger(object, 'status.numberAvailable', 0)
  const ready = getInteger(object, 'status.numberReady', 0)
  if (desired === -1)
    return createInProgressVerdict('NoDesiredNumber', 'Missing .status.desiredNumberScheduled')
  if (desired > scheduled)
    return createInProgressVerdict('LessCurrent', `Current: ${scheduled}/${desired}`)
  if (desired > updated)
    return createInProgressVerdict('LessUpdated', `Updated: ${updated}/${desired}`)
  if (desired > available)
    return createInProgressVerdict('LessAvailable', `Available: ${available}/${desired}`)
  if (desired > ready) return createInProgressVerdict('LessReady', `Ready: ${ready}/${desired}`)
  return createCurrentVerdict(`All replicas scheduled as expected. Replicas: ${desired}`)
}

export function computeReplicaSetStatus(object: JsonObject): RuleVerdict {
  if (
    listStatusConditions(object).some(
      ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
    )
  ) {
    return createInProgressVerdict('ReplicaFailure', 'Replica Failure condition. Check Pods')
  }
  const wanted = getInteger(object, 'spec.replicas', 1)
  const total = getInteger(object, 'status.replicas', 0)
  const ready = getInteger(object, 'status.readyReplicas', 0)
  const available = getInteger(object, 'status.availableReplicas', 0)
  const labelled = getInteger(object, 'status.fullyLabeledReplicas', 0)
  if (wanted > labelled)
    return createInProgressVerdict('LessLabelled', `Labelled: ${labelled}/${wanted}`)
  if (wanted > available)
    return createInProgressVerdict('LessAvailable', `Available: ${available}/${wanted}`)
  if (wanted > ready) return createInProgressVerdict('LessReady', `Ready: ${ready}/${wanted}`)
  if (total > wanted)
    return createInProgressVerdict('ExtraPods', `Pending termination: ${total - wanted}`)
  return createCurrentVerdict(`ReplicaSet is available. Replicas: ${total}`)
}

export function computeJobStatus(object: JsonObject): RuleVerdict {
  const completions = getInteger(
    object,
    'spec.completions',
    getInteger(object, 'spec.parallelism', 1),
  )
  const succeeded = getInteger(object, 'status.succeeded', 0)
  const active = getInteger(object, 'status.active', 0)
  const failures = getInteger(object, 'status.failed', 0)
  for (const { type, status } of listStatusConditions(object)) {
    if (status !== 'True') continue
    if (type === 'Complete')
      return createCurrentVerdict(`Job Completed. succeeded: ${succeeded}/${completions}`)
    if (type === 'Failed')
      return createFailedVerdict('JobFailed', `Job Failed. failed: ${failures}/${completions}`)
    // A suspended Job waits for nothing (cli-utils since October 2025, after v0.37.2).
    if (type === 'Suspended' && getPartAt(object, 'spec', 'suspend') === true)
      return createCurrentVerdict('Job is suspended')
  }
  if (getString(object, 'status.startTime', '') === '')
    return createInProgressVerdict('JobNotStarted', 'Job not started')
  return createCurrentVerdict(
    `Job in progress. success:${succeeded}, active: ${active}, failed: ${failures}`,
  )
}

export function computePodStatus(object: JsonObject, at: Date): RuleVerdict {
  const conditions = listStatusConditions(object)
  const phase = getString(object, 'status.phase', '')
  if (phase === 'Succeeded') return createCurrentVerdict('Pod has completed successfully')
  if (phase === 'Failed') return createCurrentVerdict('Pod has completed, but not successfully')
  if (phase === 'Running') {
    if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
      return createCurrentVerdict('Pod is Ready')
    const looping = crashLoopingContainers(object)
    if (looping.length > 0)
      return createFailedVerdict(
        'ContainerCrashLooping',
        `Containers in CrashLoop state: ${looping.join(',')}`,
      )
    return createInProgressVerdict('PodRunningNotReady', 'Pod is running but is not Ready')
  }
  if (phase === 'Pending') {
    const scheduled = conditions.find(
      ({ type, status }) => type === 'PodScheduled' && status === 'False',
    )
    if (scheduled?.reason !== 'Unschedulable')
      return createInProgressVerdict('PodPending', 'Pod is in the Pending phase')
    // An unreadable creation time counts as long ago, like Go's zero time.
    const created = Date.parse(getString(object, 'metadata.creationTimestamp', ''))
    if (at.getTime() - SCHEDULE_WINDOW < created)
      return createInProgressVerdict('PodNotScheduled', 'Pod has not been scheduled')
    return createFailedVerdict('PodUnschedulable', 'Pod could not be scheduled')
  }
  if (phase === '') return createInProgressVerdict('PodNotObserved', 'Pod phase not available')
  throw new StatusFault(`unknown phase ${phase}`)
}

function crashLoopingContainers(object: JsonObject): readonly string[] {
  const statuses = findNestedValue(object, ['status', 'containerStatuses'])
  if (statuses === undefined) return []
  if (!isJsonArray(statuses)) throw new StatusFault('.status.containerStatuses is not a list')
  return statuses.flatMap((container) => {
    if (!isJsonObject(container))
      throw new StatusFault('.status.containerStatuses has an item that is no map')
    const name = getKey(container, 'name')
    return typeof name === 'string' &&
      getString(container, 'state.waiting.reason', '') === 'CrashLoopBackOff'
      ? [name]
      : []
  })
}
