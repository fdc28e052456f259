import { createFieldStep, type FieldPath, findValueAt } from '@backporch/kyaml/field'
import {
  formatCanonicalJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

/** Only if the names are unique, because indexes differ in a patch. */
export function convertToNamedPath(object: Json, path: FieldPath): FieldPath {
  return path.map((step, at) =>
    step.kind === 'index' ? findItemStep(findValueAt(object, path.slice(0, at)), step.index) : step,
  )
}

function findItemStep(list: Json | undefined, position: number): FieldPath[number] {
  const items = isJsonArray(list) ? list : []
  for (const names of ITEM_KEYS) {
    const keys = items.map((item) => findKeys(item, names))
    const own = keys[position]
    const isKey =
      keys.every((each) => each !== undefined) &&
      new Set(keys.map((each) => formatCanonicalJson(each ?? null))).size === keys.length
    if (own !== undefined && isKey) return { kind: 'item', keys: own }
  }
  return { kind: 'index', index: position }
}

const ITEM_KEYS = [
  ['name'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['mountPath'],
  ['devicePath'],
  ['ip'],
  ['topologyKey'],
]

function findKeys(item: Json, [first = '', second]: readonly string[]): JsonObject | undefined {
  const value = isJsonObject(item) ? getKey(item, first) : undefined
  if (!isJsonObject(item) || value === undefined) return undefined
  return second === undefined
    ? { [first]: value }
    : { [first]: value, [second]: getKey(item, second) ?? 'TCP' }
}

export function* listLeaves(value: Json | undefined, path: FieldPath): Generator<FieldPath> {
  if (isJsonObject(value) && Object.keys(value).length > 0)
    for (const [name, each] of Object.entries(value))
      yield* listLeaves(each, [...path, createFieldStep(name)])
  else if (isJsonArray(value) && value.some((each) => isJsonObject(each) || isJsonArray(each)))
    for (const [position, each] of value.entries())
      yield* listLeaves(each, [...path, findItemStep(value, position)])
  else yield path
}
