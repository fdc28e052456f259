import type { FieldSpec } from '@backporch/kpt/field'
import type { Json } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  findNodeAt,
  findTextAt,
  getYamlKey,
  isNull,
  listItemsAt,
  mapAt,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

interface TransformerConfig {
  readonly values: ReadonlyMap<string, string>
  readonly fields: readonly FieldSpec[]
}

interface TransformerNames {
  readonly kinds: readonly string[]
  readonly values: string
  /** `fieldSpecs` is the older name in every function, and the only one in the oldest. */
  readonly fields: string
  readonly otherKind: string
  readonly noValues: string
}

export function readTransformerConfig(
  config: YamlMap | undefined,
  names: TransformerNames,
): TransformerConfig | { readonly problem: string } {
  const [apiVersion, kind] = [findTextAt(config, 'apiVersion'), findTextAt(config, 'kind') ?? '']
  const read =
    config !== undefined && apiVersion === 'v1' && kind === 'ConfigMap'
      ? { values: mapTexts(mapAt(config, 'data')), fields: [] }
      : config !== undefined && apiVersion === 'fn.kpt.dev/v1alpha1' && names.kinds.includes(kind)
        ? readOwn(config, names)
        : { problem: names.otherKind }
  if ('problem' in read) return read
  return read.values.size === 0 ? { problem: names.noValues } : read
}

function mapTexts(map: YamlMap | undefined): ReadonlyMap<string, string> {
  return new Map(
    map?.entries.map(({ key }) => [getYamlKey(key), findTextAt(map, getYamlKey(key)) ?? '']),
  )
}

function readOwn(
  config: YamlMap,
  names: TransformerNames,
): TransformerConfig | { readonly problem: string } {
  const given = findNodeAt(config, names.values)
  const values = new Map<string, string>()
  if (given !== undefined && !isNull(given)) {
    if (given.kind !== 'map')
      return { problem: `failed to unmarshal config: ${names.values} must be a map of texts` }
    for (const { key, value } of given.entries) {
      const text = convertNodeToText(value)
      if (text === undefined)
        return {
          problem: `failed to unmarshal config: ${names.values}.${getYamlKey(key)} must be a text`,
        }
      values.set(getYamlKey(key), text)
    }
  }
  const fields = readMoreFields(config, names.fields)
  return 'problem' in fields ? fields : { values, fields }
}

const OLDER_NAME = 'fieldSpecs'

export function readMoreFields(
  config: YamlMap,
  name: string,
): readonly FieldSpec[] | { readonly problem: string } {
  const older = readFields(config, OLDER_NAME)
  const additional = name === OLDER_NAME ? undefined : readFields(config, name)
  if (typeof additional === 'string') return { problem: additional }
  if (typeof older === 'string') return { problem: older }
  if (additional !== undefined && older !== undefined)
    return { problem: `\`fieldSpecs\` has been deprecated, please rename it to \`${name}\`` }
  return additional ?? older ?? []
}

/** As in sigs.k8s.io/yaml. */
export function convertNodeToText(node: YamlNode): string | undefined {
  const value = findScalarValue(resolveAlias(node))
  if (value === null) return ''
  return value === undefined || typeof value === 'object' ? undefined : String(value)
}

function findScalarValue(node: YamlNode): Json | undefined {
  try {
    return node.kind === 'scalar' ? convertYamlToJson(node) : undefined
  } catch {
    return undefined
  }
}

function readFields(config: YamlMap, name: string): readonly FieldSpec[] | string | undefined {
  const list = findNodeAt(config, name)
  if (list === undefined || isNull(list)) return undefined
  if (list.kind !== 'list') return `failed to unmarshal config: ${name} must be a list`
  const fields: FieldSpec[] = []
  for (const each of listItemsAt(config, name)) {
    const item = resolveAlias(each)
    const create = findNodeAt(item, 'create')
    const flag = create === undefined ? false : findScalarValue(create)
    if (item.kind !== 'map' || typeof flag !== 'boolean')
      return `failed to unmarshal config: ${name} has an item that is no place`
    const text = (field: string): string => findTextAt(item, field) ?? ''
    fields.push({
      group: text('group'),
      version: text('version'),
      kind: text('kind'),
      path: text('path'),
      create: flag,
    })
  }
  return fields
}
