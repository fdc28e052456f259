/**
 * Left-over keys of a ConfigMap or a Secret: only the syncer wrote them, git lacks them, and no apply removes them. `stringData` only adds to `data`
 * (docs/facts/secret-string-data.md), and failed applies leave no trace. `data` has no defaults, so each key was declared once.
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
  /** Whether the syncer still declares it, so that its next apply gives it up. */
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
  // An Update needs its last-applied state, and writers need owners.
  if (syncer === undefined || (syncer.operation === 'Update' && applied === undefined) || managed.entries.length === 0) return []
  return ['data', 'binaryData'].flatMap((part) => {
    const entries = getKey(live, part)
    return Object.keys(isJsonObject(entries) ? entries : {}).flatMap((key): LeftKey[] => {
      const path = [field(part), field(key)]
      const known = valueAt(desired, path) ?? (applied === undefined ? undefined : valueAt(applied.object, path))
      const owners = ownersOf(managed, path)
      // The next dry run shows the fields of a server-side apply.
      const left =
        syncer.operation === 'Apply' ? owners.length === 0 : owners.length > 0 && owners.every((owner) => isSyncer(owner, syncer))
      if (known !== undefined || !left) return []
      return [{ path, declared: ownersOf(managed, [field('stringData'), field(key)]).some((owner) => isSyncer(owner, syncer)) }]
    })
  })
}
