/** kpt-functions-sdk `go/fn/runnerProcessor.go` */
import { getSdkKind, getTextOrEmpty, readText } from '@backporch/kpt/field'
import {
  createYamlMap,
  findNodeAt,
  findTextAt,
  getYamlKey,
  isNull,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

type LabelConfig =
  /** Sorted by name. `isPlaceholder`: kpt's own ConfigMap; without labels it equals no config. */
  | {
      readonly is: 'labels'
      readonly labels: readonly (readonly [string, string])[]
      readonly isPlaceholder: boolean
    }
  | { readonly is: 'absent' }
  | { readonly is: 'bad'; readonly message: string }

export function readLabelConfig(config: YamlMap | undefined): LabelConfig {
  if (config === undefined || config.entries.length === 0) return { is: 'absent' }
  const isPlaceholder =
    getTextOrEmpty(config, 'kind') === 'ConfigMap' &&
    getTextOrEmpty(config, 'metadata', 'name') === 'function-input'
  const data = findNodeAt(config, 'data')
  if (isPlaceholder && data?.kind === 'map' && data.entries.length === 0) return { is: 'absent' }
  const { group, kind } = getSdkKind(config)
  if (group === '' && kind === 'ConfigMap') return readData(data, isPlaceholder)
  if (group === 'fn.kpt.dev' && kind === 'SetLabels') return readOwn(config)
  const name = group === '' ? kind : `${kind}.${group}`
  return {
    is: 'bad',
    message: `unknown FunctionConfig \`${name}\`, expect \`SetLabels.fn.kpt.dev\` or \`ConfigMap.v1\``,
  }
}

function readData(data: YamlNode | undefined, isPlaceholder: boolean): LabelConfig {
  if (data === undefined) return { is: 'labels', labels: [], isPlaceholder }
  if (data.kind !== 'map')
    return {
      is: 'bad',
      message:
        'Resource(apiVersion=, kind=ConfigMap) has unmatched field type "map[string]string" in fieldpath .data',
    }
  const odd = data.entries.find(({ value }) => resolveAlias(value).kind !== 'scalar')
  if (odd !== undefined) {
    const is = resolveAlias(odd.value).kind === 'map' ? '!!map' : '!!seq'
    return { is: 'bad', message: `yaml: unmarshal errors:\n  cannot unmarshal ${is} into string` }
  }
  return { is: 'labels', labels: listLabels(data), isPlaceholder }
}

function readOwn(config: YamlMap): LabelConfig {
  const labels = findNodeAt(config, 'labels')
  if (labels === undefined || isNull(labels))
    return { is: 'labels', labels: [], isPlaceholder: false }
  if (labels.kind !== 'map')
    return {
      is: 'bad',
      message: describeJsonMismatch(
        labels,
        readText(config, ['labels']).is === 'text',
        'map[string]string',
      ),
    }
  if (labels.entries.some(({ key }) => !isText(key)))
    return {
      is: 'bad',
      message: describeReadFailure('json: unsupported type: map[interface {}]interface {}'),
    }
  const byName = [...labels.entries].sort((left, right) =>
    getYamlKey(left.key) < getYamlKey(right.key) ? -1 : 1,
  )
  for (const { value } of byName)
    if (!isNull(value) && !isText(value))
      return { is: 'bad', message: describeJsonMismatch(resolveAlias(value), false, 'string') }
  return { is: 'labels', labels: listLabels(labels), isPlaceholder: false }
}

function isText(node: YamlNode): boolean {
  return readText(createYamlMap([['value', node]]), ['value']).is === 'text'
}

function describeReadFailure(why: string): string {
  return `unable to convert object to *setlabels.SetLabels with error: ${why}`
}

function describeJsonMismatch(node: YamlNode, isText: boolean, wanted: string): string {
  const scalar = isText
    ? 'string'
    : node.kind === 'scalar' && /^(true|false)$/i.test(node.value)
      ? 'bool'
      : 'number'
  const is = node.kind === 'list' ? 'array' : node.kind === 'map' ? 'object' : scalar
  return describeReadFailure(
    `json: cannot unmarshal ${is} into Go struct field SetLabels.labels of type ${wanted}`,
  )
}

function listLabels(map: YamlMap): readonly (readonly [string, string])[] {
  return map.entries
    .map(({ key }) => [getYamlKey(key), findTextAt(map, getYamlKey(key)) ?? ''] as const)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
}
