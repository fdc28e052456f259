import type { FieldSpec } from '@backporch/kpt/field'
import {
  findNodeAt,
  findTextAt,
  isNull,
  listItemsAt,
  mapAt,
  resolveAlias,
  type YamlMap,
} from '@backporch/kyaml/yaml'

export interface NameConfig {
  readonly substring: string
  readonly mode: 'prepend' | 'append'
  readonly fields: readonly FieldSpec[]
}

type Read = NameConfig | { readonly problem: string }

export function readNameConfig(config: YamlMap | undefined): Read {
  const apiVersion = findTextAt(config, 'apiVersion') ?? ''
  const kind = findTextAt(config, 'kind') || undefined
  if (config === undefined || kind === undefined)
    return { problem: 'the config is missing, or has no kind' }
  if (!findTextAt(config, 'metadata', 'name') && !kind.endsWith('List'))
    return { problem: `missing metadata.name in the ${kind}` }
  if (apiVersion === 'v1' && kind === 'ConfigMap') return readData(config)
  if (apiVersion === 'fn.kpt.dev/v1alpha1' && kind === 'EnsureNameSubstring') return readOwn(config)
  return {
    problem: `function config must be either /v1, Kind=ConfigMap or fn.kpt.dev/v1alpha1, Kind=EnsureNameSubstring, but we got: ${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`,
  }
}

function readData(config: YamlMap): Read {
  const entries = mapAt(config, 'data')?.entries ?? []
  const [only] = entries
  if (only === undefined || entries.length > 1)
    return { problem: `only 1 entry is allowed in the ConfigMap, but got: ${entries.length}` }
  const mode = only.key.kind === 'scalar' ? only.key.value : ''
  if (mode !== 'prepend' && mode !== 'append')
    return { problem: `unknown editMode: ${mode}, only prepend and append are allowed` }
  return checkNameConfig({ substring: findTextAt(config, 'data', mode) ?? '', mode, fields: [] })
}

function readOwn(config: YamlMap): Read {
  const mode = findTextAt(config, 'editMode') || undefined
  const [additional, older] = ['additionalNameFields', 'fieldSpecs'].map((field) =>
    readFields(config, field),
  )
  if (typeof additional === 'string') return { problem: additional }
  if (typeof older === 'string') return { problem: older }
  // The original accepts any other mode and then renames nothing.
  if (mode !== undefined && mode !== 'prepend' && mode !== 'append')
    return { problem: `unknown editMode: ${mode}, only prepend and append are allowed` }
  if (additional !== undefined && older !== undefined)
    return {
      problem: '`fieldSpecs` has been deprecated, please rename it to `additionalNameFields`',
    }
  return checkNameConfig({
    substring: findTextAt(config, 'substring') ?? '',
    mode: mode ?? 'prepend',
    fields: additional ?? older ?? [],
  })
}

function checkNameConfig(config: NameConfig): Read {
  return config.substring === '' ? { problem: 'substring must not be empty' } : config
}

function readFields(config: YamlMap, name: string): readonly FieldSpec[] | string | undefined {
  const list = findNodeAt(config, name)
  if (list === undefined || isNull(list)) return undefined
  if (list.kind !== 'list') return `${name} must be a list`
  const fields: FieldSpec[] = []
  for (const each of listItemsAt(config, name)) {
    const item = resolveAlias(each)
    const create = findTextAt(item, 'create') ?? 'false'
    if (item.kind !== 'map' || !/^(true|false)$/.test(create))
      return `${name} has an item that is no place`
    const text = (field: string): string => findTextAt(item, field) ?? ''
    fields.push({
      group: text('group'),
      version: text('version'),
      kind: text('kind'),
      path: text('path'),
      create: create === 'true',
    })
  }
  return fields
}
