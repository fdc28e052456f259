import { getSdkKind, getTextOrEmpty, isOfKind, readText } from '@backporch/kpt/field'
import { type FunctionResult, INDEX, PATH } from '@backporch/kpt/function'
import {
  createYamlMap,
  findNodeAt,
  isNull,
  mapAt,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

export interface NamespaceConfig {
  readonly namespace: string
  /** Undefined: replace all. */
  readonly matcher: string | undefined
}

/** kpt writes it into a package. */
const PACKAGE_CONTEXT = 'kptfile.kpt.dev'
const OWN_KIND = 'SetNamespace.v1alpha1.fn.kpt.dev'

interface BadConfig {
  readonly problem: FunctionResult
  readonly isOfTypes: boolean
}

/** Like v0.4.6. */
export function readNamespaceConfig(config: YamlMap | undefined): NamespaceConfig | BadConfig {
  if (config === undefined || config.entries.length === 0)
    return createBadConfig(
      config,
      `FunctionConfig is missing. Expect \`ConfigMap.v1\` or \`${OWN_KIND}\``,
    )
  const kind = getSdkKind(config)
  if (isOfKind(kind, { version: 'v1', kind: 'ConfigMap' })) {
    if (!hasTypes(config, [], ['data']))
      return createBadConfig(config, 'failed to parse FunctionConfig as ConfigMap', true)
    const matcher = getTextOrEmpty(config, 'data', 'namespaceMatcher') || undefined
    const namespace = getTextOrEmpty(config, 'data', 'namespace') || undefined
    if (namespace !== undefined) return { namespace, matcher }
    const name = getTextOrEmpty(config, 'data', 'name') || undefined
    if (name !== undefined && getTextOrEmpty(config, 'metadata', 'name') === PACKAGE_CONTEXT)
      return { namespace: name, matcher }
    return createBadConfig(config, '`data.namespace` should not be empty')
  }
  if (isOfKind(kind, { group: 'fn.kpt.dev', version: 'v1alpha1', kind: 'SetNamespace' })) {
    if (!hasTypes(config, ['namespace', 'namespaceMatcher'], []))
      return createBadConfig(
        config,
        'failed to parse FunctionConfig as fn.kpt.dev.v1alpha1.SetNamespace',
        true,
      )
    const namespace = getTextOrEmpty(config, 'namespace') || undefined
    if (namespace === undefined) return createBadConfig(config, '`namespace` should not be empty')
    return { namespace, matcher: getTextOrEmpty(config, 'namespaceMatcher') || undefined }
  }
  const [own, apiVersion] = [getTextOrEmpty(config, 'kind'), getTextOrEmpty(config, 'apiVersion')]
  return createBadConfig(
    config,
    `unknown functionConfig Kind=${own} ApiVersion=${apiVersion}, expect \`ConfigMap.v1\` or \`${OWN_KIND}\``,
  )
}

function hasTypes(config: YamlMap, texts: readonly string[], maps: readonly string[]): boolean {
  const metadata = mapAt(config, 'metadata')
  if (metadata === undefined && !isNothing(config, 'metadata')) return false
  return (
    texts.every((field) => isTextOrNothing(config, field)) &&
    maps.every((field) => hasOnlyTexts(config, field)) &&
    (metadata === undefined ||
      (['name', 'namespace'].every((field) => isTextOrNothing(metadata, field)) &&
        ['labels', 'annotations'].every((field) => hasOnlyTexts(metadata, field))))
  )
}

function isNothing(from: YamlMap, field: string): boolean {
  const node = findNodeAt(from, field)
  return node === undefined || isNull(node)
}

function isTextOrNothing(from: YamlMap, field: string): boolean {
  return isNothing(from, field) || readText(from, [field]).is === 'text'
}

function hasOnlyTexts(config: YamlMap, field: string): boolean {
  if (isNothing(config, field)) return true
  const map = mapAt(config, field)
  const isText = (key: YamlNode): boolean =>
    readText(createYamlMap([['key', key]]), ['key']).is === 'text'
  return (
    map?.entries.every(
      ({ key }) => key.kind === 'scalar' && isText(key) && isTextOrNothing(map, key.value),
    ) ?? false
  )
}

function createBadConfig(
  config: YamlMap | undefined,
  message: string,
  isOfTypes = false,
): BadConfig {
  if (config === undefined)
    return {
      problem: { message, severity: 'error', resourceRef: {}, file: { path: '', index: -1 } },
      isOfTypes,
    }
  const annotation = (name: string): string =>
    getTextOrEmpty(config, 'metadata', 'annotations', name)
  const given = {
    apiVersion: getTextOrEmpty(config, 'apiVersion'),
    kind: getTextOrEmpty(config, 'kind'),
    name: getTextOrEmpty(config, 'metadata', 'name'),
    namespace: getTextOrEmpty(config, 'metadata', 'namespace'),
  }
  const resourceRef = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const file = { path: annotation(PATH), index: findIndex(annotation(INDEX)) }
  return { problem: { message, severity: 'error', resourceRef, file }, isOfTypes }
}

/** As in Go: -1 for none, 0 for a text that is not a number. */
function findIndex(index: string): number {
  if (index === '') return -1
  return /^[+-]?\d{1,9}$/.test(index) ? Number(index) : 0
}

interface BadOldConfig {
  readonly problem: FunctionResult
  readonly isFatal: boolean
}

/** Like the releases up to v0.4.1; only v0.3 uses a matcher. */
export function readOldConfig(config: YamlMap | undefined): NamespaceConfig | BadOldConfig {
  const bad = (message: string, isFatal = false): BadOldConfig => ({
    ...createBadConfig(config, message),
    isFatal,
  })
  if (config === undefined || config.entries.length === 0)
    return bad('FunctionConfig is missing. Expect `ConfigMap` or `SetNamespace`', true)
  const [apiVersion, kind] = [getTextOrEmpty(config, 'apiVersion'), getTextOrEmpty(config, 'kind')]
  const isConfigMap = apiVersion === 'v1' && kind === 'ConfigMap'
  if (!isConfigMap && (apiVersion !== 'fn.kpt.dev/v1alpha1' || kind !== 'SetNamespace'))
    return bad(
      `unknown functionConfig Kind=${kind} ApiVersion=${apiVersion}, expect \`SetNamespace\` or \`ConfigMap\``,
    )
  const isContext = isConfigMap && getTextOrEmpty(config, 'metadata', 'name') === PACKAGE_CONTEXT
  const first = isConfigMap ? ['data', 'namespace'] : ['namespace']
  const path = isContext && getTextOrEmpty(config, ...first) === '' ? ['data', 'name'] : first
  const read = [first, path].map((each) => readText(config, each))
  const [, given] = read
  if (read.some(({ is }) => is === 'other'))
    return bad(`SubObject has unmatched field type: \`${path.join('/')}`, true)
  if (given?.is !== 'text' || given.text === '')
    return bad(`\`${path.join('.')}\` should not be empty`)
  const matcher = getTextOrEmpty(config, 'data', 'namespaceMatcher') || undefined
  return { namespace: given.text, matcher }
}
