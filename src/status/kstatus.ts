/**
 * Rules and sentences of sigs.k8s.io/cli-utils `pkg/kstatus/status` (`Compute`), so that `kpt live
 * status`, Config Sync and Backporch agree (docs/facts/kstatus-rules.md).
 */
import { getKey, type JsonObject } from '@backporch/kyaml/json'
import {
  createCurrentVerdict,
  createFailedVerdict,
  createInProgressVerdict,
  findNestedInteger,
  findNestedString,
  getString,
  listStatusConditions,
  type RuleVerdict,
  StatusFault,
  type StatusWord,
} from './kstatus-fields.ts'
import {
  computeDaemonSetStatus,
  computeDeploymentStatus,
  computeJobStatus,
  computePodStatus,
  computeReplicaSetStatus,
  computeStatefulSetStatus,
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

export function createUnknownStatus(why: string): ObjectStatus {
  return { status: 'Unknown', message: why, reason: 'Unreadable', reported: false }
}

function judge(object: JsonObject, at: Date): RuleVerdict {
  const kind = getString(object, 'kind', '')
  return (
    computeGenericStatus(object, kind) ??
    computeKindStatus(object, kind, at) ??
    computeReadyStatus(object) ??
    createCurrentVerdict('Resource is current')
  )
}

function computeGenericStatus(object: JsonObject, kind: string): RuleVerdict | undefined {
  const deletion = findNestedString(object, ['metadata', 'deletionTimestamp'])
  if (deletion !== undefined && deletion !== '') {
    return { status: 'Terminating', message: 'Resource scheduled for deletion', reason: '' }
  }
  const generation = findNestedInteger(object, ['metadata', 'generation'])
  const observed =
    generation === undefined
      ? undefined
      : findNestedInteger(object, ['status', 'observedGeneration'])
  if (observed !== undefined && observed !== generation) {
    const message = `${kind} generation is ${generation}, but latest observed generation is ${observed}`
    return createInProgressVerdict('LatestGenerationNotObserved', message)
  }
  for (const { type, status, reason, message } of listStatusConditions(object)) {
    if (status !== 'True') continue
    if (type === 'Reconciling') return createInProgressVerdict(reason, message)
    if (type === 'Stalled') return createFailedVerdict(reason, message)
  }
  return undefined
}

function computeReadyStatus(object: JsonObject): RuleVerdict | undefined {
  for (const { type, status, reason, message } of listStatusConditions(object)) {
    if (type !== 'Ready') continue
    if (status === 'True') return createCurrentVerdict('Resource is Ready')
    if (status === 'False' || status === 'Unknown') return createInProgressVerdict(reason, message)
  }
  return undefined
}

type KindRule = (object: JsonObject, kind: string, at: Date) => RuleVerdict

const computeAlwaysReadyStatus: KindRule = () => createCurrentVerdict('Resource is always ready')

/** By `group/Kind`; the core group is empty. */
const KIND_RULES: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ['Service', computeServiceStatus],
  ['Pod', (object, _kind, at) => computePodStatus(object, at)],
  ['Secret', computeAlwaysReadyStatus],
  ['ConfigMap', computeAlwaysReadyStatus],
  ['PersistentVolumeClaim', claimStatus],
  ['apps/StatefulSet', computeStatefulSetStatus],
  ['apps/DaemonSet', computeDaemonSetStatus],
  ['extensions/DaemonSet', computeDaemonSetStatus],
  ['apps/Deployment', computeDeploymentStatus],
  ['extensions/Deployment', computeDeploymentStatus],
  ['apps/ReplicaSet', computeReplicaSetStatus],
  ['extensions/ReplicaSet', computeReplicaSetStatus],
  [
    'policy/PodDisruptionBudget',
    () => createCurrentVerdict('AllowedDisruptions has been computed.'),
  ],
  ['batch/CronJob', computeAlwaysReadyStatus],
  ['batch/Job', computeJobStatus],
  ['apiextensions.k8s.io/CustomResourceDefinition', computeDefinitionStatus],
])

function computeKindStatus(object: JsonObject, kind: string, at: Date): RuleVerdict | undefined {
  const parts = getString(object, 'apiVersion', '').split('/')
  // For a text with two slashes Go returns an empty group and kind, so no rule applies.
  if (parts.length > 2) return undefined
  const [group] = parts
  return KIND_RULES.get(parts.length === 1 || group === '' ? kind : `${group}/${kind}`)?.(
    object,
    kind,
    at,
  )
}

function computeServiceStatus(object: JsonObject): RuleVerdict {
  const waits =
    getString(object, 'spec.type', 'ClusterIP') === 'LoadBalancer' &&
    getString(object, 'spec.clusterIP', '') === ''
  // For a load balancer, kstatus waits only for the cluster address.
  return waits
    ? createInProgressVerdict('NoIPAssigned', 'ClusterIP not set. Service type: LoadBalancer')
    : createCurrentVerdict('Service is ready')
}

function claimStatus(object: JsonObject): RuleVerdict {
  const phase = getString(object, 'status.phase', 'unknown')
  return phase === 'Bound'
    ? createCurrentVerdict('PVC is Bound')
    : createInProgressVerdict('NotBound', `PVC is not Bound. phase: ${phase}`)
}

function computeDefinitionStatus(object: JsonObject): RuleVerdict {
  for (const { type, status, reason, message } of listStatusConditions(object)) {
    if (type === 'NamesAccepted' && status === 'False') return createFailedVerdict(reason, message)
    if (type !== 'Established') continue
    if (status === 'False' && reason !== 'Installing') return createFailedVerdict(reason, message)
    if (status === 'True') return createCurrentVerdict('CRD is established')
  }
  return createInProgressVerdict('Installing', 'Install in progress')
}
