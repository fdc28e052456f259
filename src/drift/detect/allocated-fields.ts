/** Such as the node port of a Service's port. */
import { createFieldStep, formatFieldPath, type ManagedFields } from '@backporch/kyaml/field'
import { getKey, isJsonObject } from '@backporch/kyaml/json'
import { listOwners } from '../attribute/actor.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import type { Drift } from '../compare/drift.ts'
import { findRenamedItem } from '../compare/renamed-items.ts'

const PORT = /^spec\.ports\[[^\]]+\]$/
const NODE_PORT = 'nodePort'

/**
 * A writer that changes a port's number sends the whole item, and owns its node port although the
 * server chose it: git's item decides.
 */
export function markAllocated(
  drift: Drift,
  found: readonly Drift[],
  managed: ManagedFields,
): Drift {
  const { id, change, path, live } = drift
  const isPort =
    change === 'added' &&
    id.group === '' &&
    id.kind === 'Service' &&
    PORT.test(formatFieldPath(path))
  if (!isPort || !isJsonObject(live) || getKey(live, NODE_PORT) === undefined) return drift
  const git = findRenamedItem(drift, found)?.gone.git
  const isAllocated = isJsonObject(git)
    ? getKey(git, NODE_PORT) === undefined
    : listOwners(managed, [...path, createFieldStep(NODE_PORT)]).every(({ manager }) =>
        isControlPlane(manager),
      )
  return isAllocated ? { ...drift, forEdit: { allocated: [NODE_PORT] } } : drift
}
