/** The config of `set-namespace`: a ConfigMap, kpt's package context, or a SetNamespace. */
import { isNull, mapAt, nodeAt, type YamlMap } from '../../src/krm/yaml-node.ts'
import { fileOf } from '../../src/render/item-annotations.ts'
import type { FunctionResult } from '../../src/render/krm-function.ts'
import { isOfKind, readText, sdkKindOf, textOrEmpty } from '../../src/render/sdk-fields.ts'

export interface NamespaceConfig {
  /** The new one. */
  readonly namespace: string
  /** The only one to replace; empty for all. */
  readonly matcher: string
}

/** The ConfigMap that kpt writes into a package, with the package's name. */
const PACKAGE_CONTEXT = 'kptfile.kpt.dev'
const OWN_KIND = 'SetNamespace.v1alpha1.fn.kpt.dev'

export function readNamespaceConfig(config: YamlMap | undefined): NamespaceConfig | { readonly problem: FunctionResult } {
  if (config === undefined || config.entries.length === 0)
    return { problem: configProblem(config, `FunctionConfig is missing. Expect \`ConfigMap.v1\` or \`${OWN_KIND}\``) }
  const kind = sdkKindOf(config)
  if (isOfKind(kind, { version: 'v1', kind: 'ConfigMap' })) {
    if (!hasOnlyTexts(config, 'data')) return { problem: configProblem(config, 'failed to parse FunctionConfig as ConfigMap') }
    const matcher = textOrEmpty(config, 'data', 'namespaceMatcher')
    const namespace = textOrEmpty(config, 'data', 'namespace')
    if (namespace !== '') return { namespace, matcher }
    const name = textOrEmpty(config, 'data', 'name')
    if (name !== '' && textOrEmpty(config, 'metadata', 'name') === PACKAGE_CONTEXT) return { namespace: name, matcher }
    return { problem: configProblem(config, '`data.namespace` should not be empty') }
  }
  if (isOfKind(kind, { group: 'fn.kpt.dev', version: 'v1alpha1', kind: 'SetNamespace' })) {
    if (['namespace', 'namespaceMatcher'].some((field) => !isTextOrNothing(config, [field])))
      return { problem: configProblem(config, `failed to parse FunctionConfig as fn.kpt.dev.v1alpha1.SetNamespace`) }
    const namespace = textOrEmpty(config, 'namespace')
    if (namespace === '') return { problem: configProblem(config, '`namespace` should not be empty') }
    return { namespace, matcher: textOrEmpty(config, 'namespaceMatcher') }
  }
  const [own, apiVersion] = [textOrEmpty(config, 'kind'), textOrEmpty(config, 'apiVersion')]
  const message = `unknown functionConfig Kind=${own} ApiVersion=${apiVersion}, expect \`ConfigMap.v1\` or \`${OWN_KIND}\``
  return { problem: configProblem(config, message) }
}

function isTextOrNothing(from: YamlMap, path: readonly string[]): boolean {
  const node = nodeAt(from, ...path)
  return node === undefined || isNull(node) || readText(from, path).is === 'text'
}

/** Whether the field is not there, or a map of texts. */
function hasOnlyTexts(config: YamlMap, field: string): boolean {
  const node = nodeAt(config, field)
  if (node === undefined || isNull(node)) return true
  const map = mapAt(config, field)
  return map?.entries.every(({ key }) => key.kind === 'scalar' && isTextOrNothing(map, [key.value])) ?? false
}

function configProblem(config: YamlMap | undefined, message: string): FunctionResult {
  if (config === undefined) return { message, severity: 'error', resourceRef: {}, file: { path: '', index: -1 } }
  const { path, index } = fileOf(config)
  const given = {
    apiVersion: textOrEmpty(config, 'apiVersion'),
    kind: textOrEmpty(config, 'kind'),
    name: textOrEmpty(config, 'metadata', 'name'),
    namespace: textOrEmpty(config, 'metadata', 'namespace'),
  }
  const resourceRef = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  return { message, severity: 'error', resourceRef, file: { path, index: /^\d{1,9}$/.test(index) ? Number(index) : -1 } }
}
