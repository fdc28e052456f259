/**
 * Config and messages follow the catalog's kubeconform
 * (https://github.com/kptdev/krm-functions-catalog/tree/main/contrib/functions/go/kubeconform).
 */
import {
  createFailedOutput,
  type FunctionResult,
  findAnnotation,
  getItemFile,
  type KrmFunction,
} from '@backporch/kpt/function'
import type { Json } from '@backporch/kyaml/json'
import { convertYamlToJson, findTextAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { ReducedSchemas } from './reduced-schema.ts'
import schemas134 from './schemas-1.34.json' with { type: 'json' }
import { validateValue } from './validate-value.ts'

/** Newest first: the default if the config names no version. */
const BUILT_IN: readonly ReducedSchemas[] = [schemas134 as unknown as ReducedSchemas]

const LOCAL_CONFIG = 'config.kubernetes.io/local-config'

interface ValidatorConfig {
  readonly schemas: ReducedSchemas
  readonly ignoreMissing: boolean
  readonly strict: boolean
  /** Kinds, or `apps/v1/Deployment`. */
  readonly skipped: ReadonlySet<string>
}

export const runKubeconform: KrmFunction = ({ items, config }) => {
  const read = readConfig(config)
  if (typeof read === 'string') return createFailedOutput(items, read)
  const results = items.flatMap((item) => listResults(item, read))
  return { items, results, exitCode: results.length === 0 ? 0 : 1, stderr: '' }
}

function readConfig(config: YamlMap | undefined): ValidatorConfig | string {
  const text = (key: string): string | undefined =>
    findTextAt(config, key) || findTextAt(config, 'data', key) || undefined
  const flag = (key: string): boolean => /^(true|1)$/i.test(text(key) ?? '')
  const elsewhere = ['schema_location', 'additional_schema_locations'].find(
    (key) => text(key) !== undefined,
  )
  if (elsewhere !== undefined) {
    return `${elsewhere} is set, and this kubeconform reads only the built-in schemas: remove it, or name the kinds without a schema in skip_kinds`
  }
  const wanted = text('kubernetes_version')
  const schemas = BUILT_IN.find(
    ({ kubernetesVersion }) =>
      wanted === undefined || getMinorVersion(kubernetesVersion) === getMinorVersion(wanted),
  )
  if (schemas === undefined) {
    const known = BUILT_IN.map(({ kubernetesVersion }) => getMinorVersion(kubernetesVersion)).join(
      ', ',
    )
    return `kubernetes_version is ${JSON.stringify(wanted?.slice(0, 40))}, and the schemas of these versions are built in: ${known}`
  }
  const skipped = new Set((text('skip_kinds') ?? '').split(',').map((kind) => kind.trim()))
  return { schemas, ignoreMissing: flag('ignore_missing_schemas'), strict: flag('strict'), skipped }
}

function getMinorVersion(version: string): string {
  return /^v?([0-9]+\.[0-9]+)(\.[0-9]+)?$/.exec(version)?.[1] ?? version
}

function listResults(item: YamlMap, config: ValidatorConfig): readonly FunctionResult[] {
  const [apiVersion, kind] = [findTextAt(item, 'apiVersion') ?? '', findTextAt(item, 'kind') ?? '']
  const gvk = `${apiVersion}/${kind}`
  const { schemas } = config
  if (config.skipped.has(kind) || config.skipped.has(gvk)) return []
  const name = Object.hasOwn(schemas.kinds, gvk) ? schemas.kinds[gvk] : undefined
  if (name === undefined) {
    const ignored = config.ignoreMissing || isForKpt(item, apiVersion, kind)
    return ignored
      ? []
      : [{ ...buildResultLocation(item, ''), message: `could not find schema for ${kind}` }]
  }
  const value = findJsonValue(item)
  if (value === undefined)
    return [
      { ...buildResultLocation(item, ''), message: 'a value in it cannot be written as JSON' },
    ]
  const problems = validateValue(value, `#${name}`, schemas.definitions, config)
  return problems.map(({ path, message }) => ({ ...buildResultLocation(item, path), message }))
}

/** Such objects never reach a cluster, so no Kubernetes schema describes them. */
function isForKpt(item: YamlMap, apiVersion: string, kind: string): boolean {
  return (
    (kind === 'Kptfile' && apiVersion.startsWith('kpt.dev/')) ||
    findAnnotation(item, LOCAL_CONFIG) === 'true'
  )
}

function findJsonValue(item: YamlMap): Json | undefined {
  try {
    return convertYamlToJson(item)
  } catch {
    return undefined
  }
}

function buildResultLocation(item: YamlMap, path: string): Omit<FunctionResult, 'message'> {
  const [apiVersion, kind] = [findTextAt(item, 'apiVersion'), findTextAt(item, 'kind')]
  const [name, namespace] = [
    findTextAt(item, 'metadata', 'name'),
    findTextAt(item, 'metadata', 'namespace'),
  ]
  const { path: filePath, index } = getItemFile(item)
  return {
    severity: 'error',
    resourceRef: {
      ...createOptionalField('apiVersion', apiVersion),
      ...createOptionalField('kind', kind),
      ...createOptionalField('name', name),
      ...createOptionalField('namespace', namespace),
    },
    ...(path === '' ? {} : { field: { path } }),
    ...(filePath === ''
      ? {}
      : {
          file: { path: filePath, ...(/^[0-9]{1,9}$/.test(index) ? { index: Number(index) } : {}) },
        }),
  }
}

function createOptionalField<K extends string>(
  key: K,
  value: string | undefined,
): { readonly [key in K]?: string } {
  return value ? ({ [key]: value } as { readonly [key in K]: string }) : {}
}
