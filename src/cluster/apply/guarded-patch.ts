/** RFC 6902. A test of the replaced value precedes each change. */
import { removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import { createFieldStep, type FieldPath, findValueAt, indexOfStep } from '@backporch/kyaml/field'
import { isJsonArray, isJsonEqual, type Json, type JsonObject } from '@backporch/kyaml/json'
import { findSecondName } from '@backporch/kyaml/resource'

interface FieldChange {
  readonly path: FieldPath
  readonly expected: Json | undefined
  readonly value: Json | undefined
}

export function buildGuardedPatch(
  live: JsonObject,
  changes: readonly FieldChange[],
): { readonly operations: readonly Json[] } | { readonly unlike: FieldPath } {
  const operations: Json[] = []
  // Pointers count list items, so each change points into the object after the earlier ones.
  let object: Json = live
  for (const { path, expected, value } of changes.flatMap((change) =>
    addSecondName(change, live),
  )) {
    const now = findValueAt(object, path)
    if (!isJsonEqual(now, expected)) return { unlike: path }
    if (now === undefined) {
      if (value === undefined) continue
      operations.push(buildAddition(object, path, value))
    } else {
      const pointer = findPointer(object, path)
      if (pointer === undefined) return { unlike: path }
      // Equal to the reviewed value, in the server's spelling.
      operations.push({ op: 'test', path: pointer, value: now })
      operations.push(
        value === undefined
          ? { op: 'remove', path: pointer }
          : { op: 'replace', path: pointer, value },
      )
    }
    object = value === undefined ? removeValueAt(object, path) : writeValueAt(object, path, value)
  }
  return { operations }
}

/** The server restores a removed field from its second name, so that one goes first. */
function addSecondName(change: FieldChange, live: JsonObject): readonly FieldChange[] {
  const last = change.path.at(-1)
  const second =
    change.value === undefined && last?.kind === 'field' ? findSecondName(last.name) : undefined
  const path = second === undefined ? [] : [...change.path.slice(0, -1), createFieldStep(second)]
  const expected = second === undefined ? undefined : findValueAt(live, path)
  return expected === undefined || !isJsonEqual(expected, change.expected)
    ? [change]
    : [{ path, expected, value: undefined }, change]
}

function buildAddition(object: Json, path: FieldPath, value: Json): Json {
  let depth = path.length - 1
  while (depth > 0 && findValueAt(object, path.slice(0, depth)) === undefined) depth -= 1
  const parent = path.slice(0, depth)
  const whole = writeValueAt(object, path, value)
  const base = depth === 0 ? '' : (findPointer(object, parent) ?? '')
  const step = path[depth]
  const last =
    step?.kind === 'field' && !isJsonArray(findValueAt(object, parent))
      ? escapePointer(step.name)
      : '-'
  return {
    op: 'add',
    path: `${base}/${last}`,
    value: findValueAt(whole, path.slice(0, depth + 1)) ?? null,
  }
}

/** RFC 6901; undefined if the path leads nowhere. */
export function findPointer(object: Json, path: FieldPath): string | undefined {
  let pointer = ''
  let current: Json | undefined = object
  for (const step of path) {
    if (current === undefined) return undefined
    const location: string | number = step.kind === 'field' ? step.name : indexOfStep(current, step)
    if (location === -1) return undefined
    pointer += `/${escapePointer(String(location))}`
    current = findValueAt(current, [step])
  }
  return current === undefined ? undefined : pointer
}

function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}
