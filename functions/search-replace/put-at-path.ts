/** kyaml `yaml/fns.go`, `LookupCreate` and `FieldSetter` */
import { Failure } from '@backporch/kyaml/failure'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  convertYamlToJson,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  findEntry,
  isNull,
  resolveAlias,
  setEntry,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

/**
 * In 0.21 a new value is text, and an index makes a list; the change came in a version between the
 * two.
 */
export type Kyaml = '0.10' | '0.21'

/**
 * The value takes the quotes of the replaced value. A number before the last part is an index, `-`
 * the last item. Nothing is put below a null or a missing item.
 * @returns the obstacle in kyaml's words, without its value
 */
export function putAtPath(
  object: YamlMap,
  path: readonly string[],
  value: string,
  kyaml: Kyaml,
): string | undefined {
  let at: YamlNode = object
  const above = path
    .slice(0, -1)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  for (const [index, part] of above.entries()) {
    const isAboveIndex =
      kyaml !== '0.10' && isIndex(above[index + 1] ?? '') && !isNegative(above[index + 1] ?? '')
    const next = stepTo(at, part, isAboveIndex ? createYamlList() : createYamlMap())
    if (next === undefined || typeof next === 'string') return next
    at = next
  }
  if (isNull(at)) return undefined
  if (at.kind !== 'map') return describeWrongKind('MappingNode', at)
  const name = path.at(-1) ?? ''
  const entry = findEntry(at, name)
  const created = createYamlPlain(value)
  if (entry === undefined) {
    if (kyaml !== '0.10' && !readsAsText(value)) created.style = 'double'
    setEntry(at, name, created)
    return undefined
  }
  if (entry.value.kind === 'scalar') created.style = entry.value.style
  // The comments are lost here; the comparison of result and input restores them, as in kpt.
  entry.value = created
  return undefined
}

/** Undefined if there is no node, a text if the path cannot continue. */
function stepTo(node: YamlNode, part: string, created: YamlNode): YamlNode | string | undefined {
  if (isNull(node)) return undefined
  if (isIndex(part) || part === '-') {
    if (isNegative(part)) return `array index ${Number(part)} cannot be negative`
    if (node.kind !== 'list') return describeWrongKind('SequenceNode', node)
    const item = part === '-' ? node.items.at(-1) : node.items[Number(part)]
    return item && resolveAlias(item)
  }
  if (node.kind !== 'map') return describeWrongKind('MappingNode', node)
  const entry = findEntry(node, part)
  if (entry !== undefined) return resolveAlias(entry.value)
  setEntry(node, part, created)
  return created
}

function isIndex(part: string): boolean {
  return /^[+-]?[0-9]+$/.test(part)
}

function isNegative(part: string): boolean {
  return /^-0*[1-9]/.test(part)
}

const KINDS = {
  map: 'MappingNode',
  list: 'SequenceNode',
  scalar: 'ScalarNode',
  alias: 'AliasNode',
} as const

function describeWrongKind(expected: string, node: YamlNode): string {
  return `wrong node kind: expected ${expected} but got ${KINDS[node.kind]}`
}

/** kyaml `yaml/compatibility.go`, `IsValueNonString`: invalid YAML is text. */
function readsAsText(value: string): boolean {
  try {
    const [node] = readYamlNodes(value, 'put-value')
    return (
      value.includes('\n') ||
      (node?.kind === 'scalar' && typeof convertYamlToJson(node) === 'string')
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return true
    // A number that JSON cannot represent.
    if (thrown instanceof TypeError) return false
    throw thrown
  }
}
