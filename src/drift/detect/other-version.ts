/**
 * Writes in another API version than git's. The entry of a manager has paths of its own version, which may not exist in git's version (for
 * instance `spec.behavior` of autoscaling/v2 in v1).
 */
import {
  type FieldPath,
  type FieldSchema,
  type FieldSet,
  formatFieldPath,
  type ManagedFields,
  type ManagedFieldsEntry,
} from '@backporch/kyaml/field'
import { actorOf, byTimeLatestFirst, isSyncer } from '../attribute/actor.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import type { SyncerManager } from '../compare/drift.ts'
import type { Detector } from './object-comparison.ts'

/** Fields that git's version lacks, of writers without any other reported field. */
export const detectHidden: Detector = (comparison, found) => {
  const { desired, schema } = comparison.observed
  const writers = writersInOtherVersions(comparison.managed, desired.apiVersion, comparison.syncer)
  const locations = hiddenLocations(writers, schema).filter(({ owner }) => {
    return !found.some(
      ({ actor }) => actor.confidence === 'last-writer' && actor.manager === owner.manager,
    )
  })
  return locations.map(({ path, owner }) => {
    const note = `written as ${owner.apiVersion}; ${desired.apiVersion}, which git declares, has no such field, so its value was not read`
    return {
      ...comparison.extra(path, undefined, actorOf(owner, 'field-manager'), [note]),
      liveUnread: true,
    }
  })
}

/** Entries of others in another version, the latest first. */
export function writersInOtherVersions(
  managed: ManagedFields,
  apiVersion: string,
  syncer: SyncerManager | undefined,
): ManagedFieldsEntry[] {
  return managed.entries
    .filter(
      (entry) =>
        entry.subresource !== 'status' &&
        entry.apiVersion !== '' &&
        entry.apiVersion !== apiVersion,
    )
    .filter((entry) => !isSyncer(entry, syncer) && !isControlPlane(entry.manager))
    .sort(byTimeLatestFirst)
}

/** The writer of a value that has no other owner than the syncer: the only other writer in another version, if the syncer wrote nothing later. */
export function writerInOtherVersion(
  managed: ManagedFields,
  apiVersion: string,
  syncer: SyncerManager | undefined,
): ManagedFieldsEntry | undefined {
  const [only, ...more] = writersInOtherVersions(managed, apiVersion, syncer)
  if (only === undefined || more.length > 0) return undefined
  return managed.entries.some((entry) => isSyncer(entry, syncer) && entry.time > only.time)
    ? undefined
    : only
}

interface HiddenLocation {
  readonly path: FieldPath
  readonly owner: ManagedFieldsEntry
}

/** Topmost paths of other writers that git's version lacks, so that their values are not visible. */
export function hiddenLocations(
  writers: readonly ManagedFieldsEntry[],
  schema: FieldSchema,
): HiddenLocation[] {
  const found = new Map<string, HiddenLocation>()
  for (const owner of writers) {
    for (const path of undeclared(owner.fields, schema, [])) {
      const key = formatFieldPath(path)
      if (!found.has(key)) found.set(key, { path, owner })
    }
  }
  return [...found]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, location]) => location)
}

function* undeclared(set: FieldSet, schema: FieldSchema, path: FieldPath): Generator<FieldPath> {
  for (const { step, set: below } of set.children.values()) {
    const here = [...path, step]
    if (step.kind !== 'field') yield* undeclared(below, schema.items(), here)
    else if (schema.closed === true && !schema.declares(step.name)) yield here
    else yield* undeclared(below, schema.child(step.name), here)
  }
}
