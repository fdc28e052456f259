/**
 * The scale subresource records no owner for a new field (docs/facts/scale-entry-has-no-time.md),
 * so only the value shows the scaling.
 */
import { field, type ManagedFields, touchesPath, valueAt } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'

export const REPLICAS = [field('spec'), field('replicas')] as const

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

export function unownedCount(
  id: ResourceId,
  desired: JsonObject,
  live: JsonObject,
  { entries }: ManagedFields,
): Json | undefined {
  if (!isCounted(id) || entries.length === 0 || valueAt(desired, REPLICAS) !== undefined)
    return undefined
  const count = valueAt(live, REPLICAS)
  return count === undefined ||
    count === 1 ||
    entries.some(({ fields }) => touchesPath(fields, REPLICAS))
    ? undefined
    : count
}
