/**
 * Stores what validation needs from the OpenAPI v3 of the server of test/controlplane:
 *
 * node functions/kubeconform/write-schemas.ts
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../../test/controlplane/control-plane.ts'
import { startControlPlane } from '../../test/controlplane/start-control-plane.ts'
import { formatReducedSchemas, type ReducedSchema, type ReducedSchemas } from './reduced-schema.ts'

interface OpenApiNode {
  readonly $ref?: string
  readonly allOf?: readonly OpenApiNode[]
  readonly oneOf?: readonly OpenApiNode[]
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, OpenApiNode>>
  readonly required?: readonly string[]
  readonly items?: OpenApiNode
  readonly additionalProperties?: OpenApiNode | boolean
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

const WHOLE: Readonly<Record<string, ReducedSchema>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'int-or-string',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'date-time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'date-time',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'any',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': 'any',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': 'any',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': 'any',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': 'any',
  // The server writes this field, and its paths are keys.
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'any',
}

const plane = await startControlPlane()
if (plane.state === 'unavailable') throw new Error(plane.why)
try {
  const { body: version } = await plane.request<{
    readonly gitVersion: string
    readonly major: string
    readonly minor: string
  }>('GET', '/version')
  const minor = `${version.major}.${version.minor.replace(/\D/g, '')}`
  const text = formatReducedSchemas(
    reduceSchemas(version.gitVersion, await fetchDefinitions(plane.request)),
  )
  writeFileSync(new URL(`schemas-${minor}.json`, import.meta.url), text)
  process.stdout.write(`schemas-${minor}.json: ${Math.round(text.length / 1024)} KiB\n`)
} finally {
  await plane.stop()
}

interface OpenApiPaths {
  readonly [path: string]: { readonly serverRelativeURL: string }
}

/** The server becomes ready before its list is complete. */
async function fetchOpenApiPaths(request: ControlPlane['request']): Promise<OpenApiPaths> {
  for (let requested = 0; requested < 60; requested += 1) {
    const { status, body } = await request<string>('GET', '/openapi/v3')
    const { paths }: { readonly paths?: OpenApiPaths } = status === 200 ? JSON.parse(body) : {}
    if (paths?.['apis/apps/v1'] !== undefined) return paths
    await sleep(500)
  }
  throw new Error('the server did not publish its OpenAPI in 30 seconds')
}

async function fetchDefinitions(
  request: ControlPlane['request'],
): Promise<ReadonlyMap<string, OpenApiNode>> {
  const paths = await fetchOpenApiPaths(request)
  const found = new Map<string, OpenApiNode>()
  for (const path of Object.keys(paths)
    .filter((each) => /^apis?\//.test(each))
    .sort()) {
    const url = paths[path]?.serverRelativeURL ?? ''
    const { body } = await request<{
      readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiNode>> }
    }>('GET', url)
    for (const [name, node] of Object.entries(body.components?.schemas ?? {})) found.set(name, node)
  }
  return found
}

function reduceSchemas(
  kubernetesVersion: string,
  all: ReadonlyMap<string, OpenApiNode>,
): ReducedSchemas {
  const kinds: Record<string, string> = {}
  const definitions: Record<string, ReducedSchema> = {}
  const open: string[] = []
  for (const [name, node] of [...all].sort()) {
    // Definitions with several kinds (`DeleteOptions`, `WatchEvent`) are not package objects.
    const [kind, other] = node['x-kubernetes-group-version-kind'] ?? []
    if (kind === undefined || other !== undefined || node.properties?.['metadata'] === undefined)
      continue
    kinds[`${kind.group === '' ? '' : `${kind.group}/`}${kind.version}/${kind.kind}`] =
      shortenName(name)
    open.push(name)
  }
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const short = shortenName(name)
    if (Object.hasOwn(definitions, short)) continue
    const node = all.get(name)
    if (node === undefined) throw new Error(`${name} is not defined`)
    definitions[short] = reduce(name, node, (below) => open.push(below))
  }
  return { kubernetesVersion, kinds, definitions }
}

function reduce(name: string, node: OpenApiNode, refer: (name: string) => void): ReducedSchema {
  const reference = node.$ref ?? (node.allOf?.length === 1 ? node.allOf[0]?.$ref : undefined)
  if (reference !== undefined) {
    const target = reference.replace('#/components/schemas/', '')
    const whole = WHOLE[target]
    if (whole !== undefined) return whole
    refer(target)
    return `#${shortenName(target)}`
  }
  const below = (each: OpenApiNode): ReducedSchema => reduce(name, each, refer)
  if (node.enum !== undefined) return { enum: [...node.enum] }
  if (node.type === 'array' && node.items !== undefined) return { list: below(node.items) }
  if (node.properties !== undefined) {
    const fields = Object.fromEntries(
      Object.entries(node.properties).map(([key, each]) => [key, below(each)]),
    )
    return node.required === undefined
      ? { fields }
      : { fields, required: [...node.required].sort() }
  }
  if (node.type === 'object')
    return typeof node.additionalProperties === 'object'
      ? { map: below(node.additionalProperties) }
      : 'any'
  if (node.type === 'integer') return node.format === 'int32' ? 'int32' : 'integer'
  if (node.type === 'string')
    return node.format === 'byte' ? 'byte' : node.format === 'date-time' ? 'date-time' : 'string'
  if (node.type === 'boolean' || node.type === 'number') return node.type
  if (node.type === undefined && node.oneOf === undefined) return 'any'
  throw new Error(`${name} has a schema of unknown form: ${JSON.stringify(node)}`)
}

function shortenName(name: string): string {
  return name.replace(
    /^io\.k8s\.(api|apimachinery\.pkg\.apis|apimachinery\.pkg|[a-z-]+\.pkg\.apis)\./,
    '',
  )
}
