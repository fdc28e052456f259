import { type FieldPath, field } from '../krm/field-path.ts'
import { entryOf, isMergeKey, keyOf, resolved, type YamlNode } from './yaml-node.ts'
import { nodeAtPath } from './yaml-path.ts'

interface AnchorUses {
  readonly name: string
  readonly at: FieldPath
  /** For a merge key, below the map that contains it. */
  readonly aliases: readonly FieldPath[]
}

/** Undefined without an aliased anchor. Of several, the outermost one. */
export function anchorUses(root: YamlNode, path: FieldPath): AnchorUses | undefined {
  for (let steps = 0; steps <= path.length; steps += 1) {
    const found = nodeAtPath(root, path.slice(0, steps))?.node
    const next = path[steps]
    const merged = found === undefined || next === undefined ? undefined : mergedNode(found, next)
    const anchored = found === undefined || merged !== undefined ? merged : resolved(found)
    if (anchored === undefined) return undefined
    if (anchored.anchor === '') continue
    const rest = path.slice(steps)
    const at = [...pathsOf(root, [], (node) => node === anchored)][0]
    const aliases = [
      ...pathsOf(root, [], (node) => node.kind === 'alias' && node.target === anchored),
    ].filter((alias) => !hasOwn(nodeAtPath(root, alias)?.node, next))
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
  return node?.kind === 'map' && step?.kind === 'field' && entryOf(node, step.name) !== undefined
}

function mergedNode(node: YamlNode, step: FieldPath[number]): YamlNode | undefined {
  const map = resolved(node)
  if (step.kind !== 'field' || map.kind !== 'map' || entryOf(map, step.name) !== undefined)
    return undefined
  const merged = map.entries
    .filter(({ key }) => isMergeKey(key))
    .flatMap(({ value }) => (value.kind === 'list' ? value.items : [value]))
    .map(resolved)
  return merged.find((each) => entryOf(each, step.name) !== undefined)
}

/** Aliases are not entered, and a merge key is not a step. */
function* pathsOf(
  node: YamlNode,
  path: FieldPath,
  wanted: (node: YamlNode) => boolean,
  merges = false,
): Generator<FieldPath> {
  if (wanted(node)) yield path
  if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      const isMerge = isMergeKey(key)
      yield* pathsOf(value, isMerge ? path : [...path, field(keyOf(key))], wanted, isMerge)
    }
  else if (node.kind === 'list')
    for (const [index, item] of node.items.entries())
      yield* pathsOf(item, merges ? path : [...path, { kind: 'index', index }], wanted)
}
