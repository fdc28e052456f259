/** Whether the syncer's next apply deletes a field that git stops declaring. */
import type { FieldPath, ManagedFields } from '@backporch/kyaml/field'
import { isSyncer, ownersOf } from '../attribute/actor.ts'
import type { SyncerManager } from '../compare/drift.ts'
import type { AppliedLast } from '../compare/last-applied.ts'

/**
 * The last-applied state of a client-side apply decides (kubectl `util/apply`, helm `pkg/kube/client.go`, apimachinery `strategicpatch`); for a
 * server-side apply, other owners keep the field (Kubernetes, Server-Side Apply, "Transferring ownership").
 * @param path the path of a live value
 * @param applied the last-applied state of a client-side apply; undefined if unknown
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
