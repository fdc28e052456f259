import {
  createFieldStep,
  type FieldPath,
  type FieldSchema,
  findValueAt,
  type PathStep,
  stepKey,
  stepOfItem,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { omitMetadataBookkeeping } from '@backporch/kyaml/resource'

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
  return compareMaps(extractAuthoredFields(live), extractAuthoredFields(predicted), schema, [])
}

function extractAuthoredFields(object: JsonObject): JsonObject {
  const { status, apiVersion, kind, ...rest } = object
  const metadata = getKey(object, 'metadata')
  return isJsonObject(metadata) ? { ...rest, metadata: omitMetadataBookkeeping(metadata) } : rest
}

function compare(
  live: Json | undefined,
  predicted: Json | undefined,
  schema: FieldSchema,
  path: FieldPath,
): FieldDifference[] {
  if (isJsonEqual(live, predicted)) return []
  const oneSided = live === undefined || predicted === undefined
  // People edit the members.
  if (isContainer(live ?? predicted, schema) && (oneSided || hasSameShape(live, predicted))) {
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

function hasSameShape(left: Json | undefined, right: Json | undefined): boolean {
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
  return listKeys(right, left).flatMap((name) =>
    compare(getKey(left, name), getKey(right, name), schema.getChildSchema(name), [
      ...path,
      createFieldStep(name),
    ]),
  )
}

function compareLists(
  live: Json | undefined,
  predicted: Json | undefined,
  schema: FieldSchema,
  path: FieldPath,
): FieldDifference[] {
  const left = indexItemsByKey(live, schema)
  const right = indexItemsByKey(predicted, schema)
  if (left === undefined || right === undefined) return [{ path, live, predicted }]
  const inPredicted = [...right].flatMap(([key, { step, value }]) => {
    const other = left.get(key)
    // An absent item is one difference.
    if (other === undefined) return [{ path: [...path, step], live: undefined, predicted: value }]
    return compare(other.value, value, schema.getItemSchema(), [...path, step])
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
function indexItemsByKey(
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

function listKeys(first: JsonObject, second: JsonObject): string[] {
  return [...Object.keys(first), ...Object.keys(second).filter((key) => !Object.hasOwn(first, key))]
}

/**
 * People remove a list item, or a block such as a probe, as one; entries of maps and lists one by
 * one.
 * @param path absent in live
 */
export function findAbsentBlock(path: FieldPath, live: Json, schema: FieldSchema): FieldPath {
  let value: Json | undefined = live
  let at = schema
  for (const [depth, step] of path.entries()) {
    value = value === undefined ? undefined : findValueAt(value, [step])
    at = step.kind === 'field' ? at.getChildSchema(step.name) : at.getItemSchema()
    const next = path[depth + 1]
    const isWhole =
      step.kind !== 'field' ||
      next === undefined ||
      (next.kind === 'field' && at.hasField(next.name))
    if (value === undefined && isWhole) return path.slice(0, depth + 1)
  }
  return path
}
