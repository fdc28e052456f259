/**
 * A manager's entry has paths of its own version, which git's may lack (`spec.behavior` of
 * autoscaling/v2 in v1).
 */
import {
  type FieldPath,
  type FieldSchema,
  type FieldSet,
  formatFieldPath,
  type ManagedFields,
  type ManagedFieldsEntry,
} from '@backporch/kyaml/field'
import { compareTimeLatestFirst, createActor, isSyncer } from '../attribute/actor.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import type { SyncerManager } from '../compare/drift.ts'
import type { Detector } from './object-comparison.ts'

export const detectHidden: Detector = (comparison, found) => {
  const { desired, schema } = comparison.observed
  const writers = listWritersInOtherVersions(
    comparison.managed,
    desired.apiVersion,
    comparison.syncer,
  )
  const locations = listHiddenLocations(writers, schema).filter(({ owner }) => {
    return !found.some(
      ({ actor }) => actor.confidence === 'last-writer' && actor.manager === owner.manager,
    )
  })
  return locations.map(({ path, owner }) => {
    const note = `written as ${owner.apiVersion}; ${desired.apiVersion}, which git declares, has no such field, so its value was not read`
    return {
      ...comparison.createExtraDrift(path, undefined, createActor(owner, 'field-manager'), [note]),
      liveUnread: true,
    }
  })
}

export function listWritersInOtherVersions(
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
    .sort(compareTimeLatestFirst)
}

/** Undefined unless there is one such writer and the syncer wrote nothing later. */
export function findWriterInOtherVersion(
  managed: ManagedFields,
  apiVersion: string,
  syncer: SyncerManager | undefined,
): ManagedFieldsEntry | undefined {
  const [only, ...more] = listWritersInOtherVersions(managed, apiVersion, syncer)
  if (only === undefined || more.length > 0) return undefined
  return managed.entries.some((entry) => isSyncer(entry, syncer) && entry.time > only.time)
    ? undefined
    : only
}

interface HiddenLocation {
  readonly path: FieldPath
  readonly owner: ManagedFieldsEntry
}

export function listHiddenLocations(
  writers: readonly ManagedFieldsEntry[],
  schema: FieldSchema,
): HiddenLocation[] {
  const found = new Map<string, HiddenLocation>()
  for (const owner of writers) {
    for (const path of listUndeclaredPaths(owner.fields, schema, [])) {
      const key = formatFieldPath(path)
      if (!found.has(key)) found.set(key, { path, owner })
    }
  }
  return [...found]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, location]) => location)
}

function* listUndeclaredPaths(
  set: FieldSet,
  schema: FieldSchema,
  path: FieldPath,
): Generator<FieldPath> {
  for (const { step, set: below } of set.children.values()) {
    const here = [...path, step]
    if (step.kind !== 'field') yield* listUndeclaredPaths(below, schema.getItemSchema(), here)
    else if (schema.closed === true && !schema.hasField(step.name)) yield here
    else yield* listUndeclaredPaths(below, schema.getChildSchema(step.name), here)
  }
}
