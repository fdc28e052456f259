/** krm-functions-catalog, `walk.go` of the setter functions and search-replace. */
import type { FieldPath, PathStep } from '@backporch/kyaml/field'
import {
  keyOf,
  textAt,
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

export function shownLocation(location: FieldLocation): string {
  return location.text.replace(/^\./, '')
}

function visit(node: YamlNode, location: FieldLocation, visitor: FieldVisitor): string | undefined {
  if (node.kind === 'scalar') return visitor.scalar(node, location)
  if (node.kind === 'list') {
    for (const [index, item] of node.items.entries()) {
      const problem = visit(item, below(location, `[${index}]`, itemStep(item, index)), visitor)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (node.kind === 'alias') return undefined
  const first = new Map<string, YamlEntry>()
  for (const entry of node.entries)
    if (!first.has(keyOf(entry.key))) first.set(keyOf(entry.key), entry)
  const visited = node.entries.map(({ key }) => keyOf(key))
  for (const name of visited) {
    const entry = first.get(name)
    const problem = entry && visitor.entry?.(entry, fieldBelow(location, name))
    if (problem !== undefined) return problem
  }
  for (const name of visited) {
    const entry = first.get(name)
    const problem = entry && visit(entry.value, fieldBelow(location, name), visitor)
    if (problem !== undefined) return problem
  }
  return undefined
}

function fieldBelow(location: FieldLocation, name: string): FieldLocation {
  return below(location, `.${name}`, { kind: 'field', name })
}

function below(location: FieldLocation, text: string, step: PathStep): FieldLocation {
  return { text: location.text + text, steps: [...location.steps, step] }
}

/** `env[name=PASSWORD].value` says more than `env[0].value`. */
function itemStep(item: YamlNode, index: number): PathStep {
  const name = textAt(item, 'name')
  return name === undefined ? { kind: 'index', index } : { kind: 'item', keys: { name } }
}
