/**
 * Keys of a ConfigMap or a Secret that are left over: git does not have them, only the syncer wrote them, and no apply removes them.
 * `stringData` only ever adds to `data` (docs/facts/secret-string-data.md), and an apply that failed half-way is forgotten. The server sets
 * no default in `data`, so an undeclared key was declared once; this does not hold elsewhere.
 */
import { type FieldPath, field, valueAt } from '../../krm/field-path.ts'
import type { ManagedFields } from '../../krm/managed-fields.ts'
import type { ResourceId } from '../../krm/resource-id.ts'
import { getKey, isJsonObject, type JsonObject } from '../../text/json.ts'
import { isSyncer, ownersOf } from '../attribute/actor.ts'
import type { SyncerManager } from '../drift.ts'
import type { AppliedLast } from './last-applied.ts'

export interface LeftKey {
  readonly path: FieldPath
  /** The syncer still declares it, so its next apply lets go of it. */
  readonly declared: boolean
}

export interface DataQuestion {
  readonly id: ResourceId
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly managed: ManagedFields
  readonly syncer: SyncerManager | undefined
  readonly applied: AppliedLast | undefined
}

export function leftKeys({ id, desired, live, managed, syncer, applied }: DataQuestion): LeftKey[] {
  if (id.group !== '' || (id.kind !== 'ConfigMap' && id.kind !== 'Secret')) return []
  // Without its last-applied state it is unknown what an Update declared, and without owners it is unknown who wrote.
  if (syncer === undefined || (syncer.operation === 'Update' && applied === undefined) || managed.entries.length === 0) return []
  return ['data', 'binaryData'].flatMap((part) => {
    const entries = getKey(live, part)
    return Object.keys(isJsonObject(entries) ? entries : {}).flatMap((key): LeftKey[] => {
      const path = [field(part), field(key)]
      const known = valueAt(desired, path) ?? (applied === undefined ? undefined : valueAt(applied.object, path))
      const owners = ownersOf(managed, path)
      // What a server-side apply owns its next dry run shows.
      const left =
        syncer.operation === 'Apply' ? owners.length === 0 : owners.length > 0 && owners.every((owner) => isSyncer(owner, syncer))
      if (known !== undefined || !left) return []
      return [{ path, declared: ownersOf(managed, [field('stringData'), field(key)]).some((owner) => isSyncer(owner, syncer)) }]
    })
  })
}
