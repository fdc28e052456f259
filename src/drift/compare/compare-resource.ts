import {
  type FieldPath,
  type FieldSchema,
  field,
  type PathStep,
  stepKey,
  stepOfItem,
  valueAt,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
} from '@backporch/kyaml/json'
import { authoredMetadata } from '@backporch/kyaml/resource'

export interface FieldDifference {
  readonly path: FieldPath
  readonly live: Json | undefined
  readonly predicted: Json | undefined
}

/** Without `status` and the server's bookkeeping, in the order of the predicted object. */
export function compareObjects(
  live: JsonObject,
  predicted: JsonObject,
  schema: FieldSchema,
): FieldDifference[] {
  return compareMaps(authored(live), authored(predicted), schema, [])
}

function authored(object: JsonObject): JsonObject {
  const { status, apiVersion, kind, ...rest } = object
  const metadata = getKey(object, 'metadata')
  return isJsonObject(metadata) ? { ...rest, metadata: authoredMetadata(metadata) } : rest
}

function compare(
  live: Json | undefined,
  predicted: Json | undefined,
  schema: FieldSchema,
  path: FieldPath,
): FieldDifference[] {
  if (jsonEquals(live, predicted)) return []
  const oneSided = live === undefined || predicted === undefined
  // People edit the members.
  if (isContainer(live ?? predicted, schema) && (oneSided || sameShape(live, predicted))) {
    const inside = (isJsonObject(live ?? predicted) ? compareMaps : compareLists)(
      live,
      predicted,
      schema,
      path,
    )
    if (inside.length > 0 || !oneSided) return inside
  }
  return [{ path, live, predicted }]
}

function isContainer(value: Json | undefined, schema: FieldSchema): boolean {
  if (isJsonObject(value)) return !schema.atomic
  return isJsonArray(value) && schema.kind === 'list' && schema.listType !== 'atomic'
}

function sameShape(left: Json | undefined, right: Json | undefined): boolean {
  return isJsonObject(left) === isJsonObject(right) && isJsonArray(left) === isJsonArray(right)
}

function compareMaps(
  live: Json | undefined,
  predicted: Json | undefined,
  schema: FieldSchema,
  path: FieldPath,
): FieldDifference[] {
  const left = isJsonObject(live) ? live : {}
  const right = isJsonObject(predicted) ? predicted : {}
  return keysOf(right, left).flatMap((name) =>
    compare(getKey(left, name), getKey(right, name), schema.child(name), [...path, field(name)]),
  )
}

function compareLists(
  live: Json | undefined,
  predicted: Json | undefined,
  schema: FieldSchema,
  path: FieldPath,
): FieldDifference[] {
  const left = itemsByKey(live, schema)
  const right = itemsByKey(predicted, schema)
  if (left === undefined || right === undefined) return [{ path, live, predicted }]
  const inPredicted = [...right].flatMap(([key, { step, value }]) => {
    const other = left.get(key)
    // An absent item is one difference.
    if (other === undefined) return [{ path: [...path, step], live: undefined, predicted: value }]
    return compare(other.value, value, schema.items(), [...path, step])
  })
  const liveOnly = [...left].filter(([key]) => !right.has(key))
  return [
    ...inPredicted,
    ...liveOnly.map(([, { step, value }]) => ({
      path: [...path, step],
      live: value,
      predicted: undefined,
    })),
  ]
}

/** Undefined if the keys do not identify the items. */
function itemsByKey(
  list: Json | undefined,
  schema: FieldSchema,
): Map<string, { step: PathStep; value: Json }> | undefined {
  const items = new Map<string, { step: PathStep; value: Json }>()
  for (const value of isJsonArray(list) ? list : []) {
    const step = stepOfItem(value, schema)
    if (step === undefined || items.has(stepKey(step))) return undefined
    items.set(stepKey(step), { step, value })
  }
  return items
}

function keysOf(first: JsonObject, second: JsonObject): string[] {
  return [...Object.keys(first), ...Object.keys(second).filter((key) => !Object.hasOwn(first, key))]
}

/**
 * People remove a list item, or a block such as a probe, as one; entries of maps and lists one by
 * one.
 * @param path absent in live
 */
export function absentBlock(path: FieldPath, live: Json, schema: FieldSchema): FieldPath {
  let value: Json | undefined = live
  let at = schema
  for (const [depth, step] of path.entries()) {
    value = value === undefined ? undefined : valueAt(value, [step])
    at = step.kind === 'field' ? at.child(step.name) : at.items()
    const next = path[depth + 1]
    const isWhole =
      step.kind !== 'field' ||
      next === undefined ||
      (next.kind === 'field' && at.declares(next.name))
    if (value === undefined && isWhole) return path.slice(0, depth + 1)
  }
  return path
}
