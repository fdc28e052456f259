/** Field changes as a JSON Patch (RFC 6902) against one live object, each behind a test of the value that it replaces. */
import { withoutValueAt, withValueAt } from '@backporch/kyaml/edit-yaml'
import { type FieldPath, field, indexOfStep, valueAt } from '@backporch/kyaml/field'
import { isJsonArray, type Json, type JsonObject, jsonEquals } from '@backporch/kyaml/json'
import { secondNameOf } from '@backporch/kyaml/resource'

interface FieldChange {
  readonly path: FieldPath
  /** The value that has to be there; undefined: none. */
  readonly expected: Json | undefined
  /** The new value; undefined: none. */
  readonly value: Json | undefined
}

/** The operations in the order of the changes, or the first path with another value than expected. */
export function guardedPatch(
  live: JsonObject,
  changes: readonly FieldChange[],
): { readonly operations: readonly Json[] } | { readonly unlike: FieldPath } {
  const operations: Json[] = []
  // Pointers count list items, so each change points into the object as the changes before it leave it.
  let object: Json = live
  for (const { path, expected, value } of changes.flatMap((change) =>
    withSecondName(change, live),
  )) {
    const now = valueAt(object, path)
    if (!jsonEquals(now, expected)) return { unlike: path }
    if (now === undefined) {
      if (value === undefined) continue
      operations.push(addition(object, path, value))
    } else {
      const pointer = pointerTo(object, path)
      if (pointer === undefined) return { unlike: path }
      // The live value: equal to the reviewed one, in the server's own spelling.
      operations.push({ op: 'test', path: pointer, value: now })
      operations.push(
        value === undefined
          ? { op: 'remove', path: pointer }
          : { op: 'replace', path: pointer, value },
      )
    }
    object = value === undefined ? withoutValueAt(object, path) : withValueAt(object, path, value)
  }
  return { operations }
}

/** The server puts a removed field back from its second name, which goes first. */
function withSecondName(change: FieldChange, live: JsonObject): readonly FieldChange[] {
  const last = change.path.at(-1)
  const second =
    change.value === undefined && last?.kind === 'field' ? secondNameOf(last.name) : undefined
  const path = second === undefined ? [] : [...change.path.slice(0, -1), field(second)]
  const expected = second === undefined ? undefined : valueAt(live, path)
  return expected === undefined || !jsonEquals(expected, change.expected)
    ? [change]
    : [{ path, expected, value: undefined }, change]
}

/** Adds at the deepest existing location, with everything that is missing below it. */
function addition(object: Json, path: FieldPath, value: Json): Json {
  let depth = path.length - 1
  while (depth > 0 && valueAt(object, path.slice(0, depth)) === undefined) depth -= 1
  const parent = path.slice(0, depth)
  const whole = withValueAt(object, path, value)
  const base = depth === 0 ? '' : (pointerTo(object, parent) ?? '')
  const step = path[depth]
  const last =
    step?.kind === 'field' && !isJsonArray(valueAt(object, parent)) ? escapePointer(step.name) : '-'
  return {
    op: 'add',
    path: `${base}/${last}`,
    value: valueAt(whole, path.slice(0, depth + 1)) ?? null,
  }
}

/** JSON Pointer (RFC 6901) of a keyed path in this very object; undefined where the path leads nowhere. */
export function pointerTo(object: Json, path: FieldPath): string | undefined {
  let pointer = ''
  let current: Json | undefined = object
  for (const step of path) {
    if (current === undefined) return undefined
    const location: string | number = step.kind === 'field' ? step.name : indexOfStep(current, step)
    if (location === -1) return undefined
    pointer += `/${escapePointer(String(location))}`
    current = valueAt(current, [step])
  }
  return current === undefined ? undefined : pointer
}

function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}
