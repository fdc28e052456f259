/**
 * Fields that somebody other than the syncer put into an object and git does not declare. A dry run cannot show them,
 * because an apply leaves the fields of others alone (measured: 15 of 25 hand edits are of this kind). What controllers add is among them:
 * the rules of src/drift/noise know it by its kind, place and value, and not by a name that anybody can give himself.
 */
import { type FieldPath, formatFieldPath, valueAt } from '../krm/field-path.ts'
import type { FieldSet } from '../krm/field-set.ts'
import type { Json, JsonObject } from '../krm/json.ts'
import type { ManagedFields, ManagedFieldsEntry } from '../krm/managed-fields.ts'
import { isSyncer } from './actor.ts'
import type { Syncer } from './drift.ts'

export interface AddedField {
  readonly path: FieldPath
  readonly live: Json | undefined
  readonly owner: ManagedFieldsEntry
}

/** One entry per added place: a whole list item where the item is new, a single field otherwise; each place once, the latest owner. */
export function findAddedFields(
  live: JsonObject,
  desired: JsonObject,
  managed: ManagedFields,
  syncer: Syncer | undefined,
  metadataOnly: boolean,
): AddedField[] {
  const found = new Map<string, AddedField>()
  const foreign = managed.entries
    .filter((entry) => entry.subresource !== 'status' && !isSyncer(entry, syncer))
    .sort((left, right) => (left.time === right.time ? compareText(left.manager, right.manager) : compareText(right.time, left.time)))
  for (const owner of foreign) {
    for (const path of addedPaths(owner.fields, desired, [])) {
      if (path[0]?.kind === 'field' && path[0].name === 'status') continue
      const value = valueAt(live, path)
      // An owner of something that is not there: the entry is stale, there is nothing to show.
      if (value === undefined && !metadataOnly) continue
      const key = formatFieldPath(path)
      if (!found.has(key)) found.set(key, { path, live: value, owner })
    }
  }
  // The server promises no order of its entries, and the order of the lines is part of what is written to git.
  return [...found].sort(([left], [right]) => compareText(left, right)).map(([, field]) => field)
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function* addedPaths(set: FieldSet, desired: Json | undefined, path: FieldPath): Generator<FieldPath> {
  const parent = path.at(-1)
  for (const { step, set: below } of set.children.values()) {
    // A key of the item itself, as the protocol that the server defaults for a port, is how git's own item is named.
    if (step.kind === 'field' && parent?.kind === 'item' && Object.hasOwn(parent.keys, step.name)) continue
    const here = [...path, step]
    const wanted = valueAt(desired, [step])
    const item = step.kind === 'item' || step.kind === 'member' || step.kind === 'index'
    if (wanted === undefined && (item || below.children.size === 0)) yield here
    else if (below.children.size > 0) yield* addedPaths(below, wanted, here)
  }
}
