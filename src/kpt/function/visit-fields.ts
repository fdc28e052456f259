/** krm-functions-catalog, `walk.go` of the setter functions and search-replace. */
import type { FieldPath, PathStep } from '@backporch/kyaml/field'
import {
  findTextAt,
  getYamlKey,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

export interface FieldLocation {
  /** As those functions print it: `.spec.containers[0].image`. A dot within a key is ambiguous. */
  readonly text: string
  /** Unambiguous. */
  readonly steps: FieldPath
}

/** May change their argument, and return the problem that ends the walk. */
interface FieldVisitor {
  /** Before the map's values. The location is that of the value. */
  readonly entry?: (entry: YamlEntry, location: FieldLocation) => string | undefined
  readonly scalar: (scalar: YamlScalar, location: FieldLocation) => string | undefined
}

/**
 * In text order. As in kyaml, aliases are not followed, and for a duplicate key the first entry is
 * visited twice (`yaml/rnode.go`, `VisitFields`).
 * @returns the first problem
 */
export function visitFields(object: YamlMap, visitor: FieldVisitor): string | undefined {
  return visit(object, { text: '', steps: [] }, visitor)
}

export function formatLocation(location: FieldLocation): string {
  return location.text.replace(/^\./, '')
}

function visit(node: YamlNode, location: FieldLocation, visitor: FieldVisitor): string | undefined {
  if (node.kind === 'scalar') return visitor.scalar(node, location)
  if (node.kind === 'list') {
    for (const [index, item] of node.items.entries()) {
      const problem = visit(
        item,
        appendStep(location, `[${index}]`, createItemStep(item, index)),
        visitor,
      )
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (node.kind === 'alias') return undefined
  const first = new Map<string, YamlEntry>()
  for (const entry of node.entries)
    if (!first.has(getYamlKey(entry.key))) first.set(getYamlKey(entry.key), entry)
  const visited = node.entries.map(({ key }) => getYamlKey(key))
  for (const name of visited) {
    const entry = first.get(name)
    const problem = entry && visitor.entry?.(entry, appendField(location, name))
    if (problem !== undefined) return problem
  }
  for (const name of visited) {
    const entry = first.get(name)
    const problem = entry && visit(entry.value, appendField(location, name), visitor)
    if (problem !== undefined) return problem
  }
  return undefined
}

function appendField(location: FieldLocation, name: string): FieldLocation {
  return appendStep(location, `.${name}`, { kind: 'field', name })
}

function appendStep(location: FieldLocation, text: string, step: PathStep): FieldLocation {
  return { text: location.text + text, steps: [...location.steps, step] }
}

/** `env[name=PASSWORD].value` says more than `env[0].value`. */
function createItemStep(item: YamlNode, index: number): PathStep {
  const name = findTextAt(item, 'name')
  return name === undefined ? { kind: 'index', index } : { kind: 'item', keys: { name } }
}
