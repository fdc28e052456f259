/**
 * The scale subresource records no owner for a new field (docs/facts/scale-entry-has-no-time.md),
 * so only the value shows the scaling.
 */
import {
  createFieldStep,
  findValueAt,
  type ManagedFields,
  touchesPath,
} from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'

export const REPLICAS = [createFieldStep('spec'), createFieldStep('replicas')] as const

/** Default 1: Kubernetes API reference. */
const COUNTED = new Set([
  'apps/Deployment',
  'apps/StatefulSet',
  'apps/ReplicaSet',
  '/ReplicationController',
])

export function isCounted({ group, kind }: ResourceId): boolean {
  return COUNTED.has(`${group}/${kind}`)
}

export function findUnownedCount(
  id: ResourceId,
  desired: JsonObject,
  live: JsonObject,
  { entries }: ManagedFields,
): Json | undefined {
  if (!isCounted(id) || entries.length === 0 || findValueAt(desired, REPLICAS) !== undefined)
    return undefined
  const count = findValueAt(live, REPLICAS)
  return count === undefined ||
    count === 1 ||
    entries.some(({ fields }) => touchesPath(fields, REPLICAS))
    ? undefined
    : count
}
