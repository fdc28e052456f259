/** What becomes of a field that git stops declaring: what the syncer holds for its own, its next apply takes out of the object. */
import type { FieldPath } from '../../krm/field-path.ts'
import type { ManagedFields } from '../../krm/managed-fields.ts'
import { isSyncer, ownersOf } from '../attribute/actor.ts'
import type { SyncerManager } from '../drift.ts'
import type { AppliedLast } from './last-applied.ts'

/**
 * Of a client-side apply its last-applied state decides, whoever wrote the live value since (kubectl `util/apply` and helm `pkg/kube/client.go`,
 * both by the three-way patch of apimachinery `strategicpatch`); of a server-side apply whether another manager owns the field too
 * (Kubernetes, Server-Side Apply, "Transferring ownership").
 * @param path where live has a value
 * @param applied the last-applied state of a client-side apply; undefined where it is not known
 */
export function isLostWhenReleased(
  path: FieldPath,
  applied: AppliedLast | undefined,
  managed: ManagedFields,
  syncer: SyncerManager | undefined,
): boolean {
  if (syncer === undefined) return false
  if (syncer.operation === 'Update') return applied?.removes(path) === true
  const owners = ownersOf(managed, path)
  return owners.length > 0 && owners.every((entry) => isSyncer(entry, syncer))
}
