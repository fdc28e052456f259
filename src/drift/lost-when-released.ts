/** What becomes of a field that git stops declaring: what the syncer holds for its own, its next apply takes out of the object. */
import { type FieldPath, valueAt } from '../krm/field-path.ts'
import type { JsonObject } from '../krm/json.ts'
import type { ManagedFields } from '../krm/managed-fields.ts'
import { isSyncer, ownersOf } from './actor.ts'
import type { Syncer } from './drift.ts'
import { lastAppliedOf } from './last-applied.ts'

/**
 * Of a client-side apply the annotation decides, whoever wrote the live value since (kubectl `util/apply` and the three-way patch of
 * apimachinery `strategicpatch`); of a server-side apply whether another manager owns the field too (Kubernetes, Server-Side Apply,
 * "Transferring ownership"). Helm and the like keep what they applied elsewhere, and nothing is known here.
 * @param live with a value at the path
 */
export function isLostWhenReleased(path: FieldPath, live: JsonObject, managed: ManagedFields, syncer: Syncer | undefined): boolean {
  if (syncer === undefined) return false
  if (syncer.operation === 'Update') {
    const applied = lastAppliedOf(live)
    return applied !== undefined && valueAt(applied, path) !== undefined
  }
  const owners = ownersOf(managed, path)
  return owners.length > 0 && owners.every((entry) => isSyncer(entry, syncer))
}
