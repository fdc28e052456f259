/**
 * kptdev/krm-functions-catalog `functions/go/set-annotations`, based on kustomize
 * `api/filters/annotations`
 */
import { type FieldSpec, isOtherToYaml11, visitField } from '@backporch/kpt/field'
import { createFailedOutput, createSuccess, type KrmFunction } from '@backporch/kpt/function'
import {
  createYamlPlain,
  createYamlText,
  findEntry,
  isNull,
  type YamlMap,
  type YamlScalar,
} from '@backporch/kyaml/yaml'
import { findDuplicate } from '../../src/sources/kustomize/files/kustomize-resources.ts'
import { readTransformerConfig } from '../../src/sources/kustomize/files/transformer-config.ts'

const IN_POD_TEMPLATE = { path: 'spec/template/metadata/annotations', create: true }

/** kustomize `api/internal/konfig/builtinpluginconsts/commonannotations.go`. */
const ANNOTATION_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/annotations', create: true },
  { ...IN_POD_TEMPLATE, version: 'v1', kind: 'ReplicationController' },
  { ...IN_POD_TEMPLATE, kind: 'Deployment' },
  { ...IN_POD_TEMPLATE, kind: 'ReplicaSet' },
  { ...IN_POD_TEMPLATE, kind: 'DaemonSet' },
  { ...IN_POD_TEMPLATE, kind: 'StatefulSet' },
  { ...IN_POD_TEMPLATE, group: 'batch', kind: 'Job' },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate/metadata/annotations', create: true },
  {
    group: 'batch',
    kind: 'CronJob',
    path: 'spec/jobTemplate/spec/template/metadata/annotations',
    create: true,
  },
]

const NAMES = {
  kinds: ['SetAnnotations', 'SetAnnotationConfig'],
  values: 'annotations',
  fields: 'additionalAnnotationFields',
  otherKind: '`functionConfig` must be a `ConfigMap` or `SetAnnotations`',
  noValues: 'input annotation list cannot be empty',
}

/** v0.1.4. Includes local objects, and objects without kind and name. */
export const setAnnotations: KrmFunction = ({ items, config }) => {
  const read = readTransformerConfig(config, NAMES)
  if ('problem' in read)
    return createFailedOutput(items, `failed to configure function: ${read.problem}`)
  const objects = items.filter(({ entries }) => entries.length > 0)
  const bad = findDuplicate(objects)
  if (bad !== undefined) return createFailedOutput(items, `failed to run function: ${bad}`)
  const names = [...read.values.keys()].sort()
  const fields = [...read.fields, ...ANNOTATION_FIELDS]
  for (const item of objects)
    for (const name of names) {
      const problem = annotate(item, fields, name, read.values.get(name) ?? '')
      if (problem !== undefined)
        return createFailedOutput(
          items,
          `failed to run function: failed to run transformer: ${problem}`,
        )
    }
  return createSuccess(objects)
}

function annotate(
  item: YamlMap,
  fields: readonly FieldSpec[],
  name: string,
  value: string,
): string | undefined {
  const setter = new SharedSetter(name, value)
  for (const field of fields) {
    const problem = visitField(item, field, 'map', (node, path) => {
      if (isNull(node)) return undefined
      if (node.kind !== 'map')
        return `wrong Node Kind for ${path.join('.')} expected: MappingNode was ${goKind(node.kind)}`
      setter.set(node)
      return undefined
    })
    if (problem !== undefined) return problem
  }
  return undefined
}

function goKind(kind: 'scalar' | 'list' | 'alias'): string {
  return kind === 'list' ? 'SequenceNode' : kind === 'scalar' ? 'ScalarNode' : 'AliasNode'
}

/**
 * The original adds one node to every map without the annotation and takes over the quotes of
 * replaced values, so all added values get the quotes of the last replaced value.
 */
class SharedSetter {
  private readonly name: string
  private readonly value: string
  private readonly added: YamlScalar[] = []
  private style: YamlScalar['style'] = 'plain'

  constructor(name: string, value: string) {
    this.name = name
    this.value = value
  }

  set(map: YamlMap): void {
    if (this.style === 'plain' && isOtherToYaml11(this.value)) this.style = 'double'
    const entry = findEntry(map, this.name)
    if (entry === undefined) {
      const value = createYamlText(this.value)
      this.added.push(value)
      map.entries.push({ key: createYamlPlain(this.name), value })
    } else {
      const own = entry.value
      this.style = own.kind === 'scalar' ? own.style : 'plain'
      if (own.kind === 'scalar') Object.assign(own, { tag: '!!str', value: this.value })
      else
        entry.value = {
          ...createYamlText(this.value),
          headComment: own.headComment,
          lineComment: own.lineComment,
          footComment: own.footComment,
        }
    }
    for (const value of this.added) value.style = this.style
  }
}
