/**
 * k8s.io/api `autoscaling/v1` and `v2` (`minReplicas` is 1 if omitted); kedacore/keda ScaledObject
 * (`minReplicaCount` 0, `maxReplicaCount` 100, annotations `autoscaling.keda.sh/paused*`);
 * kubernetes/autoscaler `VerticalPodAutoscaler` API reference.
 */
import {
  filterObjects,
  filterTexts,
  getPartAt,
  getTextAt,
  isJsonArray,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  getMetadataText,
  isSameResourceId,
  parseApiVersion,
  type ResourceId,
} from '@backporch/kyaml/resource'

export type ScalerTool = 'hpa' | 'keda' | 'vpa'

export const SCALER_KINDS: readonly (readonly [group: string, kind: string, tool: ScalerTool])[] = [
  ['autoscaling', 'HorizontalPodAutoscaler', 'hpa'],
  ['keda.sh', 'ScaledObject', 'keda'],
  ['autoscaling.k8s.io', 'VerticalPodAutoscaler', 'vpa'],
]

export interface ReplicaScaler {
  readonly tool: 'hpa' | 'keda'
  readonly id: ResourceId
  readonly target: ResourceId
  readonly min: number
  readonly max: number
  /** Outside of the bounds, while idle or paused. */
  readonly also: readonly number[]
}

export interface ResourceScaler {
  readonly tool: 'vpa'
  readonly id: ResourceId
  readonly target: ResourceId
  /** It only recommends. */
  readonly off: boolean
  readonly policies: readonly ContainerPolicy[]
}

export interface ContainerPolicy {
  readonly container: string
  readonly off: boolean
  readonly resources: readonly string[]
  readonly requestsOnly: boolean
  readonly min: Json | undefined
  readonly max: Json | undefined
}

export type Scaler = ReplicaScaler | ResourceScaler

export interface Scalers {
  readonly all: readonly Scaler[]
  readonly unread: ReadonlyMap<ScalerTool, string>
}

export const NO_SCALERS: Scalers = { all: [], unread: new Map() }

export function readScaler(object: JsonObject): Scaler | undefined {
  const { group } = parseApiVersion(getTextAt(object, 'apiVersion'))
  const kind = getTextAt(object, 'kind')
  const tool = SCALER_KINDS.find((known) => known[0] === group && known[1] === kind)?.[2]
  if (tool === undefined) return undefined
  const namespace = getMetadataText(object, 'namespace')
  const id = { group, kind, namespace, name: getMetadataText(object, 'name') }
  const target = findTarget(
    getPartAt(object, 'spec', tool === 'vpa' ? 'targetRef' : 'scaleTargetRef'),
    tool,
    namespace,
  )
  if (target === undefined) return undefined
  if (tool === 'vpa')
    return { tool, id, target, off: isOff(object), policies: listContainerPolicies(object) }
  const [min, max] =
    tool === 'hpa' ? ['minReplicas', 'maxReplicas'] : ['minReplicaCount', 'maxReplicaCount']
  const bounds = {
    min: countAt(object, 'spec', min) ?? (tool === 'hpa' ? 1 : 0),
    max: countAt(object, 'spec', max) ?? (tool === 'hpa' ? 0 : 100),
  }
  const paused = Number(
    getTextAt(object, 'metadata', 'annotations', 'autoscaling.keda.sh/paused-replicas') ||
      Number.NaN,
  )
  const also = [countAt(object, 'spec', 'idleReplicaCount'), paused].filter(
    (count) => count !== undefined && Number.isInteger(count),
  )
  return { tool, id, target, ...bounds, also: tool === 'keda' ? (also as number[]) : [] }
}

export function listScalersOf<Tool extends ScalerTool>(
  scalers: Scalers,
  tool: Tool,
  id: ResourceId,
): readonly Extract<Scaler, { tool: Tool }>[] {
  return scalers.all.filter(
    (scaler): scaler is Extract<Scaler, { tool: Tool }> =>
      scaler.tool === tool && isSameResourceId(scaler.target, id),
  )
}

function findTarget(
  reference: Json | undefined,
  tool: ScalerTool,
  namespace: string,
): ResourceId | undefined {
  const name = getTextAt(reference, 'name') || undefined
  const kind = getTextAt(reference, 'kind') || (tool === 'keda' ? 'Deployment' : undefined)
  if (name === undefined || kind === undefined) return undefined
  const apiVersion = getTextAt(reference, 'apiVersion') || (tool === 'keda' ? 'apps/v1' : '')
  return { group: parseApiVersion(apiVersion).group, kind, namespace, name }
}

function countAt(object: JsonObject, ...names: readonly string[]): number | undefined {
  const value = getPartAt(object, ...names)
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined
}

/** `Initial` sets requests of new Pods; `Off` writes nothing. */
function isOff(object: JsonObject): boolean {
  return getTextAt(object, 'spec', 'updatePolicy', 'updateMode') === 'Off'
}

function listContainerPolicies(object: JsonObject): ContainerPolicy[] {
  return filterObjects(getPartAt(object, 'spec', 'resourcePolicy', 'containerPolicies')).map(
    (policy) => {
      const resources = getPartAt(policy, 'controlledResources')
      return {
        container: getTextAt(policy, 'containerName'),
        off: getTextAt(policy, 'mode') === 'Off',
        resources: isJsonArray(resources) ? filterTexts(resources) : ['cpu', 'memory'],
        requestsOnly: getTextAt(policy, 'controlledValues') === 'RequestsOnly',
        min: getPartAt(policy, 'minAllowed'),
        max: getPartAt(policy, 'maxAllowed'),
      }
    },
  )
}
