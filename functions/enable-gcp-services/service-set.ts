/** As Go decodes it: any scalar is valid text. */
import {
  isMergeKey,
  isNull,
  keyOf,
  resolved,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

export interface ServiceSet {
  readonly name: string
  readonly namespace: string
  readonly annotations: ReadonlyMap<string, string>
  readonly services: readonly string[]
  readonly project: string
}

type Fields = ReadonlyMap<string, YamlNode>

class NotRead extends Error {}

export function readServiceSet(item: YamlMap): ServiceSet | string {
  try {
    const set = fieldsOf(item, 'the set')
    const metadata = fieldsOf(set.get('metadata'), 'metadata')
    const spec = fieldsOf(set.get('spec'), 'spec')
    // Unused: the original fails at a label that is not text.
    textsOf(metadata.get('labels'), 'metadata.labels')
    return {
      name: textOf(metadata.get('name'), 'metadata.name'),
      namespace: textOf(metadata.get('namespace'), 'metadata.namespace'),
      annotations: textsOf(metadata.get('annotations'), 'metadata.annotations'),
      services: listOf(spec.get('services')),
      project: textOf(spec.get('projectID'), 'spec.projectID'),
    }
  } catch (thrown) {
    if (thrown instanceof NotRead) return thrown.message
    throw thrown
  }
}

/** A merge key overrides the fields before it; fields after it override the merge. */
function fieldsOf(node: YamlNode | undefined, where: string): Fields {
  const fields = new Map<string, YamlNode>()
  if (node === undefined || isNull(node)) return fields
  const map = resolved(node)
  if (map.kind !== 'map') throw new NotRead(`${where} must be a map`)
  const names = map.entries.map(({ key }) => keyOf(key))
  if (new Set(names).size < names.length) throw new NotRead(`${where} has a key twice`)
  for (const { key, value } of map.entries) {
    if (!isMergeKey(key)) fields.set(keyOf(key), resolved(value))
    else
      for (const merged of maps(value))
        for (const [name, below] of fieldsOf(merged, where)) fields.set(name, below)
  }
  return fields
}

function maps(value: YamlNode): readonly YamlNode[] {
  const merged = resolved(value)
  return merged.kind === 'list' ? merged.items.toReversed() : [merged]
}

function textOf(node: YamlNode | undefined, where: string): string {
  if (node === undefined || isNull(node)) return ''
  if (node.kind !== 'scalar') throw new NotRead(`${where} must be a text`)
  return node.value
}

function listOf(node: YamlNode | undefined): readonly string[] {
  if (node === undefined || isNull(node)) return []
  if (node.kind !== 'list') throw new NotRead('spec.services must be a list')
  return node.items.map((each) => textOf(resolved(each), 'spec.services[]'))
}

function textsOf(node: YamlNode | undefined, where: string): ReadonlyMap<string, string> {
  return new Map(
    [...fieldsOf(node, where)].map(([name, value]) => [name, textOf(value, `${where}.${name}`)]),
  )
}
