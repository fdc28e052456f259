/**
 * The server rewrites quantities and base64, and adds defaults. In doubt the answer is no, and a
 * dry run decides.
 */
import {
  type FieldPath,
  type FieldSchema,
  type FieldSet,
  formatCanonicalQuantity,
  stepKey,
  stepOfItem,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

interface DifferingLeaf {
  readonly path: FieldPath
  readonly declared: Json | undefined
  readonly live: Json | undefined
}

export function* listDifferingLeaves(
  set: FieldSet,
  declared: Json | undefined,
  live: Json | undefined,
  schema: FieldSchema,
): Generator<DifferingLeaf> {
  const [wanted, there] = [indexItemsByStep(declared, schema), indexItemsByStep(live, schema)]
  if (wanted === undefined || there === undefined) {
    if (!isStoredAs(declared, live, schema)) yield { path: [], declared, live }
    return
  }
  for (const [key, { step, set: below }] of set.children) {
    const isField = step.kind === 'field'
    const [own, other] = isField
      ? [findValue(declared, step.name), findValue(live, step.name)]
      : [wanted.get(key), there.get(key)]
    const child = isField ? schema.getChildSchema(step.name) : schema.getItemSchema()
    if (below.children.size > 0)
      for (const leaf of listDifferingLeaves(below, own, other, child))
        yield { ...leaf, path: [step, ...leaf.path] }
    else if (!isAlreadyApplied(own, other, child))
      yield { path: [step], declared: own, live: other }
  }
}

function findValue(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? getKey(value, name) : undefined
}

/** Undefined for duplicate keys: the list is compared as a whole. */
function indexItemsByStep(
  list: Json | undefined,
  schema: FieldSchema,
): ReadonlyMap<string, Json> | undefined {
  const items = new Map<string, Json>()
  for (const item of isJsonArray(list) ? list : []) {
    const step = stepOfItem(item, schema)
    const key = step === undefined ? undefined : stepKey(step)
    if (key !== undefined && items.has(key)) return undefined
    if (key !== undefined) items.set(key, item)
  }
  return items
}

/**
 * @param declared a scalar, or something atomic or empty
 * @param live undefined if absent
 */
export function isAlreadyApplied(
  declared: Json | undefined,
  live: Json | undefined,
  schema: FieldSchema,
): boolean {
  // A Go type has no null, as in `creationTimestamp: null`.
  if (declared === null && live === undefined) return schema.typed === true
  // An empty map is merged; an atomic one replaces.
  if (isEmptyMap(declared) && isJsonObject(live) && !schema.atomic && schema.kind === 'object')
    return true
  return isStoredAs(declared, live, schema)
}

function isStoredAs(
  declared: Json | undefined,
  live: Json | undefined,
  schema: FieldSchema,
): boolean {
  if (isJsonEqual(declared, live)) return true
  if (declared === undefined || live === undefined) return false
  if (isJsonArray(declared)) {
    const items = schema.getItemSchema()
    return (
      isJsonArray(live) &&
      declared.length === live.length &&
      declared.every((item, index) => isStoredAs(item, live[index], items))
    )
  }
  if (isJsonObject(declared)) return isJsonObject(live) && isMapStoredAs(declared, live, schema)
  if (schema.format === 'quantity')
    return typeof live === 'string' && formatCanonicalQuantity(formatQuantity(declared)) === live
  if (schema.format === 'byte' && schema.typed === true)
    return typeof declared === 'string' && normalizeBase64(declared) === live
  return false
}

function isMapStoredAs(declared: JsonObject, live: JsonObject, schema: FieldSchema): boolean {
  for (const [name, value] of Object.entries(declared))
    if (!isStoredAs(value, getKey(live, name), schema.getChildSchema(name))) return false
  return Object.entries(live).every(
    ([name, value]) =>
      Object.hasOwn(declared, name) ||
      isStoredAs(schema.findDefault(name), value, schema.getChildSchema(name)),
  )
}

/** The server may omit a Go zero value. */
export function isEmptyValue(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null
    ? Object.keys(value).length === 0
    : value === null || value === '' || value === 0 || value === false
}

function isEmptyMap(value: Json | undefined): boolean {
  return isJsonObject(value) && isEmptyValue(value)
}

function formatQuantity(value: Json): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : ''
}

/** Base64 as Go writes it; Go ignores only line breaks. */
function normalizeBase64(text: string): string | undefined {
  const joined = text.replace(/[\r\n]/g, '')
  return Buffer.from(joined, 'base64').toString('base64') === joined ? joined : undefined
}
