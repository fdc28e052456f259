/**
 * Rules and sentences of sigs.k8s.io/cli-utils `pkg/kstatus/status` (`Compute`), so that `kpt live
 * status`, Config Sync and Backporch agree (docs/facts/kstatus-rules.md).
 */
import { getKey, type JsonObject } from '@backporch/kyaml/json'
import {
  conditionsOf,
  current,
  failed,
  inProgress,
  nestedInteger,
  nestedString,
  type RuleVerdict,
  StatusFault,
  type StatusWord,
  stringAt,
} from './kstatus-fields.ts'
import {
  daemonSetStatus,
  deploymentStatus,
  jobStatus,
  podStatus,
  replicaSetStatus,
  statefulSetStatus,
} from './kstatus-workload.ts'

export interface ObjectStatus {
  readonly status: StatusWord
  /** May contain foreign text from a condition. */
  readonly message: string
  /** Of the condition, such as `LessReady`; empty for Current and Terminating. */
  readonly reason: string
  /** Without a `status`, Current means only that nothing contradicts it (kpt #1312). */
  readonly reported: boolean
}

/**
 * An object that cannot be judged is Unknown with the reason `StatusNotReadable`, as in Config
 * Sync.
 * @param at of the reading, for the age of an unschedulable Pod
 */
export function computeStatus(object: JsonObject, at: Date): ObjectStatus {
  const reported = (getKey(object, 'status') ?? null) !== null
  try {
    return { ...judge(object, at), reported }
  } catch (thrown) {
    if (!(thrown instanceof StatusFault)) throw thrown
    return { status: 'Unknown', message: thrown.message, reason: 'StatusNotReadable', reported }
  }
}

export const NOT_FOUND: ObjectStatus = {
  status: 'NotFound',
  message: 'Resource not found',
  reason: 'NotFound',
  reported: false,
}

export function unknownStatus(why: string): ObjectStatus {
  return { status: 'Unknown', message: why, reason: 'Unreadable', reported: false }
}

function judge(object: JsonObject, at: Date): RuleVerdict {
  const kind = stringAt(object, 'kind', '')
  return (
    genericStatus(object, kind) ??
    kindStatus(object, kind, at) ??
    readyStatus(object) ??
    current('Resource is current')
  )
}

function genericStatus(object: JsonObject, kind: string): RuleVerdict | undefined {
  const deletion = nestedString(object, ['metadata', 'deletionTimestamp'])
  if (deletion !== undefined && deletion !== '') {
    return { status: 'Terminating', message: 'Resource scheduled for deletion', reason: '' }
  }
  const generation = nestedInteger(object, ['metadata', 'generation'])
  const observed =
    generation === undefined ? undefined : nestedInteger(object, ['status', 'observedGeneration'])
  if (observed !== undefined && observed !== generation) {
    const message = `${kind} generation is ${generation}, but latest observed generation is ${observed}`
    return inProgress('LatestGenerationNotObserved', message)
  }
  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (status !== 'True') continue
    if (type === 'Reconciling') return inProgress(reason, message)
    if (type === 'Stalled') return failed(reason, message)
  }
  return undefined
}

function readyStatus(object: JsonObject): RuleVerdict | undefined {
  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (type !== 'Ready') continue
    if (status === 'True') return current('Resource is Ready')
    if (status === 'False' || status === 'Unknown') return inProgress(reason, message)
  }
  return undefined
}

type KindRule = (object: JsonObject, kind: string, at: Date) => RuleVerdict

const alwaysReady: KindRule = () => current('Resource is always ready')

/** By `group/Kind`; the core group is empty. */
const KIND_RULES: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ['Service', serviceStatus],
  ['Pod', (object, _kind, at) => podStatus(object, at)],
  ['Secret', alwaysReady],
  ['ConfigMap', alwaysReady],
  ['PersistentVolumeClaim', claimStatus],
  ['apps/StatefulSet', statefulSetStatus],
  ['apps/DaemonSet', daemonSetStatus],
  ['extensions/DaemonSet', daemonSetStatus],
  ['apps/Deployment', deploymentStatus],
  ['extensions/Deployment', deploymentStatus],
  ['apps/ReplicaSet', replicaSetStatus],
  ['extensions/ReplicaSet', replicaSetStatus],
  ['policy/PodDisruptionBudget', () => current('AllowedDisruptions has been computed.')],
  ['batch/CronJob', alwaysReady],
  ['batch/Job', jobStatus],
  ['apiextensions.k8s.io/CustomResourceDefinition', definitionStatus],
])

function kindStatus(object: JsonObject, kind: string, at: Date): RuleVerdict | undefined {
  const parts = stringAt(object, 'apiVersion', '').split('/')
  // For a text with two slashes Go returns an empty group and kind, so no rule applies.
  if (parts.length > 2) return undefined
  const [group] = parts
  return KIND_RULES.get(parts.length === 1 || group === '' ? kind : `${group}/${kind}`)?.(
    object,
    kind,
    at,
  )
}

function serviceStatus(object: JsonObject): RuleVerdict {
  const waits =
    stringAt(object, 'spec.type', 'ClusterIP') === 'LoadBalancer' &&
    stringAt(object, 'spec.clusterIP', '') === ''
  // For a load balancer, kstatus waits only for the cluster address.
  return waits
    ? inProgress('NoIPAssigned', 'ClusterIP not set. Service type: LoadBalancer')
    : current('Service is ready')
}

function claimStatus(object: JsonObject): RuleVerdict {
  const phase = stringAt(object, 'status.phase', 'unknown')
  return phase === 'Bound'
    ? current('PVC is Bound')
    : inProgress('NotBound', `PVC is not Bound. phase: ${phase}`)
}

function definitionStatus(object: JsonObject): RuleVerdict {
  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (type === 'NamesAccepted' && status === 'False') return failed(reason, message)
    if (type !== 'Established') continue
    if (status === 'False' && reason !== 'Installing') return failed(reason, message)
    if (status === 'True') return current('CRD is established')
  }
  return inProgress('Installing', 'Install in progress')
}
