/**
 * Fields that a writer other than the syncer put into an object and git does not declare. A dry run cannot show them,
 * because an apply leaves the fields of others alone (measured: 15 of 25 hand edits are of this kind). What controllers add is among them:
 * the rules of src/drift/noise know it by its kind, location and value, and not by a name that any client can choose.
 */

import { type FieldPath, formatFieldPath, type PathStep, valueAt } from '../../krm/field-path.ts'
import { type FieldSchema, UNKNOWN_SCHEMA } from '../../krm/field-schema.ts'
import { type FieldSet, stepOfItem, subsetAt } from '../../krm/field-set.ts'
import type { ManagedFields, ManagedFieldsEntry } from '../../krm/managed-fields.ts'
import { compareText } from '../../text/compare-text.ts'
import { getKey, type Json, type JsonObject, jsonEquals } from '../../text/json.ts'
import { byTimeLatestFirst, isSyncer } from '../attribute/actor.ts'
import type { SyncerManager } from '../drift.ts'

export interface AddedField {
  readonly path: FieldPath
  readonly live: Json | undefined
  readonly owner: ManagedFieldsEntry
}

/** The deployment controller counts revisions with every status that it writes, so this identifies no other writer. */
const REVISION = 'metadata.annotations["deployment.kubernetes.io/revision"]'

/** One entry per added place: a whole list item where the item is new, a single field otherwise; each place once, the latest owner. */
export function findAddedFields(
  { live, desired, managed }: { readonly live: JsonObject; readonly desired: JsonObject; readonly managed: ManagedFields },
  syncer: SyncerManager | undefined,
  metadataOnly: boolean,
  schema: FieldSchema = UNKNOWN_SCHEMA,
): AddedField[] {
  const found = new Map<string, AddedField>()
  const foreign = managed.entries.filter((entry) => !isSyncer(entry, syncer)).sort(byTimeLatestFirst)
  for (const owner of foreign) {
    for (const path of addedPaths(owner.fields, desired, schema, [])) {
      if (path[0]?.kind === 'field' && path[0].name === 'status') continue
      if (owner.subresource === 'status' && formatFieldPath(path) === REVISION) continue
      // A map in which the owner has nothing left (docs/facts/owner-of-an-empty-map.md): its parts are named by who owns them.
      if (managed.entries.some(({ fields }) => (subsetAt(fields, path)?.children.size ?? 0) > 0) && !endsInItem(path)) continue
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

function endsInItem(path: FieldPath): boolean {
  return path.at(-1)?.kind !== 'field'
}

function* addedPaths(set: FieldSet, desired: Json | undefined, schema: FieldSchema, path: FieldPath): Generator<FieldPath> {
  const parent = path.at(-1)
  for (const { step, set: below } of set.children.values()) {
    // A key of the item itself, as the protocol that the server defaults for a port, is how git's own item is named.
    if (step.kind === 'field' && parent?.kind === 'item' && Object.hasOwn(parent.keys, step.name)) continue
    const here = [...path, step]
    const wanted = step.kind === 'item' ? declaredItem(desired, step, schema) : valueAt(desired, [step])
    const item = step.kind === 'item' || step.kind === 'member' || step.kind === 'index'
    if (wanted === undefined && (item || below.children.size === 0)) yield here
    else if (below.children.size > 0)
      yield* addedPaths(below, wanted, step.kind === 'field' ? schema.child(step.name) : schema.items(), here)
  }
}

/** An item that git declares without a key is the one with that key's default, and no other: port 8080 of UDP is not git's port 8080. */
function declaredItem(desired: Json | undefined, step: PathStep, schema: FieldSchema): Json | undefined {
  const item = valueAt(desired, [step])
  const own = item === undefined || schema.listType !== 'map' ? undefined : stepOfItem(item, schema)
  return own !== undefined && step.kind === 'item' && names(step, own) ? undefined : item
}

/** Whether the keys that both have show that they are two items. */
function names(step: Extract<PathStep, { kind: 'item' }>, own: PathStep): boolean {
  return (
    own.kind === 'item' &&
    Object.entries(own.keys).some(([key, value]) => Object.hasOwn(step.keys, key) && !jsonEquals(getKey(step.keys, key), value))
  )
}
