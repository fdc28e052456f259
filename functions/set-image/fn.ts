/**
 * krm-functions-catalog, `functions/go/set-image` v0.1.0 and v0.1.1; result and error texts are the
 * original's.
 */
import { type FieldSpec, inSdkOrder, kindOf, visitField } from '@backporch/kpt/field'
import {
  type FunctionResult,
  failed,
  fileOf,
  type KrmFunction,
  succeeded,
} from '@backporch/kpt/function'
import { isNull, textAt, type YamlMap } from '@backporch/kyaml/yaml'
import { throughJson } from '../../src/sources/kustomize/files/through-json.ts'
import { type ImageConfig, readImageConfig } from './image-config.ts'
import { imageMatcher, newReference } from './image-name.ts'

/** v0.1.1 and later. Every object goes through JSON, even without an image. */
export const setImage: KrmFunction = ({ items, config }) => {
  const read = readImageConfig(config)
  const output = typeof read === 'string' ? read : imagesSet(items, read)
  if (typeof output !== 'string') return succeeded(inSdkOrder(output.items), output.results)
  return {
    ...failed(items, output),
    exitCode: config === undefined || output.endsWith(NO_EXPRESSION) ? PANIC : 1,
  }
}

/** v0.1.0: a problem changes nothing and exits with 0, unless it crashes. */
export const setImageOrNothing: KrmFunction = (input) => {
  const output = setImage(input)
  return output.exitCode === 1 ? succeeded(inSdkOrder(input.items), output.results) : output
}

/** Exit code of a Go panic. */
const PANIC = 2
const NO_EXPRESSION = 'the image name is no part of a regular expression'

const DEFAULT_FIELDS: readonly FieldSpec[] = [
  { path: 'spec/containers[]/image' },
  { path: 'spec/initContainers[]/image' },
  { path: 'spec/template/spec/containers[]/image' },
  { path: 'spec/template/spec/initContainers[]/image' },
]

interface ImagesSet {
  readonly items: readonly YamlMap[]
  readonly results: readonly FunctionResult[]
}

/** @returns the first problem, at which the original stops */
function imagesSet(items: readonly YamlMap[], { image, fields }: ImageConfig): ImagesSet | string {
  const matches = imageMatcher(image.name)
  const results: FunctionResult[] = []
  const set: YamlMap[] = []
  for (const item of items) {
    const copy = throughJson(item)
    if (typeof copy === 'string') return copy
    const { object, originals } = copy
    // kustomize has no image fields for a CustomResourceDefinition.
    for (const field of kindOf(object).kind === 'CustomResourceDefinition'
      ? []
      : [...fields.map(withoutRoot), ...DEFAULT_FIELDS]) {
      const problem = visitField(object, field, 'scalar', (node, path) => {
        if (isNull(node)) return undefined
        if (node.kind !== 'scalar')
          return `wrong node kind: expected ScalarNode but got ${node.kind === 'map' ? 'MappingNode' : 'SequenceNode'}`
        if (matches === undefined) return NO_EXPRESSION
        if (!matches(node.value)) return undefined
        if (node.tag !== '!!str') return `the image ${node.value} is no text`
        const reference = newReference(node.value, image)
        results.push(resultOf(item, path, [node.value, reference]))
        node.value = reference
        // For observers of a render: the function also decides about an image that is already
        // right.
        const original = originals.get(node)
        if (original !== undefined) original.value = String(original.value)
        return undefined
      })
      if (problem !== undefined) return problem
    }
    set.push(object)
  }
  return {
    items: set,
    results: results.length === 0 ? [{ message: 'no images changed', severity: 'info' }] : results,
  }
}

/** In this kustomize version a leading slash gives an empty first name, which is a problem. */
function withoutRoot(field: FieldSpec): FieldSpec {
  return field.path.startsWith('/') ? { ...field, path: `/${field.path}` } : field
}

function resultOf(
  item: YamlMap,
  path: readonly string[],
  [currentValue, proposedValue]: readonly [string, string],
): FunctionResult {
  const { path: file, index } = fileOf(item)
  const text = (name: string, ...keys: readonly string[]) =>
    textAt(item, ...keys) && { [name]: textAt(item, ...keys) as string }
  return {
    message: `set image from ${currentValue} to ${proposedValue}`,
    severity: 'info',
    resourceRef: {
      ...text('apiVersion', 'apiVersion'),
      ...text('kind', 'kind'),
      ...text('name', 'metadata', 'name'),
      ...text('namespace', 'metadata', 'namespace'),
    },
    field: { path: path.join('.'), currentValue, proposedValue },
    // Go omits an index of 0.
    ...(file === ''
      ? {}
      : { file: { path: file, ...(Number(index) > 0 ? { index: Number(index) } : {}) } }),
  }
}
