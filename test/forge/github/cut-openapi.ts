/**
 * Cuts the operations that the GitHub adapter uses out of GitHub's OpenAPI description, as the npm package `@octokit/openapi` (MIT)
 * carries it: the package is 385 MB, so it is no dependency. `nullable` becomes JSON Schema; prose and examples go.
 *
 * npm install --prefix TEMPORARY --ignore-scripts @octokit/openapi@23.0.2
 * node test/forge/github/cut-openapi.ts TEMPORARY/node_modules/@octokit/openapi/generated/api.github.com.json
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { USED_OPERATIONS } from './used-operations.ts'

type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

const target = fileURLToPath(new URL('../../corpus/github/openapi.json', import.meta.url))
const PROSE = new Set([
  'description',
  'summary',
  'example',
  'examples',
  'externalDocs',
  'title',
  'tags',
  'deprecated',
])

const source = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as { [key: string]: Value }
const cut: { [key: string]: Value } = {
  openapi: source['openapi'] ?? '',
  info: { version: at(source, ['info', 'version']) ?? '' },
  paths: {},
}
const open: string[] = []
for (const used of USED_OPERATIONS) {
  const [method = '', path = ''] = used.split(' ')
  const operation = at(source, ['paths', path, method.toLowerCase()])
  if (operation === undefined) throw new Error(`GitHub's description has no ${used}`)
  put(cut, ['paths', path, method.toLowerCase()], plain(operation))
}
for (let reference = open.pop(); reference !== undefined; reference = open.pop()) {
  const location = reference.slice(2).split('/')
  if (at(cut, location) !== undefined) continue
  const value = at(source, location)
  if (value === undefined) throw new Error(`nothing stands at ${reference}`)
  put(cut, location, plain(value))
}
writeFileSync(target, `${JSON.stringify(cut)}\n`)
console.log(
  `${USED_OPERATIONS.length} operations, ${Math.round(JSON.stringify(cut).length / 1024)} KiB`,
)

/** @param names whether the keys are names of properties, which may be called like prose */
function plain(value: Value, names = false): Value {
  if (Array.isArray(value)) return value.map((item) => plain(item))
  if (value === null || typeof value !== 'object') return value
  if (typeof value['$ref'] === 'string') open.push(value['$ref'])
  const retained: { [key: string]: Value } = {}
  for (const [key, item] of Object.entries(value)) {
    if (!names && (PROSE.has(key) || key.startsWith('x-') || key === 'nullable')) continue
    retained[key] = plain(
      item,
      !names && (key === 'properties' || key === 'responses' || key === 'headers'),
    )
  }
  const typed = names ? retained : ofTypes(retained)
  return !names && value['nullable'] === true ? nullable(typed) : typed
}

/** One of several types, without more: with the types that the check turns into one another, each of several schemas would fit. */
function ofTypes(schema: { [key: string]: Value }): { [key: string]: Value } {
  const { oneOf, ...more } = schema
  if (!Array.isArray(oneOf)) return schema
  const types = oneOf.map((one) =>
    one !== null &&
    typeof one === 'object' &&
    !Array.isArray(one) &&
    Object.keys(one).join() === 'type'
      ? one['type']
      : undefined,
  )
  return types.every((type) => typeof type === 'string') ? { ...more, type: types } : schema
}

function nullable(schema: { [key: string]: Value }): Value {
  if (schema['type'] === undefined) return { anyOf: [schema, { type: 'null' }] }
  const types = [schema['type']].flat()
  const listed = schema['enum']
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(listed) && !listed.includes(null) ? { enum: [...listed, null] } : {}),
  }
}

function at(value: Value, location: readonly string[]): Value | undefined {
  let found: Value | undefined = value
  for (const key of location)
    found =
      found !== null && typeof found === 'object' && !Array.isArray(found) ? found[key] : undefined
  return found
}

function put(into: { [key: string]: Value }, location: readonly string[], value: Value): void {
  let folder = into
  for (const key of location.slice(0, -1)) {
    const next = folder[key] ?? {}
    if (next === null || typeof next !== 'object' || Array.isArray(next))
      throw new Error(`no place at ${location.join('/')}`)
    folder[key] = next
    folder = next
  }
  folder[location.at(-1) ?? ''] = value
}
