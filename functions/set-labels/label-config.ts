/** The config of `set-labels`: the data of a ConfigMap, or the labels of a SetLabels (kpt-functions-sdk `go/fn/runnerProcessor.go`). */
import { isNull, keyOf, nodeAt, resolved, textAt, type YamlMap, type YamlNode } from '../../src/krm/yaml-node.ts'
import { readText, sdkKindOf, textOrEmpty } from '../../src/render/sdk-fields.ts'

export type LabelConfig =
  /** In the order of their names. */
  | { readonly is: 'labels'; readonly labels: readonly (readonly [string, string])[] }
  /** kpt was given no config, or none with data. */
  | { readonly is: 'absent' }
  | { readonly is: 'bad'; readonly message: string }

export function readLabelConfig(config: YamlMap | undefined): LabelConfig {
  if (config === undefined || config.entries.length === 0 || isPlaceholder(config)) return { is: 'absent' }
  const { group, kind } = sdkKindOf(config)
  if (group === '' && kind === 'ConfigMap') return readData(nodeAt(config, 'data'))
  if (group === 'fn.kpt.dev' && kind === 'SetLabels') return readOwn(config)
  const name = group === '' ? kind : `${kind}.${group}`
  return { is: 'bad', message: `unknown FunctionConfig \`${name}\`, expect \`SetLabels.fn.kpt.dev\` or \`ConfigMap.v1\`` }
}

/** What `kpt fn eval` sends where it is given no config. */
function isPlaceholder(config: YamlMap): boolean {
  if (textOrEmpty(config, 'kind') !== 'ConfigMap' || textOrEmpty(config, 'metadata', 'name') !== 'function-input') return false
  const data = nodeAt(config, 'data')
  return data?.kind === 'map' && data.entries.length === 0
}

function readData(data: YamlNode | undefined): LabelConfig {
  if (data === undefined) return { is: 'labels', labels: [] }
  if (data.kind !== 'map')
    return { is: 'bad', message: 'Resource(apiVersion=, kind=ConfigMap) has unmatched field type "map[string]string" in fieldpath .data' }
  const odd = data.entries.find(({ value }) => resolved(value).kind !== 'scalar')
  if (odd !== undefined) {
    const is = resolved(odd.value).kind === 'map' ? '!!map' : '!!seq'
    return { is: 'bad', message: `yaml: unmarshal errors:\n  cannot unmarshal ${is} into string` }
  }
  return { is: 'labels', labels: labelsOf(data) }
}

function readOwn(config: YamlMap): LabelConfig {
  const labels = nodeAt(config, 'labels')
  if (labels === undefined || isNull(labels)) return { is: 'labels', labels: [] }
  if (labels.kind !== 'map') return { is: 'bad', message: notJson(labels, readText(config, ['labels']).is === 'text', 'map[string]string') }
  for (const { key, value } of labels.entries) {
    const isText = isNull(value) || readText(labels, [keyOf(key)]).is === 'text'
    if (!isText) return { is: 'bad', message: notJson(resolved(value), false, 'string') }
  }
  return { is: 'labels', labels: labelsOf(labels) }
}

function notJson(node: YamlNode, isText: boolean, wanted: string): string {
  const scalar = isText ? 'string' : node.kind === 'scalar' && /^(true|false)$/i.test(node.value) ? 'bool' : 'number'
  const is = node.kind === 'list' ? 'array' : node.kind === 'map' ? 'object' : scalar
  return `unable to convert object to *setlabels.SetLabels with error: json: cannot unmarshal ${is} into Go struct field SetLabels.labels of type ${wanted}`
}

function labelsOf(map: YamlMap): readonly (readonly [string, string])[] {
  return map.entries
    .map(({ key }) => [keyOf(key), textAt(map, keyOf(key)) ?? ''] as const)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
}
