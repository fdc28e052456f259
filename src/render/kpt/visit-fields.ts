/** The walk over an object that the setter functions and search-replace share (krm-functions-catalog, their `walk.go`). */
import type { FieldPath, PathStep } from '../../krm/field-path.ts'
import { keyOf, textAt, type YamlEntry, type YamlMap, type YamlNode, type YamlScalar } from '../../yaml/yaml-node.ts'

export interface FieldLocation {
  /** As those functions print it, with a dot in front: `.spec.containers[0].image`. A dot within a key looks like any other. */
  readonly text: string
  /** The same place for who has to tell keys apart. */
  readonly steps: FieldPath
}

/** Both may change what they are given. What they return is the problem that ends the walk, or undefined. */
export interface FieldVisitor {
  /** Every entry of a map, before any of the map's values is walked; the place is that of the value. */
  readonly entry?: (entry: YamlEntry, location: FieldLocation) => string | undefined
  readonly scalar: (scalar: YamlScalar, location: FieldLocation) => string | undefined
}

/**
 * Visits an object in the order of its text. Aliases are not followed, and of a key that stands twice the first entry is
 * visited twice, both as kyaml has it (`yaml/rnode.go`, `VisitFields`).
 * @returns the first problem of the visitor
 */
export function visitFields(object: YamlMap, visitor: FieldVisitor): string | undefined {
  return visit(object, { text: '', steps: [] }, visitor)
}

/** The path as results have it: without the dot in front. */
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
  for (const entry of node.entries) if (!first.has(keyOf(entry.key))) first.set(keyOf(entry.key), entry)
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

/** An item that has a name goes by it: `env[name=PASSWORD].value` tells what `env[0].value` does not. */
function itemStep(item: YamlNode, index: number): PathStep {
  const name = textAt(item, 'name')
  return name === undefined ? { kind: 'index', index } : { kind: 'item', keys: { name } }
}
