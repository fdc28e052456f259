/** Messages follow github.com/santhosh-tekuri/jsonschema v6. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import type { ReducedSchema, ReducedSchemas } from './reduced-schema.ts'

interface SchemaProblem {
  /** Keys and indexes, joined by dots; empty for the object itself. */
  readonly path: string
  /** Never contains a value, which may come from a Secret. */
  readonly message: string
}

interface ValidateOptions {
  readonly strict: boolean
}

const MOST_PROBLEMS = 100

/** @returns at most 100 problems, in field order */
export function validateValue(
  value: Json,
  schema: ReducedSchema,
  definitions: ReducedSchemas['definitions'],
  options: ValidateOptions,
): readonly SchemaProblem[] {
  const walk = new Walk(definitions, options)
  walk.check(value, schema, '', true)
  return walk.problems.slice(0, MOST_PROBLEMS)
}

class Walk {
  readonly problems: SchemaProblem[] = []
  private readonly definitions: ReducedSchemas['definitions']
  private readonly options: ValidateOptions

  constructor(definitions: ReducedSchemas['definitions'], options: ValidateOptions) {
    this.definitions = definitions
    this.options = options
  }

  check(value: Json, given: ReducedSchema, path: string, required: boolean): void {
    const schema = this.resolveSchema(given)
    if (schema === 'any' || (value === null && !required) || this.problems.length > MOST_PROBLEMS)
      return
    if (typeof schema === 'string') {
      const message = findScalarProblem(value, schema as Scalar, required)
      if (message !== undefined) this.problems.push({ path, message })
    } else if ('enum' in schema) {
      if (typeof value === 'string' && schema.enum.includes(value)) return
      const all = schema.enum.map(quoteName).join(', ')
      this.problems.push({
        path,
        message: schema.enum.length === 1 ? `value must be ${all}` : `value must be one of ${all}`,
      })
    } else if ('list' in schema) {
      if (!isJsonArray(value))
        this.problems.push({ path, message: describeWrongType(value, ['array'], required) })
      else
        for (const [index, item] of value.entries())
          this.check(item, schema.list, joinPath(path, String(index)), false)
    } else if (!isJsonObject(value)) {
      this.problems.push({ path, message: describeWrongType(value, ['object'], required) })
    } else if ('map' in schema) {
      for (const [key, below] of Object.entries(value))
        this.check(below, schema.map, joinPath(path, key), false)
    } else this.checkFields(value, schema.fields, schema.required ?? [], path)
  }

  private checkFields(
    value: JsonObject,
    fields: Readonly<Record<string, ReducedSchema>>,
    required: readonly string[],
    path: string,
  ): void {
    const missing = required.filter((name) => !Object.hasOwn(value, name)).map(quoteName)
    if (missing.length > 0)
      this.problems.push({
        path,
        message: `missing ${missing.length === 1 ? 'property' : 'properties'} ${missing.join(', ')}`,
      })
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name))
    if (this.options.strict && unknown.length > 0) {
      this.problems.push({
        path,
        message: `additional properties ${unknown.map(quoteName).join(', ')} not allowed`,
      })
    }
    for (const [name, below] of Object.entries(value)) {
      const schema = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (schema !== undefined)
        this.check(below, schema, joinPath(path, name), required.includes(name))
    }
  }

  private resolveSchema(schema: ReducedSchema): ReducedSchema {
    return typeof schema === 'string' && schema.startsWith('#')
      ? (this.definitions[schema.slice(1)] ?? 'any')
      : schema
  }
}

type Scalar = Exclude<Extract<ReducedSchema, string>, `#${string}` | 'any'>

const INT32 = 2n ** 31n
const TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})$/
const QUANTITY = /^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$/
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const WANTED: { readonly [schema in Scalar]: readonly string[] } = {
  boolean: ['boolean'],
  byte: ['string'],
  'date-time': ['string'],
  'int-or-string': ['integer', 'string'],
  int32: ['integer'],
  integer: ['integer'],
  number: ['number'],
  quantity: ['number', 'string'],
  string: ['string'],
}

const FORMS: { readonly [schema: string]: readonly [form: RegExp, name: string] } = {
  byte: [BASE64, 'base64'],
  'date-time': [TIME, 'date-time'],
  quantity: [QUANTITY, 'quantity'],
}

function findScalarProblem(value: Json, schema: Scalar, required: boolean): string | undefined {
  const wanted = WANTED[schema]
  const type = getType(value)
  if (!wanted.includes(type) && !(type === 'integer' && wanted.includes('number')))
    return describeWrongType(value, wanted, required)
  if (schema === 'int32' && (typeof value === 'number' || typeof value === 'bigint')) {
    const whole = BigInt(value)
    return whole < -INT32 || whole >= INT32
      ? `value must be between ${-INT32} and ${INT32 - 1n}`
      : undefined
  }
  const form = FORMS[schema]
  if (form === undefined || typeof value !== 'string') return undefined
  // The server's decoder skips line breaks in base64.
  const text = schema === 'byte' ? value.replace(/[\r\n]/g, '') : value
  return form[0].test(text) ? undefined : `value is not valid ${form[1]}`
}

function describeWrongType(value: Json, wanted: readonly string[], required: boolean): string {
  const type = getType(value)
  return `got ${type === 'integer' ? 'number' : type}, want ${[...(required ? [] : ['null']), ...wanted].join(' or ')}`
}

function getType(value: Json): string {
  if (value === null) return 'null'
  if (isJsonArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function quoteName(name: string): string {
  return `'${name.replaceAll("'", "\\'")}'`
}

function joinPath(path: string, part: string): string {
  return path === '' ? part : `${path}.${part}`
}
