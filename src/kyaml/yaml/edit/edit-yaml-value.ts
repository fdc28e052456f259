import { type FieldPath, indexOfStep, type PathStep } from '../../krm/field-path.ts'
import { formatRedactedPath } from '../../krm/redaction/shown-path.ts'
import {
  emptyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '../../text/json.ts'

/** edit-yaml.ts converts it to a Failure with file and line. */
export class EditRefusal extends Error {
  /** In the document. */
  readonly offset: number | undefined

  constructor(why: string, offset?: number) {
    super(why)
    this.offset = offset
  }
}

/**
 * Creates missing or null parents, and appends missing items.
 * @throws EditRefusal for a value of another kind on the path
 */
export function writeValueAt(value: Json | undefined, path: FieldPath, wanted: Json): Json {
  const [step, ...rest] = path
  if (step === undefined) return wanted
  if (step.kind === 'field') {
    if (value !== undefined && value !== null && !isJsonObject(value))
      throw createWrongKindRefusal('a map', step)
    const object: JsonObject = isJsonObject(value) ? value : {}
    return addKey(object, step.name, writeValueAt(getKey(object, step.name), rest, wanted))
  }
  if (value !== undefined && value !== null && !isJsonArray(value))
    throw createWrongKindRefusal('a list', step)
  const list = isJsonArray(value) ? value : []
  const index = indexOfStep(list, step)
  if (index !== -1) return list.with(index, writeValueAt(list[index], rest, wanted))
  if (step.kind === 'index' && step.index > list.length)
    throw new EditRefusal(`the list has only ${list.length} items`)
  const start = step.kind === 'item' && rest.length > 0 ? step.keys : undefined
  return [...list, writeValueAt(start, rest, wanted)]
}

/** Emptied maps and lists stay. */
export function removeValueAt(value: Json, path: FieldPath): Json {
  const [step, ...rest] = path
  if (step === undefined) throw new EditRefusal('a whole document is removed with remove-object')
  if (step.kind === 'field') {
    const below = isJsonObject(value) ? getKey(value, step.name) : undefined
    if (!isJsonObject(value) || below === undefined) return value
    if (rest.length === 0) return omitKey(value, step.name)
    const inner = removeValueAt(below, rest)
    return inner === below ? value : addKey(value, step.name, inner)
  }
  const index = indexOfStep(value, step)
  const item = isJsonArray(value) ? value[index] : undefined
  if (!isJsonArray(value) || item === undefined) return value
  if (rest.length === 0) return value.toSpliced(index, 1)
  const inner = removeValueAt(item, rest)
  return inner === item ? value : value.with(index, inner)
}

function createWrongKindRefusal(wanted: string, step: PathStep): EditRefusal {
  return new EditRefusal(`the place of ${formatRedactedPath([step], undefined)} is not ${wanted}`)
}

function addKey(object: JsonObject, name: string, value: Json): JsonObject {
  const copy = emptyObject()
  for (const [key, below] of Object.entries(object)) setKey(copy, key, below)
  setKey(copy, name, value)
  return copy
}

function omitKey(object: JsonObject, name: string): JsonObject {
  const copy = emptyObject()
  for (const [key, below] of Object.entries(object)) if (key !== name) setKey(copy, key, below)
  return copy
}
