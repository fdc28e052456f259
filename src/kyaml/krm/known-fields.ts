/**
 * A server drops unknown fields from a client-side apply and refuses a server-side apply with them
 * (docs/facts/refused-applies.md), so they are not drift.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../text/json.ts'
import { createFieldStep, type FieldPath } from './field-path.ts'
import type { FieldSchema } from './field-schema.ts'
import { stepOfItem } from './field-set.ts'

interface KnownFields {
  readonly object: JsonObject
  readonly unknown: readonly FieldPath[]
}

/** `status` stays, because no apply writes it. */
export function findKnownFields(object: JsonObject, schema: FieldSchema): KnownFields {
  const before = ASKED.get(object)
  if (before?.schema === schema) return before.known
  const unknown: FieldPath[] = []
  const whole = isKnown(object, schema, true)
  const known = { object: whole ? object : retainKnownMap(object, schema, [], unknown), unknown }
  ASKED.set(object, { schema, known })
  return known
}

/** A turn reads each object several times, and the next turn again. */
const ASKED = new WeakMap<
  JsonObject,
  { readonly schema: FieldSchema; readonly known: KnownFields }
>()

function isKnown(value: Json, schema: FieldSchema, isTop = false): boolean {
  if (isJsonArray(value)) {
    const items = schema.getItemSchema()
    return value.every((item) => isKnown(item, items))
  }
  if (!isJsonObject(value)) return true
  return Object.keys(value).every(
    (name) =>
      (isTop && name === 'status') ||
      ((schema.closed !== true || schema.hasField(name)) &&
        isKnown(value[name] as Json, schema.getChildSchema(name))),
  )
}

function retainKnownMap(
  map: JsonObject,
  schema: FieldSchema,
  path: FieldPath,
  unknown: FieldPath[],
): JsonObject {
  let changed = false
  const retained: [string, Json][] = []
  for (const [name, value] of Object.entries(map)) {
    const here = [...path, createFieldStep(name)]
    if (path.length === 0 && name === 'status') {
      retained.push([name, value])
      continue
    }
    if (schema.closed === true && !schema.hasField(name)) {
      unknown.push(here)
      changed = true
      continue
    }
    const known = retainKnownValue(value, schema.getChildSchema(name), here, unknown)
    changed ||= known !== value
    retained.push([name, known])
  }
  return changed ? Object.fromEntries(retained) : map
}

function retainKnownValue(
  value: Json,
  schema: FieldSchema,
  path: FieldPath,
  unknown: FieldPath[],
): Json {
  if (isJsonObject(value)) return retainKnownMap(value, schema, path, unknown)
  if (!isJsonArray(value)) return value
  const items = schema.getItemSchema()
  const known = value.map((item, index) =>
    retainKnownValue(
      item,
      items,
      [...path, stepOfItem(item, schema) ?? { kind: 'index', index }],
      unknown,
    ),
  )
  return known.every((item, index) => item === value[index]) ? value : known
}
