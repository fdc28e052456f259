/** As Go decodes it: any scalar is valid text. */
import {
  getYamlKey,
  isMergeKey,
  isNull,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

export interface ServiceSet {
  readonly name: string
  readonly namespace: string | undefined
  readonly annotations: ReadonlyMap<string, string>
  readonly services: readonly string[]
  readonly project: string | undefined
}

type Fields = ReadonlyMap<string, YamlNode>

class NotRead extends Error {}

export function readServiceSet(item: YamlMap): ServiceSet | string {
  try {
    const set = readFields(item, 'the set')
    const metadata = readFields(set.get('metadata'), 'metadata')
    const spec = readFields(set.get('spec'), 'spec')
    // Unused: the original fails at a label that is not text.
    readTexts(metadata.get('labels'), 'metadata.labels')
    return {
      name: readText(metadata.get('name'), 'metadata.name'),
      namespace: readText(metadata.get('namespace'), 'metadata.namespace') || undefined,
      annotations: readTexts(metadata.get('annotations'), 'metadata.annotations'),
      services: readServices(spec.get('services')),
      project: readText(spec.get('projectID'), 'spec.projectID') || undefined,
    }
  } catch (thrown) {
    if (thrown instanceof NotRead) return thrown.message
    throw thrown
  }
}

/** A merge key overrides the fields before it; fields after it override the merge. */
function readFields(node: YamlNode | undefined, where: string): Fields {
  const fields = new Map<string, YamlNode>()
  if (node === undefined || isNull(node)) return fields
  const map = resolveAlias(node)
  if (map.kind !== 'map') throw new NotRead(`${where} must be a map`)
  const names = map.entries.map(({ key }) => getYamlKey(key))
  if (new Set(names).size < names.length) throw new NotRead(`${where} has a key twice`)
  for (const { key, value } of map.entries) {
    if (!isMergeKey(key)) fields.set(getYamlKey(key), resolveAlias(value))
    else
      for (const merged of listMergedMaps(value))
        for (const [name, below] of readFields(merged, where)) fields.set(name, below)
  }
  return fields
}

function listMergedMaps(value: YamlNode): readonly YamlNode[] {
  const merged = resolveAlias(value)
  return merged.kind === 'list' ? merged.items.toReversed() : [merged]
}

function readText(node: YamlNode | undefined, where: string): string {
  if (node === undefined || isNull(node)) return ''
  if (node.kind !== 'scalar') throw new NotRead(`${where} must be a text`)
  return node.value
}

function readServices(node: YamlNode | undefined): readonly string[] {
  if (node === undefined || isNull(node)) return []
  if (node.kind !== 'list') throw new NotRead('spec.services must be a list')
  return node.items.map((each) => readText(resolveAlias(each), 'spec.services[]'))
}

function readTexts(node: YamlNode | undefined, where: string): ReadonlyMap<string, string> {
  return new Map(
    [...readFields(node, where)].map(([name, value]) => [
      name,
      readText(value, `${where}.${name}`),
    ]),
  )
}
