/**
 * What is left over: only the syncer wrote it, git lacks it, and no apply removes it. Keys of a ConfigMap or a Secret: `stringData` only adds to
 * `data` (docs/facts/secret-string-data.md), and failed applies leave no trace; `data` has no defaults, so each key was declared once. And the
 * account of pods, which the server puts back from its second name and gives no default in a template.
 */
import { type FieldPath, field, type ManagedFields, podPathOf, valueAt } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import { isSyncer, ownersOf } from '../attribute/actor.ts'
import type { SyncerManager } from '../compare/drift.ts'
import type { AppliedLast } from '../compare/last-applied.ts'

export interface LeftField {
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

export function leftFields(question: DataQuestion): LeftField[] {
  const { id, desired, managed, syncer, applied } = question
  // An Update needs its last-applied state, and writers need owners.
  if (syncer === undefined || (syncer.operation === 'Update' && applied === undefined) || managed.entries.length === 0) return []
  return candidatesOf(question).flatMap((path): LeftField[] => {
    const known = valueAt(desired, path) ?? (applied === undefined ? undefined : valueAt(applied.object, path))
    const owners = ownersOf(managed, path)
    // The next dry run shows the fields of a server-side apply.
    const left = syncer.operation === 'Apply' ? owners.length === 0 : owners.length > 0 && owners.every((owner) => isSyncer(owner, syncer))
    if (known !== undefined || !left) return []
    const written = id.kind === 'Secret' ? [field('stringData'), ...path.slice(1)] : []
    return [{ path, declared: written.length > 0 && ownersOf(managed, written).some((owner) => isSyncer(owner, syncer)) }]
  })
}

function candidatesOf({ id, desired, live }: DataQuestion): readonly FieldPath[] {
  if (id.group === '' && (id.kind === 'ConfigMap' || id.kind === 'Secret'))
    return ['data', 'binaryData'].flatMap((part) => {
      const entries = getKey(live, part)
      return Object.keys(isJsonObject(entries) ? entries : {}).map((key) => [field(part), field(key)])
    })
  const pod = id.kind === 'Pod' ? undefined : podPathOf(id)
  if (pod === undefined || valueAt(desired, [...pod, field('serviceAccount')]) !== undefined) return []
  const path = [...pod, field('serviceAccountName')]
  return valueAt(live, path) === undefined ? [] : [path]
}
