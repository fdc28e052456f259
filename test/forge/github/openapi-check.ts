/**
 * GitHub's own OpenAPI description as a judge: every request that is sent and every answer that a test feeds is held against it.
 * The excerpt in test/corpus/github is written by cut-openapi.ts.
 */
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { USED_OPERATIONS, type UsedOperation } from './used-operations.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly $ref?: string
        readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
      }
    >
  >
}

export interface FoundOperation {
  readonly name: UsedOperation
  readonly parameters: Readonly<Record<string, string>>
}

/** What any operation may answer, whether it is described there or not: limits, moves, rights and faults. */
const ANYWHERE = new Set([301, 304, 307, 401, 403, 404, 410, 422, 429, 500, 502, 503])

let loaded:
  | { readonly description: Readonly<Record<string, unknown>>; readonly ajv: Ajv }
  | undefined
const compiled = new Map<string, ValidateFunction>()

/** The operation of a path below the API's root; the one with the most literal segments where two fit. */
export function findOperation(method: string, path: string): FoundOperation | undefined {
  const requested = path.split('/').map(decodeURIComponent)
  const fits = USED_OPERATIONS.flatMap(
    (name): (FoundOperation & { readonly literals: number })[] => {
      const [itsMethod, template = ''] = name.split(' ')
      const wanted = template.split('/')
      if (itsMethod !== method || wanted.length !== requested.length) return []
      const parameters: Record<string, string> = {}
      for (const [index, segment] of wanted.entries()) {
        const given = requested[index] ?? ''
        if (segment.startsWith('{')) parameters[segment.slice(1, -1)] = given
        else if (segment !== given) return []
      }
      return [{ name, parameters, literals: wanted.length - Object.keys(parameters).length }]
    },
  )
  return fits.sort((left, right) => right.literals - left.literals)[0]
}

/** What is wrong with a request; empty when it is one that GitHub describes. */
export function requestProblems(
  found: FoundOperation,
  query: URLSearchParams,
  body: unknown,
): string[] {
  const { parameters = [], requestBody } = operationOf(found.name)
  const known = parameters.map((parameter) =>
    '$ref' in parameter ? (resolve(parameter.$ref) as Parameter) : parameter,
  )
  const problems: string[] = []
  for (const parameter of known) {
    const given =
      parameter.in === 'query'
        ? query.get(parameter.name)
        : parameter.in === 'path'
          ? found.parameters[parameter.name]
          : undefined
    if (given === undefined || given === null) {
      if (parameter.required === true && parameter.in !== 'header')
        problems.push(`${parameter.name} is missing`)
    } else problems.push(...check(`${found.name} ${parameter.name}`, parameter.schema, given))
  }
  const names = new Set(
    known.filter(({ in: location }) => location === 'query').map(({ name }) => name),
  )
  for (const name of query.keys())
    if (!names.has(name)) problems.push(`the query has ${name}, which GitHub does not describe`)
  const schema = requestBody?.content['application/json']?.schema
  if (schema === undefined)
    return body === undefined ? problems : [...problems, 'it has a body, and takes none']
  if (body === undefined)
    return requestBody?.required === true ? [...problems, 'the body is missing'] : problems
  return [...problems, ...check(`${found.name} body`, schema, body), ...unknownKeys(schema, body)]
}

/** What is wrong with an answer. */
export function answerProblems(name: UsedOperation, status: number, body: unknown): string[] {
  const { responses } = operationOf(name)
  const described = responses[String(status)]
  if (described === undefined)
    return ANYWHERE.has(status) ? [] : [`${name} never answers ${status}`]
  const schema = schemaOf(name, status)
  // Errors have a body, described or not.
  if (schema === undefined)
    return body === undefined || status >= 400 ? [] : [`${name} answers ${status} without a body`]
  return [...check(`${name} ${status}`, schema, body), ...unknownKeys(schema, body)]
}

/** `partial` with everything that the description requires: zero, empty or null where the value does not matter. */
export function complete(name: UsedOperation, status: number, partial: unknown): unknown {
  const schema = schemaOf(name, status)
  return schema === undefined ? undefined : fill(schema, partial)
}

function schemaOf(name: UsedOperation, status: number): Schema | undefined {
  const described = operationOf(name).responses[String(status)]
  const response =
    described?.$ref === undefined ? described : (resolve(described.$ref) as typeof described)
  return response?.content?.['application/json']?.schema
}

function fill(given: Schema, partial: unknown): unknown {
  const schema = plain(given)
  if (partial === null) return null
  if (Array.isArray(partial))
    return schema.items === undefined
      ? partial
      : partial.map((item) => fill(schema.items ?? {}, item))
  if (partial !== undefined && typeof partial !== 'object') return partial
  const properties = schema.properties ?? {}
  if (partial === undefined && schema.properties === undefined) return zero(schema)
  if (partial === undefined && schema.type?.includes('null') === true) return null
  const value: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(partial ?? {}))
    value[key] = fill(properties[key] ?? {}, item)
  for (const key of schema.required ?? [])
    if (value[key] === undefined) value[key] = fill(properties[key] ?? {}, undefined)
  return value
}

/** References followed, and the parts of `allOf` put together; of alternatives the first that is an object. */
function plain(schema: Schema): Schema {
  if (schema.$ref !== undefined) return plain(resolve(schema.$ref) as Schema)
  const parts = [...(schema.allOf ?? []), ...chosen(schema.anyOf), ...chosen(schema.oneOf)].map(
    plain,
  )
  if (parts.length === 0) return schema
  const nullable = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(
    ({ type }) => type === 'null',
  )
  const all = [schema, ...parts]
  return {
    ...Object.assign({}, ...parts.toReversed(), schema),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required = [] }) => required),
    ...(nullable ? { type: ['object', 'null'] } : {}),
  }
}

function chosen(alternatives: readonly Schema[] = []): readonly Schema[] {
  const found =
    alternatives.find(({ $ref, properties }) => $ref !== undefined || properties !== undefined) ??
    alternatives[0]
  return found === undefined ? [] : [found]
}

function zero(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0]
  const types = [schema.type].flat()
  if (types.includes('null')) return null
  if (types.includes('integer') || types.includes('number')) return 0
  if (types.includes('boolean')) return false
  if (types.includes('array')) return []
  return types.includes('object') ? {} : ''
}

/** A name that GitHub does not know is a mistake of ours, though its schemas let further names be. */
function unknownKeys(schema: Schema, value: unknown): string[] {
  const alternatives =
    schema.$ref === undefined
      ? (schema.oneOf ?? [])
      : ((resolve(schema.$ref) as Schema).oneOf ?? [])
  if (
    alternatives.length > 0 &&
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value)
  ) {
    // The one that it is of has the fewest.
    return alternatives
      .map((one) => unknownKeys(one, value))
      .reduce((least, each) => (each.length < least.length ? each : least))
  }
  const { properties, items } = plain(schema)
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((item) => unknownKeys(items, item))
  if (typeof value !== 'object' || value === null || properties === undefined) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const described = properties[key]
    return described === undefined ? [`${key} is not described`] : unknownKeys(described, item)
  })
}

function check(name: string, schema: Schema, value: unknown): string[] {
  const { ajv } = load()
  const validate = compiled.get(name) ?? ajv.compile(absolute(schema) as object)
  compiled.set(name, validate)
  // A copy, because numbers in queries arrive as text and are changed in place.
  if (validate({ value: structuredClone(value) })) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${name}${instancePath.replace(/^\/value/, '')} ${message}`,
  )
}

function absolute(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"github#/')
  return { type: 'object', properties: { value: JSON.parse(text) as Schema }, required: ['value'] }
}

function operationOf(name: UsedOperation): Operation {
  const [method = '', path = ''] = name.split(' ')
  const paths = load().description['paths'] as Readonly<
    Record<string, Readonly<Record<string, Operation>>>
  >
  const operation = paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`the excerpt has no ${name}: run cut-openapi.ts`)
  return operation
}

function resolve(reference: string): unknown {
  let found: unknown = load().description
  for (const key of reference.slice(2).split('/'))
    found = (found as Readonly<Record<string, unknown>>)[key]
  return found
}

function load(): NonNullable<typeof loaded> {
  if (loaded !== undefined) return loaded
  const text = readFileSync(new URL('../../corpus/github/openapi.json', import.meta.url), 'utf8')
  const description = JSON.parse(text) as Readonly<Record<string, unknown>>
  const ajv = new Ajv({ strict: false, validateFormats: false, coerceTypes: true, allErrors: true })
  ajv.addSchema({ $id: 'github', ...description })
  loaded = { description, ajv }
  return loaded
}
