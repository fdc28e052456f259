/**
 * One edit is one line: additions of the server to the declared object, and the second name of a
 * value.
 */
import { type FieldPath, field, valueAt } from '@backporch/kyaml/field'
import { type JsonObject, jsonEquals } from '@backporch/kyaml/json'
import { firstNameOf } from '@backporch/kyaml/resource'
import type { Drift } from './drift.ts'

export function followsAnother(
  { change, path }: Pick<Drift, 'change' | 'path'>,
  desired: JsonObject,
  live: JsonObject,
): boolean {
  if (valueAt(desired, path) !== undefined) return false
  // A dry run adds defaults, port numbers and webhook fields.
  return change === 'removed' || isSecondName(path, desired, live)
}

function isSecondName(path: FieldPath, desired: JsonObject, live: JsonObject): boolean {
  const index = path.findIndex(
    (step) => step.kind === 'field' && firstNameOf(step.name) !== undefined,
  )
  const step = path[index]
  const first = step?.kind === 'field' ? firstNameOf(step.name) : undefined
  if (first === undefined) return false
  const above = path.slice(0, index)
  const [one, other] = [
    valueAt(live, [...above, field(first)]),
    valueAt(live, path.slice(0, index + 1)),
  ]
  const same =
    jsonEquals(other, one) ||
    (Array.isArray(other) && other.length > 0 && jsonEquals(other[0], one))
  return same && valueAt(desired, [...above, field(first)]) !== undefined
}
