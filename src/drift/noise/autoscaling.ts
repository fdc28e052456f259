/**
 * Within the autoscaler's bounds, like in Fleet (rancher/fleet `desiredset/diff.go`). Outside, it
 * did not write, or cannot correct.
 */
import { formatFieldPath, parseQuantity } from '@backporch/kyaml/field'
import { getPartAt } from '@backporch/kyaml/json'
import { describeResourceId, type ResourceId } from '@backporch/kyaml/resource'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  formatDriftPath,
  isLive,
  isWrittenBy,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'
import {
  type ContainerPolicy,
  listScalersOf,
  type ReplicaScaler,
  type ResourceScaler,
  type ScalerTool,
} from './scaler.ts'

function judgeReplicas(
  drift: Drift,
  { scalers }: Surroundings,
  tool: 'hpa' | 'keda',
  name: string,
): Judgement | undefined {
  if (
    !isLive(drift) ||
    formatDriftPath(drift) !== 'spec.replicas' ||
    typeof drift.live !== 'number'
  )
    return undefined
  const { live } = drift
  const targeting = listScalersOf(scalers, tool, drift.id)
  const outside = targeting.find((scaler) => !covers(scaler, live))
  if (outside !== undefined) {
    // Nothing scales up from zero (k8s.io/kubernetes `pkg/controller/podautoscaler`,
    // ScalingDisabled).
    const scaler = live === 0 ? {} : getScaler(drift, outside.id)
    return { mutes: false, because: describeOutside(outside, live), note: true, ...scaler }
  }
  const unread = scalers.unread.get(tool)
  if (unread !== undefined && targeting.length === 0)
    return showDrift(`cannot tell whether a ${name} targets it: ${unread}`)
  const [scaler] = targeting
  if (scaler === undefined) return showDrift(`no ${name} targets it`)
  return {
    ...muteDrift(
      `${describeResourceId(scaler.id)} scales it between ${scaler.min} and ${scaler.max}`,
    ),
    ...getScaler(drift, scaler.id),
  }
}

/** Each apply undoes the changes of a field that git declares too. */
function getScaler({ change }: Drift, scaler: ResourceId): { readonly scaler?: ResourceId } {
  return change === 'modified' ? { scaler } : {}
}

function covers({ min, max, also }: ReplicaScaler, count: number): boolean {
  return (count >= min && count <= max) || also.includes(count)
}

function describeOutside({ id, min, max }: ReplicaScaler, count: number): string {
  const bound = count < min ? `below the minimum of ${min}` : `above the maximum of ${max}`
  return `${count} ${count === 1 ? 'replica is' : 'replicas are'} ${bound} of ${describeResourceId(id)}`
}

const RESOURCES =
  /^spec\.(?:template\.spec\.)?(?:containers|initContainers)\[name=([^\]]+)\]\.resources\.(requests|limits)\.(cpu|memory)$/

function judgeResources(drift: Drift, { scalers }: Surroundings): Judgement | undefined {
  const match = RESOURCES.exec(formatFieldPath(drift.path))
  if (!isLive(drift) || match === null) return undefined
  const [, container = '', part = '', resource = ''] = match
  const targeting = listScalersOf(scalers, 'vpa', drift.id)
  const unread = scalers.unread.get('vpa')
  if (targeting.length === 0 && unread !== undefined)
    return showDrift(`cannot tell whether a VerticalPodAutoscaler targets it: ${unread}`)
  const [scaler] = targeting
  if (scaler === undefined) return showDrift('no VerticalPodAutoscaler targets it')
  const name = describeResourceId(scaler.id)
  const policy =
    scaler.policies.find((each) => each.container === container) ??
    scaler.policies.find((each) => each.container === '*')
  const alone = explainLeftAlone(scaler, policy, { container, part, resource })
  if (alone !== undefined) return showDrift(`${name} ${alone}`)
  const owner = getScaler(drift, scaler.id)
  if (!isWrittenBy(drift, /^vpa-/))
    return { ...showDrift(`${describeWriter(drift)} wrote it, and not ${name}`), ...owner }
  // Limits scale with the requests.
  const because =
    part === 'requests' && policy !== undefined
      ? explainOutOfBounds(policy, resource, drift)
      : undefined
  const judgement =
    because === undefined
      ? muteDrift(`${name} sets the ${resource} ${part} of container ${container}`)
      : showDrift(`${name} ${because}`)
  return { ...judgement, ...owner }
}

function explainLeftAlone(
  scaler: ResourceScaler,
  policy: ContainerPolicy | undefined,
  {
    container,
    part,
    resource,
  }: { readonly container: string; readonly part: string; readonly resource: string },
): string | undefined {
  if (scaler.off) return 'only recommends'
  if (policy === undefined) return undefined
  if (policy.off) return `leaves container ${container} alone`
  if (!policy.resources.includes(resource))
    return `does not control ${resource} of container ${container}`
  return part === 'limits' && policy.requestsOnly
    ? `controls no limits of container ${container}`
    : undefined
}

function explainOutOfBounds(
  policy: ContainerPolicy,
  resource: string,
  drift: Drift,
): string | undefined {
  const [live, min, max] = [
    drift.live,
    getPartAt(policy.min, resource),
    getPartAt(policy.max, resource),
  ].map(parseQuantity)
  if (live === undefined) return `has bounds, and the live ${resource} cannot be compared with them`
  if (min !== undefined && live < min) return `allows no less ${resource} than minAllowed`
  if (max !== undefined && live > max) return `allows no more ${resource} than maxAllowed`
  return undefined
}

export const AUTOSCALING_RULES: readonly NoiseRule[] = [
  {
    name: 'keda',
    reason: 'KEDA sets the replicas of what a ScaledObject targets.',
    mutes:
      'spec.replicas between minReplicaCount and maxReplicaCount, the idle and the paused count; any other count is shown.',
    link: 'https://keda.sh/docs/latest/reference/scaledobject-spec/',
    judge: (drift, surroundings) => judgeReplicas(drift, surroundings, 'keda', 'ScaledObject'),
  },
  {
    name: 'hpa',
    reason: 'A HorizontalPodAutoscaler sets the replicas of what it targets.',
    mutes:
      'spec.replicas between minReplicas and maxReplicas, regardless of the writer; a count outside of these bounds is shown.',
    link: 'https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/',
    judge: (drift, surroundings) =>
      judgeReplicas(drift, surroundings, 'hpa', 'HorizontalPodAutoscaler'),
  },
  {
    name: 'vpa',
    reason:
      'A VerticalPodAutoscaler sets the requests and limits of the containers that it controls.',
    mutes:
      'cpu and memory that a component of the autoscaler wrote, inside of minAllowed and maxAllowed; what a person set is shown.',
    link: 'https://kubernetes.io/docs/concepts/workloads/autoscaling/vertical-pod-autoscale/',
    judge: judgeResources,
  },
]

export function listWantedScalers(drift: Drift): readonly ScalerTool[] {
  if (!isLive(drift)) return []
  if (formatDriftPath(drift) === 'spec.replicas') return ['hpa', 'keda']
  return RESOURCES.test(formatDriftPath(drift)) ? ['vpa'] : []
}
