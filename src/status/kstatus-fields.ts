/**
 * `NestedString`, `NestedInt64` and `FromUnstructured` of apimachinery fail on a value of the wrong
 * type; `GetIntField` and `GetStringField` of cli-utils (pkg/kstatus/status/util.go) return their
 * default. A verdict depends on the accessor of its rule.
 */
import {
  getKey,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

export const STATUS_WORDS = [
  'InProgress',
  'Failed',
  'Current',
  'Terminating',
  'NotFound',
  'Unknown',
] as const
export type StatusWord = (typeof STATUS_WORDS)[number]

export interface RuleVerdict {
  readonly status: StatusWord
  readonly message: string
  readonly reason: string
}

interface StatusCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** `computeStatus` converts it to Unknown. */
export class StatusFault extends Error {}

export function createCurrentVerdict(message: string): RuleVerdict {
  return { status: 'Current', message, reason: '' }
}

export function createInProgressVerdict(reason: string, message: string): RuleVerdict {
  return { status: 'InProgress', message, reason }
}

export function createFailedVerdict(reason: string, message: string): RuleVerdict {
  return { status: 'Failed', message, reason }
}

function goType(value: Json): string {
  if (value === null) return '<nil>'
  if (isJsonArray(value)) return 'slice'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'bigint') return 'int64'
  return typeof value === 'object' ? 'map' : typeof value === 'boolean' ? 'bool' : 'string'
}

/**
 * A `null` on the path counts as absent.
 * @throws StatusFault for another value on the path that is not a mapping
 */
export function findNestedValue(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json = object
  for (const [index, name] of path.entries()) {
    if (value === null) return undefined
    if (!isJsonObject(value))
      throw new StatusFault(
        `.${path.slice(0, index).join('.')} is a ${goType(value)}, wanted a map`,
      )
    const next: Json | undefined = getKey(value, name)
    if (next === undefined) return undefined
    value = next
  }
  return value
}

/** @throws StatusFault if the value is not a string, including null */
export function findNestedString(object: JsonObject, path: readonly string[]): string | undefined {
  const value = findNestedValue(object, path)
  if (value === undefined || typeof value === 'string') return value
  throw new StatusFault(`.${path.join('.')} is a ${goType(value)}, wanted a string`)
}

/** @throws StatusFault if the value is not an integer, including null */
export function findNestedInteger(object: JsonObject, path: readonly string[]): bigint | undefined {
  const value = findNestedValue(object, path)
  if (value === undefined) return undefined
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  throw new StatusFault(`.${path.join('.')} is a ${goType(value)}, wanted an int64`)
}

export function getInteger(object: JsonObject, path: string, absent: number): number {
  const value = getPartAt(object, ...path.split('.'))
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' && Number.isInteger(value) ? value : absent
}

export function getString(object: JsonObject, path: string, absent: string): string {
  const value = getPartAt(object, ...path.split('.'))
  return typeof value === 'string' ? value : absent
}

/** @throws StatusFault if `status`, its `conditions` or a part of one has the wrong type */
export function listStatusConditions(object: JsonObject): readonly StatusCondition[] {
  const status = getKey(object, 'status') ?? null
  if (status === null) return []
  if (!isJsonObject(status)) throw new StatusFault(`cannot restore struct from: ${goType(status)}`)
  const conditions = getKey(status, 'conditions') ?? null
  if (conditions === null) return []
  if (!isJsonArray(conditions))
    throw new StatusFault(`cannot restore slice from ${goType(conditions)}`)
  return conditions.map((condition) => {
    if (condition !== null && !isJsonObject(condition))
      throw new StatusFault(`cannot restore struct from: ${goType(condition)}`)
    const text = (name: string) => getConditionText(condition ?? {}, name)
    return {
      type: text('type'),
      status: text('status'),
      reason: text('reason'),
      message: text('message'),
    }
  })
}

function getConditionText(condition: JsonObject, name: string): string {
  const value = getKey(condition, name) ?? null
  if (value === null) return ''
  if (typeof value !== 'string') throw new StatusFault(`cannot convert ${goType(value)} to string`)
  return value
}
