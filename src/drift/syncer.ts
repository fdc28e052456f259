/** Which field manager applies the package: the one whose apply decides what git says. */

import type { FieldSchema } from '../krm/field-schema.ts'
import { countCovered, fieldSetOf } from '../krm/field-set.ts'
import type { JsonObject } from '../krm/json.ts'
import { type FieldManager, isSettleManager, managedFieldsOf } from '../krm/managed-fields.ts'
import { classOfManager } from './actor.ts'
import type { Syncer } from './drift.ts'

export interface AppliedObject {
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly schema: FieldSchema
}

/** What `kubectl apply` writes when it works on the client's side (k8s.io/kubectl, pkg/cmd/apply). */
const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply'

/**
 * The applier that owns most of the desired fields over all objects. Among those that own at least half as many a GitOps
 * tool comes first and a tool in human hands last, then the number, then the name: somebody who applies a whole manifest by hand with force
 * owns more than the syncer afterwards, and would otherwise hide his own edit. Appliers are the entries with operation
 * Apply; only where there is none, the manager of client-side `kubectl apply`.
 * @returns undefined when nobody applied anything that is there
 */
export function findSyncer(objects: readonly AppliedObject[]): Syncer | undefined {
  const owned = new Map<string, { readonly manager: FieldManager; fields: number }>()
  for (const { desired, live, schema } of objects) {
    const wanted = fieldSetOf(desired, schema)
    for (const entry of managedFieldsOf(live).entries) {
      // What a settle wrote it wrote for the syncer.
      if (
        isSettleManager(entry.manager) ||
        entry.subresource !== '' ||
        (entry.operation !== 'Apply' && entry.manager !== CLIENT_SIDE_APPLY)
      )
        continue
      const key = `${entry.operation === 'Apply' ? 0 : 1} ${entry.manager}`
      const { manager, operation, subresource } = entry
      const tally = owned.get(key) ?? { manager: { manager, operation, subresource }, fields: 0 }
      tally.fields += countCovered(wanted, entry.fields)
      owned.set(key, tally)
    }
  }
  const tallies = [...owned.values()].filter(({ fields }) => fields > 0)
  const applied = tallies.filter(({ manager }) => manager.operation === 'Apply')
  // A syncer of which somebody took over all that it declares still applied the objects: its entry is there.
  const given = [...owned.values()].filter(({ manager }) => manager.operation === 'Apply' && rankOf(manager) === 0)
  const candidates = applied.length > 0 ? applied : given.length > 0 ? given : tallies
  const most = Math.max(0, ...candidates.map(({ fields }) => fields))
  const [first] = candidates
    .filter(({ fields }) => fields * 2 >= most)
    .sort(
      (left, right) =>
        rankOf(left.manager) - rankOf(right.manager) ||
        right.fields - left.fields ||
        (left.manager.manager < right.manager.manager ? -1 : 1),
    )
  return first?.manager
}

function rankOf({ manager }: FieldManager): number {
  const found = classOfManager(manager)
  return found === 'gitops' ? 0 : found === 'human-tool' ? 2 : 1
}
