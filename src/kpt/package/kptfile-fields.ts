/** As kpt decodes them: a field of another type is absent. */
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

export function getObjectField(object: JsonObject, name: string): JsonObject {
  const value = getKey(object, name)
  return isJsonObject(value) ? value : {}
}

export function listObjectFields(object: JsonObject, name: string): readonly JsonObject[] {
  const value = getKey(object, name)
  return isJsonArray(value) ? value.map((item) => (isJsonObject(item) ? item : {})) : []
}

/** kpt does not distinguish an empty text from an absent one. */
export function getTextField(object: JsonObject, name: string): string | undefined {
  return convertToText(getKey(object, name)) || undefined
}

/** kpt accepts a number or boolean as text. */
export function convertToText(value: Json | undefined): string {
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

export function getTextMapField(object: JsonObject, name: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(getObjectField(object, name)).map(([key, value]) => [key, convertToText(value)]),
  )
}

export function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (isJsonObject(value) && Object.keys(value).length === 0)
  )
}
