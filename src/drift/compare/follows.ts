/**
 * One edit is one line: additions of the server to the declared object, and the second name of a
 * value.
 */
import { createFieldStep, type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { isJsonEqual, type JsonObject } from '@backporch/kyaml/json'
import { findFirstName } from '@backporch/kyaml/resource'
import type { Drift } from './drift.ts'

export function followsAnother(
  { change, path }: Pick<Drift, 'change' | 'path'>,
  desired: JsonObject,
  live: JsonObject,
): boolean {
  if (findValueAt(desired, path) !== undefined) return false
  // A dry run adds defaults, port numbers and webhook fields.
  return change === 'removed' || isSecondName(path, desired, live)
}

function isSecondName(path: FieldPath, desired: JsonObject, live: JsonObject): boolean {
  const index = path.findIndex(
    (step) => step.kind === 'field' && findFirstName(step.name) !== undefined,
  )
  const step = path[index]
  const first = step?.kind === 'field' ? findFirstName(step.name) : undefined
  if (first === undefined) return false
  const above = path.slice(0, index)
  const [one, other] = [
    findValueAt(live, [...above, createFieldStep(first)]),
    findValueAt(live, path.slice(0, index + 1)),
  ]
  const same =
    isJsonEqual(other, one) ||
    (Array.isArray(other) && other.length > 0 && isJsonEqual(other[0], one))
  return same && findValueAt(desired, [...above, createFieldStep(first)]) !== undefined
}
