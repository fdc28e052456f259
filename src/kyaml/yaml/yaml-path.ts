import { createFieldStep, type FieldPath, indexOfStep, type PathStep } from '../krm/field-path.ts'
import {
  convertYamlToJson,
  findEntry,
  getYamlKey,
  resolveAlias,
  type YamlEntry,
  type YamlNode,
} from './yaml-node.ts'

interface FoundNode {
  readonly node: YamlNode
  readonly entry: YamlEntry | undefined
}

interface NearestNode extends FoundNode {
  readonly steps: number
}

/** Follows aliases, except at the path's end. */
export function findNearestNode(root: YamlNode, path: FieldPath): NearestNode {
  let found: FoundNode = { node: root, entry: undefined }
  for (const [steps, step] of path.entries()) {
    const next = stepInto(found.node, step)
    if (next === undefined) return { ...found, steps }
    found = next
  }
  return { ...found, steps: path.length }
}

export function findNodeAtPath(root: YamlNode, path: FieldPath): FoundNode | undefined {
  const found = findNearestNode(root, path)
  return found.steps === path.length ? found : undefined
}

function stepInto(node: YamlNode, step: PathStep): FoundNode | undefined {
  const target = resolveAlias(node)
  if (step.kind === 'field') {
    const entry = target.kind === 'map' ? findEntry(target, step.name) : undefined
    return entry === undefined ? undefined : { node: entry.value, entry }
  }
  if (target.kind !== 'list') return undefined
  const item = target.items[indexOfStep(convertYamlToJson(target), step)]
  return item === undefined ? undefined : { node: item, entry: undefined }
}

/** With indexes for list items; does not enter aliases. */
export function findPathTo(
  root: YamlNode,
  wanted: (node: YamlNode) => boolean,
): FieldPath | undefined {
  if (wanted(root)) return []
  if (root.kind === 'map') {
    for (const { key, value } of root.entries) {
      const below = findPathTo(value, wanted)
      if (below !== undefined) return [createFieldStep(getYamlKey(key)), ...below]
    }
  } else if (root.kind === 'list') {
    for (const [index, item] of root.items.entries()) {
      const below = findPathTo(item, wanted)
      if (below !== undefined) return [{ kind: 'index', index }, ...below]
    }
  }
  return undefined
}
