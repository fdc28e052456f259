/**
 * v0.1, kustomize's label transformer (kptdev/krm-functions-catalog `functions/go/set-labels` at
 * `v0.1.5`).
 */
import { type FieldSpec, visitField } from '@backporch/kpt/field'
import { createFailedOutput, createSuccess, type KrmFunction } from '@backporch/kpt/function'
import { createYamlText, isNull, setEntry, type YamlMap } from '@backporch/kyaml/yaml'
import { findDuplicate } from '../../src/sources/kustomize/files/kustomize-resources.ts'
import { convertThroughJson } from '../../src/sources/kustomize/files/through-json.ts'
import { readTransformerConfig } from '../../src/sources/kustomize/files/transformer-config.ts'
import { KUSTOMIZE_LABEL_FIELDS } from './kustomize-label-fields.ts'

const NAMES = {
  kinds: ['SetLabels', 'SetLabelConfig'],
  values: 'labels',
  fields: 'additionalLabelFields',
  otherKind: '`functionConfig` must be either a `ConfigMap` or `SetLabels`',
  noValues: 'input label list cannot be empty',
}

/** v0.1. Every object is new because it went through JSON. Includes local objects. */
export const setLabelsOfKustomize: KrmFunction = ({ items, config }) => {
  const read = readTransformerConfig(config, NAMES)
  if ('problem' in read)
    return createFailedOutput(items, `failed to configure function: ${read.problem}`)
  const objects = items.filter(({ entries }) => entries.length > 0)
  const bad = findDuplicate(objects)
  if (bad !== undefined) return createFailedOutput(items, `failed to run function: ${bad}`)
  const names = [...read.values.keys()].sort()
  const fields = [...read.fields, ...KUSTOMIZE_LABEL_FIELDS]
  const labelled: YamlMap[] = []
  for (const item of objects) {
    const copy = convertThroughJson(item)
    const problem =
      typeof copy === 'string'
        ? copy
        : names
            .map((name) => label(copy.object, fields, name, read.values.get(name) ?? ''))
            .find((each) => each !== undefined)
    if (problem !== undefined)
      return createFailedOutput(
        items,
        `failed to run function: failed to run transformer: ${problem}`,
      )
    if (typeof copy !== 'string')
      labelled.push({ ...convertThroughJsonAgain(copy.object), writes: item.writes })
  }
  return createSuccess(labelled)
}

export function label(
  item: YamlMap,
  fields: readonly FieldSpec[],
  name: string,
  value: string,
): string | undefined {
  for (const field of fields) {
    const problem = visitField(item, field, 'map', (node, path) => {
      if (isNull(node)) return undefined
      if (node.kind !== 'map')
        return `wrong Node Kind for ${path.join('.')} expected: MappingNode was ${node.kind === 'list' ? 'SequenceNode' : 'ScalarNode'}`
      setEntry(node, name, createYamlText(value))
      return undefined
    })
    if (problem !== undefined) return problem
  }
  return undefined
}

function convertThroughJsonAgain(object: YamlMap): YamlMap {
  const again = convertThroughJson(object)
  return typeof again === 'string' ? object : again.object
}
