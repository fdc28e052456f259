/** `metadata.managedFields` as values. Source: Kubernetes API, `ManagedFieldsEntry` in apimachinery `meta/v1/types.go`. */

import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject, partOf, textOf } from '../text/json.ts'
import type { FieldPath } from './field-path.ts'
import { depthOfLeafAbove, type FieldSet, parseFieldsV1, subsetAt, touchesPath } from './field-set.ts'

/** A writer as the server knows it. Two writers with one name but another operation or subresource are two. */
export interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** Empty for writes to the object itself; `status`, `scale`, ... otherwise. */
  readonly subresource: string
}

/** Field managers of `settle: backporch` are this and the merged commit that authorised the write. */
export const SETTLE_MANAGER = 'backporch.dev/'

export function isSettleManager(manager: string): boolean {
  return manager.startsWith(SETTLE_MANAGER)
}

export interface ManagedFieldsEntry extends FieldManager {
  readonly apiVersion: string
  /** RFC 3339, UTC; of the manager's last change to its set, for all of its fields together. Empty when the server left it out, or it is no time. */
  readonly time: string
  readonly fields: FieldSet
}

export interface ManagedFields {
  readonly entries: readonly ManagedFieldsEntry[]
  /** Entries that could not be read. Ownership is not proven where there is one. */
  readonly unreadable: readonly string[]
}

/** Objects are never changed in place, and one is asked for several times in a turn. */
const known = new WeakMap<JsonObject, ManagedFields>()

/** Reads the entries of a live object. Absent managedFields give no entries. Never throws: a broken entry is listed. */
export function managedFieldsOf(object: JsonObject): ManagedFields {
  const managed = known.get(object) ?? readManagedFields(object)
  known.set(object, managed)
  return managed
}

function readManagedFields(object: JsonObject): ManagedFields {
  const list = partOf(object, 'metadata', 'managedFields')
  if (list === undefined || list === null) return { entries: [], unreadable: [] }
  if (!isJsonArray(list)) return { entries: [], unreadable: ['metadata.managedFields is not a list'] }
  const read = list.map(readEntry)
  const unreadable = read.flatMap((entry, index) => (entry === undefined ? [`metadata.managedFields[${index}] cannot be read`] : []))
  return { entries: read.filter((entry) => entry !== undefined), unreadable }
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/

function readEntry(item: Json): ManagedFieldsEntry | undefined {
  if (!isJsonObject(item)) return undefined
  const operation = getKey(item, 'operation')
  const fields = parseFieldsV1(getKey(item, 'fieldsV1') ?? {})
  if ((operation !== 'Apply' && operation !== 'Update') || fields === undefined) return undefined
  return {
    manager: textOf(item, 'manager'),
    operation,
    subresource: textOf(item, 'subresource'),
    apiVersion: textOf(item, 'apiVersion'),
    time: RFC_3339.test(textOf(item, 'time')) ? textOf(item, 'time') : '',
    fields,
  }
}

/**
 * Whether a manager owns a place, something in it, or the atomic list or map that it lies in. An entry writes a map that is empty for
 * its manager as it writes an atomic one: where somebody else owns a part of it, it is not atomic, and its parts are not the manager's.
 */
export function ownsLocation(entry: ManagedFieldsEntry, path: FieldPath, { entries }: Pick<ManagedFields, 'entries'>): boolean {
  if (!touchesPath(entry.fields, path)) return false
  const depth = depthOfLeafAbove(entry.fields, path)
  if (depth === undefined) return true
  const above = path.slice(0, depth)
  return !entries.some(({ fields }) => (subsetAt(fields, above)?.children.size ?? 0) > 0)
}

export function sameManager(left: FieldManager, right: FieldManager): boolean {
  return left.manager === right.manager && left.operation === right.operation && left.subresource === right.subresource
}
