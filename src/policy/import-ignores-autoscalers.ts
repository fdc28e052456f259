/**
 * Autoscalers that own fields of packages. A HorizontalPodAutoscaler, and KEDA through one, writes `spec.replicas` of its target by the
 * scale subresource. A VerticalPodAutoscaler writes Pods as they are made, and no object that a package has: it needs no rule.
 * Sources: k8s.io/api autoscaling/v2; kedacore/keda `apis/keda/v1alpha1/scaledobject_types.go`; kubernetes/autoscaler
 * `vertical-pod-autoscaler/docs`.
 */
import { isJsonArray, isJsonObject } from '../krm/json.ts'
import { metadataText, type Resource } from '../krm/resource.ts'
import { describeResourceId, parseApiVersion, type ResourceId, resourceKey } from '../krm/resource-id.ts'
import { oneLine } from '../record/one-line.ts'
import { partOf } from '../status/applier-claims.ts'
import type { AppliedPackage, ImportedRule } from './import-ignores.ts'

/** Group, kind, and how it is told in one word. */
export const AUTOSCALER_KINDS = [
  ['autoscaling', 'HorizontalPodAutoscaler', 'HPA'],
  ['autoscaling.k8s.io', 'VerticalPodAutoscaler', 'VPA'],
  ['keda.sh', 'ScaledObject', 'ScaledObject'],
] as const

export interface FoundAutoscalers {
  /** How many there are, by their word, in the order above; kinds without any are left out. */
  readonly counts: readonly { readonly word: string; readonly count: number }[]
  /** One rule for each target that a package has. */
  readonly rules: readonly ImportedRule[]
}

/** Kinds whose replicas stand at `spec.replicas`. */
const SCALED = new Set(['apps/Deployment', 'apps/StatefulSet', 'apps/ReplicaSet', 'argoproj.io/Rollout'])

export function findAutoscalers(
  autoscalers: readonly Resource[],
  packages: readonly Pick<AppliedPackage, 'path' | 'objects'>[],
): FoundAutoscalers {
  const counts = AUTOSCALER_KINDS.map(([group, kind, word]) => ({
    word,
    count: autoscalers.filter(({ id }) => id.group === group && id.kind === kind).length,
  })).filter(({ count }) => count > 0)
  const owners = new Map<string, ImportedRule>()
  const sorted = [...autoscalers].sort((left, right) => (resourceKey(left.id) < resourceKey(right.id) ? -1 : 1))
  for (const autoscaler of sorted) {
    const target = targetOf(autoscaler)
    if (target === undefined || !SCALED.has(`${target.group}/${target.kind}`)) continue
    const key = resourceKey(target)
    const mine = packages.filter(({ objects }) => objects.some(({ id }) => resourceKey(id) === key)).map(({ path }) => path)
    if (mine.length === 0 || owners.has(key)) continue
    const { group, kind, namespace, name } = target
    const reason = oneLine(`${describeResourceId(autoscaler.id)} scales it`, 200)
    owners.set(key, { packages: mine.sort(), rule: { target: { group, kind, namespace, name }, paths: ['spec.replicas'], reason } })
  }
  return { counts, rules: [...owners.values()] }
}

function targetOf({ id, object }: Resource): ResourceId | undefined {
  // KEDA makes a HorizontalPodAutoscaler of its own for each ScaledObject, which is the one that people know.
  if (id.kind === 'VerticalPodAutoscaler' || isOwnedByKeda(object)) return undefined
  const reference = partOf(object, 'spec', 'scaleTargetRef')
  if (!isJsonObject(reference)) return undefined
  const text = (key: string): string => {
    const value = reference[key]
    return typeof value === 'string' ? value : ''
  }
  const apiVersion = text('apiVersion') || (id.kind === 'ScaledObject' ? 'apps/v1' : '')
  const kind = text('kind') || (id.kind === 'ScaledObject' ? 'Deployment' : '')
  if (text('name') === '' || kind === '') return undefined
  return { group: parseApiVersion(apiVersion).group, kind, namespace: metadataText(object, 'namespace'), name: text('name') }
}

function isOwnedByKeda(object: Resource['object']): boolean {
  const owners = partOf(object, 'metadata', 'ownerReferences')
  return isJsonArray(owners) && owners.some((owner) => isJsonObject(owner) && owner['kind'] === 'ScaledObject')
}
