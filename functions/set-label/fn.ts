/** kptdev/krm-functions-catalog `functions/go/set-label` at `go/set-label/v0.1.2` */
import { createFailedOutput, createSuccess, type KrmFunction } from '@backporch/kpt/function'
import { copyNode, derivePlainTag, mapAt, resolveAlias, type YamlMap } from '@backporch/kyaml/yaml'
import { findDuplicate } from '../../src/sources/kustomize/files/kustomize-resources.ts'
import { readTransformerConfig } from '../../src/sources/kustomize/files/transformer-config.ts'
import { KUSTOMIZE_LABEL_FIELDS } from '../set-labels/kustomize-label-fields.ts'
import { label } from '../set-labels/kustomize-labels.ts'
import { readObjects, rewriteObject } from './unstructured.ts'

const NAMES = {
  kinds: ['SetLabelConfig'],
  values: 'labels',
  fields: 'fieldSpecs',
  otherKind: 'function config must be a ConfigMap or SetLabelConfig',
  noValues: 'input label list cannot be empty',
}

/** v0.1.2 */
export const setLabel: KrmFunction = ({ items, config }) => {
  const read = readTransformerConfig(
    config === undefined ? undefined : convertLabelsToText(config),
    NAMES,
  )
  if ('problem' in read)
    return createFailedOutput(items, `failed to configure function: ${read.problem}`)
  const names = [...read.values.keys()].sort()
  const objects: YamlMap[] = []
  for (const item of items) {
    const found = readObjects(item)
    if (typeof found === 'string')
      return createFailedOutput(items, `failed to run function: ${found}`)
    objects.push(...found)
  }
  const bad = findDuplicate(objects)
  if (bad !== undefined) return createFailedOutput(items, `failed to run function: ${bad}`)
  const fields = [...read.fields, ...KUSTOMIZE_LABEL_FIELDS]
  // The original writes a label without quotes and then reads a number or a boolean.
  const wrong = names.find((name) => derivePlainTag(name) !== '!!str')
  if (wrong !== undefined)
    return createFailedOutput(
      items,
      `failed to run function: failed to run transformer: the label ${wrong} is not a string`,
    )
  for (const object of objects)
    for (const name of names) {
      const problem = label(object, fields, name, read.values.get(name) ?? '')
      if (problem !== undefined)
        return createFailedOutput(
          items,
          `failed to run function: failed to run transformer: ${problem}`,
        )
    }
  return createSuccess(objects.map(rewriteObject))
}

/** Read as YAML 1.2 before YAML 1.1: `on` is text. */
function convertLabelsToText(config: YamlMap): YamlMap {
  const copy = copyNode(config)
  for (const { value } of mapAt(copy, 'labels')?.entries ?? []) {
    const label = resolveAlias(value)
    if (
      label.kind === 'scalar' &&
      label.tag === '' &&
      label.style === 'plain' &&
      derivePlainTag(label.value) === '!!str'
    )
      label.tag = '!!str'
  }
  return copy
}
