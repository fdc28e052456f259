import { createFieldStep, type FieldPath } from '../krm/field-path.ts'
import { findEntry, getYamlKey, isMergeKey, resolveAlias, type YamlNode } from './yaml-node.ts'
import { findNodeAtPath } from './yaml-path.ts'

interface AnchorUses {
  readonly name: string
  readonly at: FieldPath
  /** For a merge key, below the map that contains it. */
  readonly aliases: readonly FieldPath[]
}

/** Undefined without an aliased anchor. Of several, the outermost one. */
export function findAnchorUses(root: YamlNode, path: FieldPath): AnchorUses | undefined {
  for (let steps = 0; steps <= path.length; steps += 1) {
    const found = findNodeAtPath(root, path.slice(0, steps))?.node
    const next = path[steps]
    const merged =
      found === undefined || next === undefined ? undefined : findMergedNode(found, next)
    const anchored = found === undefined || merged !== undefined ? merged : resolveAlias(found)
    if (anchored === undefined) return undefined
    if (anchored.anchor === '') continue
    const rest = path.slice(steps)
    const at = [...listPaths(root, [], (node) => node === anchored)][0]
    const aliases = [
      ...listPaths(root, [], (node) => node.kind === 'alias' && node.target === anchored),
    ].filter((alias) => !hasOwn(findNodeAtPath(root, alias)?.node, next))
    if (at === undefined || aliases.length === 0) continue
    return {
      name: anchored.anchor,
      at: [...at, ...rest],
      aliases: aliases.map((alias) => [...alias, ...rest]),
    }
  }
  return undefined
}

function hasOwn(node: YamlNode | undefined, step: FieldPath[number] | undefined): boolean {
  return node?.kind === 'map' && step?.kind === 'field' && findEntry(node, step.name) !== undefined
}

function findMergedNode(node: YamlNode, step: FieldPath[number]): YamlNode | undefined {
  const map = resolveAlias(node)
  if (step.kind !== 'field' || map.kind !== 'map' || findEntry(map, step.name) !== undefined)
    return undefined
  const merged = map.entries
    .filter(({ key }) => isMergeKey(key))
    .flatMap(({ value }) => (value.kind === 'list' ? value.items : [value]))
    .map(resolveAlias)
  return merged.find((each) => findEntry(each, step.name) !== undefined)
}

/** Aliases are not entered, and a merge key is not a step. */
function* listPaths(
  node: YamlNode,
  path: FieldPath,
  wanted: (node: YamlNode) => boolean,
  merges = false,
): Generator<FieldPath> {
  if (wanted(node)) yield path
  if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      const isMerge = isMergeKey(key)
      yield* listPaths(
        value,
        isMerge ? path : [...path, createFieldStep(getYamlKey(key))],
        wanted,
        isMerge,
      )
    }
  else if (node.kind === 'list')
    for (const [index, item] of node.items.entries())
      yield* listPaths(item, merges ? path : [...path, { kind: 'index', index }], wanted)
}
