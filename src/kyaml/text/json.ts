/** An integer beyond 2^53 is a `bigint`, so no value is rounded. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

interface ReviverContext {
  readonly source?: string
}
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: ReviverContext) => unknown,
) => unknown
type RawJson = (text: string) => unknown

const LONG_INTEGER = /[0-9]{16}/
const INTEGER = /^-?[0-9]+$/

/** @throws SyntaxError as `JSON.parse` does */
export function parseJson(text: string): Json {
  // The reviver is several times slower than the parser.
  if (!LONG_INTEGER.test(text)) return JSON.parse(text) as Json
  return (JSON.parse as ParseWithSource)(text, (_key, value, context) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    context.source !== undefined &&
    INTEGER.test(context.source)
      ? BigInt(context.source)
      : value,
  ) as Json
}

export function formatJson(value: Json, indent?: number): string {
  try {
    // A replacer is several times slower.
    return JSON.stringify(value, null, indent)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
  }
  const raw = (JSON as unknown as { rawJSON: RawJson }).rawJSON
  return JSON.stringify(
    value,
    (_key, part) => (typeof part === 'bigint' ? raw(String(part)) : part),
    indent,
  )
}

/** Sorted by code unit: equal values give equal text. */
export function formatCanonicalJson(value: Json): string {
  return formatJson(sortKeys(value))
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  const sorted = emptyObject()
  for (const key of Object.keys(value).sort()) setKey(sorted, key, sortKeys(value[key] as Json))
  return sorted
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

export function emptyObject(): { [key: string]: Json } {
  return {}
}

/** Including `__proto__`. */
export function setKey(target: { [key: string]: Json }, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  else target[key] = value
}

/** Own property only. */
export function getKey(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function getPartAt(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (part, name) => (isJsonObject(part) ? getKey(part, name) : undefined),
    value,
  )
}

export function getTextAt(value: Json | undefined, ...names: readonly string[]): string {
  const part = getPartAt(value, ...names)
  return typeof part === 'string' ? part : ''
}

/** Undefined for an empty text too, as Go reads an absent text as empty. */
export function findNonEmptyText(
  value: Json | undefined,
  ...names: readonly string[]
): string | undefined {
  return getTextAt(value, ...names) || undefined
}

export function filterObjects(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : []
}

export function filterTexts(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** A number equals a bigint of the same value. Key order does not matter. */
export function isJsonEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true
  if (typeof left === 'bigint' || typeof right === 'bigint')
    return isNumeric(left) && isNumeric(right) && BigInt(left) === BigInt(right)
  if (isJsonArray(left)) {
    return (
      isJsonArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isJsonEqual(item, right[index]))
    )
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isJsonEqual(left[key], right[key]))
  )
}

function isNumeric(value: Json | undefined): value is bigint | number {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
}
