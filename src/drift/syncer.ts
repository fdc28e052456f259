/** Which field manager applies the package: the one whose apply decides what git says. */

import type { FieldSchema } from '../krm/field-schema.ts'
import { countCovered, fieldSetOf } from '../krm/field-set.ts'
import type { JsonObject } from '../krm/json.ts'
import { type FieldManager, managedFieldsOf } from '../krm/managed-fields.ts'

export interface AppliedObject {
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly schema: FieldSchema
}

/** What `kubectl apply` writes when it works on the client's side (k8s.io/kubectl, pkg/cmd/apply). */
const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply'

/**
 * The applier that owns most of the desired fields over all objects; among equals the first by name. Appliers are the
 * entries with operation Apply; only where there is none, the manager of client-side `kubectl apply`.
 * @returns undefined when nobody applied anything that is there
 */
export function findSyncer(objects: readonly AppliedObject[]): FieldManager | undefined {
  const owned = new Map<string, { readonly manager: FieldManager; fields: number }>()
  for (const { desired, live, schema } of objects) {
    const wanted = fieldSetOf(desired, schema)
    for (const entry of managedFieldsOf(live).entries) {
      if (entry.subresource !== '' || (entry.operation !== 'Apply' && entry.manager !== CLIENT_SIDE_APPLY)) continue
      const key = `${entry.operation === 'Apply' ? 0 : 1} ${entry.manager}`
      const { manager, operation, subresource } = entry
      const tally = owned.get(key) ?? { manager: { manager, operation, subresource }, fields: 0 }
      tally.fields += countCovered(wanted, entry.fields)
      owned.set(key, tally)
    }
  }
  const ranked = [...owned]
    .filter(([, tally]) => tally.fields > 0)
    .sort(([leftKey, left], [rightKey, right]) => {
      const byOperation = Number(leftKey[0]) - Number(rightKey[0])
      return byOperation !== 0 ? byOperation : right.fields - left.fields || (leftKey < rightKey ? -1 : 1)
    })
  return ranked[0]?.[1].manager
}
