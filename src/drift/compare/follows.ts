/**
 * Differences that follow from another one of the object, so that one edit is one line: a default in a declared map, and the second name of a
 * value.
 */
import { type FieldPath, field, valueAt } from '../../krm/field-path.ts'
import { type JsonObject, jsonEquals } from '../../text/json.ts'
import type { Drift } from '../drift.ts'

/**
 * Fields that the server keeps equal to another one. Source: Kubernetes API reference, PodSpec (`serviceAccount` is an alias) and ServiceSpec
 * (`clusterIPs[0]` equals `clusterIP`).
 */
const SECOND_NAMES: { readonly [second: string]: string | undefined } = { serviceAccount: 'serviceAccountName', clusterIPs: 'clusterIP' }

/** Whether another difference covers the one at an undeclared path. */
export function followsAnother({ change, path }: Pick<Drift, 'change' | 'path'>, desired: JsonObject, live: JsonObject): boolean {
  if (valueAt(desired, path) !== undefined) return false
  return change === 'removed' ? cameWithDeclared(path, desired, live) : isSecondName(path, desired, live)
}

/** Whether it is a default in a declared map that is missing. */
function cameWithDeclared(path: FieldPath, desired: JsonObject, live: JsonObject): boolean {
  return path.some((_step, depth) => {
    const above = path.slice(0, depth)
    return depth > 0 && valueAt(desired, above) !== undefined && valueAt(live, above) === undefined
  })
}

function isSecondName(path: FieldPath, desired: JsonObject, live: JsonObject): boolean {
  const index = path.findIndex((step) => step.kind === 'field' && Object.hasOwn(SECOND_NAMES, step.name))
  const step = path[index]
  const first = step?.kind === 'field' ? SECOND_NAMES[step.name] : undefined
  if (first === undefined) return false
  const above = path.slice(0, index)
  const [one, other] = [valueAt(live, [...above, field(first)]), valueAt(live, path.slice(0, index + 1))]
  const same = jsonEquals(other, one) || (Array.isArray(other) && other.length > 0 && jsonEquals(other[0], one))
  return same && valueAt(desired, [...above, field(first)]) !== undefined
}
