/** The config of `set-annotations`: the data of a ConfigMap, or a SetAnnotations. */

import type { FieldSpec } from '../../src/render/kpt/field-spec.ts'
import type { Json } from '../../src/text/json.ts'
import { isNull, itemsAt, jsonOf, keyOf, mapAt, nodeAt, resolved, textAt, type YamlMap, type YamlNode } from '../../src/yaml/yaml-node.ts'

export interface AnnotationConfig {
  readonly annotations: ReadonlyMap<string, string>
  /** Additional fields, before the usual ones. */
  readonly fields: readonly FieldSpec[]
}

const OWN_KINDS = new Set(['SetAnnotations', 'SetAnnotationConfig'])

export function readAnnotationConfig(config: YamlMap | undefined): AnnotationConfig | { readonly problem: string } {
  const [apiVersion, kind] = [textAt(config, 'apiVersion'), textAt(config, 'kind') ?? '']
  const read =
    config !== undefined && apiVersion === 'v1' && kind === 'ConfigMap'
      ? { annotations: textsOf(mapAt(config, 'data')), fields: [] }
      : config !== undefined && apiVersion === 'fn.kpt.dev/v1alpha1' && OWN_KINDS.has(kind)
        ? readOwn(config)
        : { problem: '`functionConfig` must be a `ConfigMap` or `SetAnnotations`' }
  if ('problem' in read) return read
  return read.annotations.size === 0 ? { problem: 'input annotation list cannot be empty' } : read
}

/** What the values say without quotes. */
function textsOf(map: YamlMap | undefined): ReadonlyMap<string, string> {
  return new Map(map?.entries.map(({ key }) => [keyOf(key), textAt(map, keyOf(key)) ?? '']))
}

function readOwn(config: YamlMap): AnnotationConfig | { readonly problem: string } {
  const given = nodeAt(config, 'annotations')
  const annotations = new Map<string, string>()
  if (given !== undefined && !isNull(given)) {
    if (given.kind !== 'map') return { problem: 'failed to unmarshal config: annotations must be a map of texts' }
    for (const { key, value } of given.entries) {
      const text = asText(value)
      if (text === undefined) return { problem: `failed to unmarshal config: annotations.${keyOf(key)} must be a text` }
      annotations.set(keyOf(key), text)
    }
  }
  const [additional, older] = ['additionalAnnotationFields', 'fieldSpecs'].map((name) => readFields(config, name))
  if (typeof additional === 'string') return { problem: additional }
  if (typeof older === 'string') return { problem: older }
  if (additional !== undefined && older !== undefined)
    return { problem: '`fieldSpecs` has been deprecated, please rename it to `additionalAnnotationFields`' }
  return { annotations, fields: additional ?? older ?? [] }
}

/** A number or a boolean becomes a text, as in sigs.k8s.io/yaml. */
function asText(node: YamlNode): string | undefined {
  const value = scalarValue(resolved(node))
  if (value === null) return ''
  return value === undefined || typeof value === 'object' ? undefined : String(value)
}

function scalarValue(node: YamlNode): Json | undefined {
  try {
    return node.kind === 'scalar' ? jsonOf(node) : undefined
  } catch {
    return undefined
  }
}

function readFields(config: YamlMap, name: string): readonly FieldSpec[] | string | undefined {
  const list = nodeAt(config, name)
  if (list === undefined || isNull(list)) return undefined
  if (list.kind !== 'list') return `failed to unmarshal config: ${name} must be a list`
  const fields: FieldSpec[] = []
  for (const each of itemsAt(config, name)) {
    const item = resolved(each)
    const create = nodeAt(item, 'create')
    const flag = create === undefined ? false : scalarValue(create)
    if (item.kind !== 'map' || typeof flag !== 'boolean') return `failed to unmarshal config: ${name} has an item that is no place`
    const text = (field: string): string => textAt(item, field) ?? ''
    fields.push({ group: text('group'), version: text('version'), kind: text('kind'), path: text('path'), create: flag })
  }
  return fields
}
