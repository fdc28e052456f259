/**
 * krm-functions-catalog, `functions/go/set-image` v0.1.0 and v0.1.1; result and error texts are the
 * original's.
 */
import {
  type FieldSpec,
  getGroupVersionKind,
  sortInSdkOrder,
  visitField,
} from '@backporch/kpt/field'
import {
  createFailedOutput,
  createSuccess,
  type FunctionResult,
  getItemFile,
  type KrmFunction,
} from '@backporch/kpt/function'
import { findTextAt, isNull, type YamlMap } from '@backporch/kyaml/yaml'
import { convertThroughJson } from '../../src/sources/kustomize/files/through-json.ts'
import { type ImageConfig, readImageConfig } from './image-config.ts'
import { buildImageReference, createImageMatcher } from './image-name.ts'

/** v0.1.1 and later. Every object goes through JSON, even without an image. */
export const setImage: KrmFunction = ({ items, config }) => {
  const read = readImageConfig(config)
  const output = typeof read === 'string' ? read : setImages(items, read)
  if (typeof output !== 'string') return createSuccess(sortInSdkOrder(output.items), output.results)
  return {
    ...createFailedOutput(items, output),
    exitCode: config === undefined || output.endsWith(NO_EXPRESSION) ? PANIC : 1,
  }
}

/** v0.1.0: a problem changes nothing and exits with 0, unless it crashes. */
export const setImageOrNothing: KrmFunction = (input) => {
  const output = setImage(input)
  return output.exitCode === 1 ? createSuccess(sortInSdkOrder(input.items), output.results) : output
}

/** Exit code of a Go panic. */
const PANIC = 2
const NO_EXPRESSION = 'the image name is not valid in a regular expression'

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
function setImages(items: readonly YamlMap[], { image, fields }: ImageConfig): ImagesSet | string {
  const matches = createImageMatcher(image.name)
  const results: FunctionResult[] = []
  const set: YamlMap[] = []
  for (const item of items) {
    const copy = convertThroughJson(item)
    if (typeof copy === 'string') return copy
    const { object, originals } = copy
    // kustomize has no image fields for a CustomResourceDefinition.
    for (const field of getGroupVersionKind(object).kind === 'CustomResourceDefinition'
      ? []
      : [...fields.map(escapeRootPath), ...DEFAULT_FIELDS]) {
      const problem = visitField(object, field, 'scalar', (node, path) => {
        if (isNull(node)) return undefined
        if (node.kind !== 'scalar')
          return `wrong node kind: expected ScalarNode but got ${node.kind === 'map' ? 'MappingNode' : 'SequenceNode'}`
        if (matches === undefined) return NO_EXPRESSION
        if (!matches(node.value)) return undefined
        if (node.tag !== '!!str') return `the image ${node.value} is not a string`
        const reference = buildImageReference(node.value, image)
        results.push(createResult(item, path, [node.value, reference]))
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
function escapeRootPath(field: FieldSpec): FieldSpec {
  return field.path.startsWith('/') ? { ...field, path: `/${field.path}` } : field
}

function createResult(
  item: YamlMap,
  path: readonly string[],
  [currentValue, proposedValue]: readonly [string, string],
): FunctionResult {
  const { path: file, index } = getItemFile(item)
  const text = (name: string, ...keys: readonly string[]) =>
    findTextAt(item, ...keys) && { [name]: findTextAt(item, ...keys) as string }
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
