/** Kubernetes API, `ManagedFieldsEntry` in apimachinery `meta/v1/types.go`. */
import {
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../text/json.ts'
import type { FieldPath } from './field-path.ts'
import {
  type FieldSet,
  findLeafDepthAbove,
  parseFieldsV1,
  stepKey,
  touchesPath,
} from './field-set.ts'

/** Different operations or subresources are different writers. */
export interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** Empty: the object itself. */
  readonly subresource: string
}

/** The merged commit follows. */
export const SETTLE_MANAGER = 'backporch.dev/'

export function isSettleManager(manager: string): boolean {
  return manager.startsWith(SETTLE_MANAGER)
}

export interface ManagedFieldsEntry extends FieldManager {
  readonly apiVersion: string
  /** RFC 3339 UTC, of the last change to any field. Empty if missing or invalid. */
  readonly time: string
  readonly fields: FieldSet
}

export interface ManagedFields {
  readonly entries: readonly ManagedFieldsEntry[]
  /** They make ownership unproven. */
  readonly unreadable: readonly string[]
}

/** Objects are never changed in place. */
const known = new WeakMap<JsonObject, ManagedFields>()

export function getManagedFields(object: JsonObject): ManagedFields {
  const managed = known.get(object) ?? readManagedFields(object)
  known.set(object, managed)
  return managed
}

function readManagedFields(object: JsonObject): ManagedFields {
  const list = getPartAt(object, 'metadata', 'managedFields')
  if (list === undefined || list === null) return { entries: [], unreadable: [] }
  if (!isJsonArray(list))
    return { entries: [], unreadable: ['metadata.managedFields is not a list'] }
  const read = list.map(readEntry)
  const unreadable = read.flatMap((entry, index) =>
    entry === undefined ? [`metadata.managedFields[${index}] cannot be read`] : [],
  )
  return { entries: read.filter((entry) => entry !== undefined), unreadable }
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/

function readEntry(item: Json): ManagedFieldsEntry | undefined {
  if (!isJsonObject(item)) return undefined
  const operation = getKey(item, 'operation')
  const fields = parseFieldsV1(getKey(item, 'fieldsV1') ?? {})
  if ((operation !== 'Apply' && operation !== 'Update') || fields === undefined) return undefined
  return {
    manager: getTextAt(item, 'manager'),
    operation,
    subresource: getTextAt(item, 'subresource'),
    apiVersion: getTextAt(item, 'apiVersion'),
    time: RFC_3339.test(getTextAt(item, 'time')) ? getTextAt(item, 'time') : '',
    fields,
  }
}

/**
 * Includes a part of the location, or the atomic list or map around it. An entry has an empty map
 * in the form of an atomic one: if another manager owns a part, the map is not atomic.
 */
export function ownsLocation(
  entry: ManagedFieldsEntry,
  path: FieldPath,
  managed: Pick<ManagedFields, 'entries'>,
): boolean {
  if (!touchesPath(entry.fields, path)) return false
  const depth = findLeafDepthAbove(entry.fields, path)
  if (depth === undefined) return true
  return !isPartlyOwned(managed, path.slice(0, depth))
}

const partlyOwned = new WeakMap<readonly ManagedFieldsEntry[], ReadonlySet<string>>()

export function isPartlyOwned(
  { entries }: Pick<ManagedFields, 'entries'>,
  path: FieldPath,
): boolean {
  const locations = partlyOwned.get(entries) ?? listLocationsWithParts(entries)
  partlyOwned.set(entries, locations)
  return locations.has(getStepsKey(path.map(stepKey)))
}

function listLocationsWithParts(entries: readonly ManagedFieldsEntry[]): ReadonlySet<string> {
  const found = new Set<string>()
  const collect = ({ children }: FieldSet, steps: readonly string[]): void => {
    if (children.size > 0) found.add(getStepsKey(steps))
    for (const [step, { set }] of children)
      if (set.children.size > 0) collect(set, [...steps, step])
  }
  for (const { fields } of entries) collect(fields, [])
  return found
}

function getStepsKey(steps: readonly string[]): string {
  return JSON.stringify(steps)
}

export function isSameManager(left: FieldManager, right: FieldManager): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.subresource === right.subresource
  )
}
