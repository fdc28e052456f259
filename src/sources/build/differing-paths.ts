import { type FieldPath, field } from '@backporch/kyaml/field'
import { getKey, isJsonArray, isJsonObject, type Json, jsonEquals } from '@backporch/kyaml/json'

/** Where two values differ; a list whose length differs is one place. */
export function differingPaths(
  value: Json | undefined,
  other: Json | undefined,
  path: FieldPath = [],
): readonly FieldPath[] {
  if (isJsonObject(value) && isJsonObject(other))
    return [...new Set([...Object.keys(value), ...Object.keys(other)])].flatMap((name) =>
      differingPaths(getKey(value, name), getKey(other, name), [...path, field(name)]),
    )
  if (isJsonArray(value) && isJsonArray(other) && value.length === other.length)
    return value.flatMap((item, index) =>
      differingPaths(item, other[index], [...path, { kind: 'index', index }]),
    )
  return jsonEquals(value, other) ? [] : [path]
}
