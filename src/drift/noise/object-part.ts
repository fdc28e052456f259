/** Parts of an object by field names; absent ones are empty, never an error. */
import { getKey, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'

/** The value below field names, or undefined. */
export function partAt(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>((part, name) => (isJsonObject(part) ? getKey(part, name) : undefined), value)
}

export function textAt(value: Json | undefined, ...names: readonly string[]): string {
  const part = partAt(value, ...names)
  return typeof part === 'string' ? part : ''
}

/** An annotation of the object, or empty. */
export function annotation(object: JsonObject, key: string): string {
  return textAt(object, 'metadata', 'annotations', key)
}
