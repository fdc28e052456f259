/** Nodes by their field path, and field paths by their node. */
import { type FieldPath, field, indexOfStep, type PathStep } from '../krm/field-path.ts'
import { entryOf, jsonOf, keyOf, resolved, type YamlEntry, type YamlNode } from './yaml-node.ts'

/** A node, and its entry where it is the value of a map. */
interface FoundNode {
  readonly node: YamlNode
  readonly entry: YamlEntry | undefined
}

/** The deepest node on a path, and how many steps lead to it. */
interface NearestNode extends FoundNode {
  readonly steps: number
}

/** Follows aliases, but not at the end of the path. */
export function nearestNode(root: YamlNode, path: FieldPath): NearestNode {
  let found: FoundNode = { node: root, entry: undefined }
  for (const [steps, step] of path.entries()) {
    const next = stepInto(found.node, step)
    if (next === undefined) return { ...found, steps }
    found = next
  }
  return { ...found, steps: path.length }
}

export function nodeAtPath(root: YamlNode, path: FieldPath): FoundNode | undefined {
  const found = nearestNode(root, path)
  return found.steps === path.length ? found : undefined
}

function stepInto(node: YamlNode, step: PathStep): FoundNode | undefined {
  const target = resolved(node)
  if (step.kind === 'field') {
    const entry = target.kind === 'map' ? entryOf(target, step.name) : undefined
    return entry === undefined ? undefined : { node: entry.value, entry }
  }
  if (target.kind !== 'list') return undefined
  const item = target.items[indexOfStep(jsonOf(target), step)]
  return item === undefined ? undefined : { node: item, entry: undefined }
}

/** The path from the root to a node, with indexes for list items; undefined where the tree lacks the node. Aliases are not entered. */
export function pathTo(root: YamlNode, wanted: (node: YamlNode) => boolean): FieldPath | undefined {
  if (wanted(root)) return []
  if (root.kind === 'map') {
    for (const { key, value } of root.entries) {
      const below = pathTo(value, wanted)
      if (below !== undefined) return [field(keyOf(key)), ...below]
    }
  } else if (root.kind === 'list') {
    for (const [index, item] of root.items.entries()) {
      const below = pathTo(item, wanted)
      if (below !== undefined) return [{ kind: 'index', index }, ...below]
    }
  }
  return undefined
}
