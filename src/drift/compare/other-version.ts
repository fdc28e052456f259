/**
 * Writes in another API version of the kind than the one that git declares. A manager's entry names paths of its own version:
 * in git's version they have other names, or none at all (an autoscaler's `spec.behavior`, written as autoscaling/v2, has no place in v1).
 */
import { type FieldPath, formatFieldPath } from '../../krm/field-path.ts'
import type { FieldSchema } from '../../krm/field-schema.ts'
import type { FieldSet } from '../../krm/field-set.ts'
import type { ManagedFields, ManagedFieldsEntry } from '../../krm/managed-fields.ts'
import { byTimeLatestFirst, isSyncer } from '../attribute/actor.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import type { SyncerManager } from '../drift.ts'

/** Entries of others in another version, the latest first. */
export function writersInOtherVersions(
  managed: ManagedFields,
  apiVersion: string,
  syncer: SyncerManager | undefined,
): ManagedFieldsEntry[] {
  return managed.entries
    .filter((entry) => entry.subresource !== 'status' && entry.apiVersion !== '' && entry.apiVersion !== apiVersion)
    .filter((entry) => !isSyncer(entry, syncer) && !isControlPlane(entry.manager))
    .sort(byTimeLatestFirst)
}

/**
 * The writer of a value at a path without an owner of that name, or that the syncer alone owns: the one other writer in another version,
 * if the syncer wrote nothing later. Undefined where there is none, or more than one.
 */
export function writerInOtherVersion(
  managed: ManagedFields,
  apiVersion: string,
  syncer: SyncerManager | undefined,
): ManagedFieldsEntry | undefined {
  const [only, ...more] = writersInOtherVersions(managed, apiVersion, syncer)
  if (only === undefined || more.length > 0) return undefined
  return managed.entries.some((entry) => isSyncer(entry, syncer) && entry.time > only.time) ? undefined : only
}

export interface HiddenLocation {
  readonly path: FieldPath
  readonly owner: ManagedFieldsEntry
}

/** Topmost paths that others own in another version and that git's version does not have, so that their values are not visible. */
export function hiddenLocations(writers: readonly ManagedFieldsEntry[], schema: FieldSchema): HiddenLocation[] {
  const found = new Map<string, HiddenLocation>()
  for (const owner of writers) {
    for (const path of undeclared(owner.fields, schema, [])) {
      const key = formatFieldPath(path)
      if (!found.has(key)) found.set(key, { path, owner })
    }
  }
  return [...found].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, location]) => location)
}

function* undeclared(set: FieldSet, schema: FieldSchema, path: FieldPath): Generator<FieldPath> {
  for (const { step, set: below } of set.children.values()) {
    const here = [...path, step]
    if (step.kind !== 'field') yield* undeclared(below, schema.items(), here)
    else if (schema.closed === true && !schema.declares(step.name)) yield here
    else yield* undeclared(below, schema.child(step.name), here)
  }
}
