/** kyaml 0.15 `kio/pkgio_writer.go`, `kio/byteio_writer.go`. */
import { writeYamlDocuments } from '@backporch/kyaml/edit-yaml'
import { formatJson } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  copyNode,
  findEntry,
  findTextAt,
  getYamlKey,
  resolveAlias,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'
import {
  clearAnnotation,
  clearEmptyAnnotations,
  copyLegacyAnnotations,
  findAnnotation,
  getItemFile,
  INDEX,
  LEGACY_INDEX,
  LEGACY_PATH,
  PATH,
  SEQUENCE_INDENT,
  setAnnotation,
} from '../function/item-annotations.ts'
import { BARE_LIST_KEY } from './pipeline-package.ts'

/**
 * By path from the outermost package. A render deletes files that it read and that are absent here.
 * @param items not changed
 */
export function writeItems(items: readonly YamlMap[]): ReadonlyMap<string, string> {
  const copies = items.map(copyNode)
  locateAll(copies)
  const byPath = new Map<string, YamlMap[]>()
  for (const item of copies) {
    const { path } = getItemFile(item)
    byPath.set(path, [...(byPath.get(path) ?? []), item])
  }
  const files = [...byPath].map(([path, inFile]): [string, string] => [
    path,
    formatDocuments(path, sortByIndex(inFile)),
  ])
  return new Map(files.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Also an index (kyaml `kioutil.DefaultPathAndIndexAnnotation`). */
function locateAll(items: readonly YamlMap[]): void {
  const counts = new Map<string, number>()
  for (const item of items) {
    copyLegacyAnnotations(item)
    const path = findAnnotation(item, PATH)
    const index = findAnnotation(item, INDEX)
    if (path !== undefined && index !== undefined)
      counts.set(path, Math.max(counts.get(path) ?? 0, Number.parseInt(index, 10) || 0))
    if (path === undefined) {
      const created = `${(findTextAt(item, 'kind') ?? '').toLowerCase()}_${findTextAt(item, 'metadata', 'name') ?? ''}.yaml`
      const namespace = findTextAt(item, 'metadata', 'namespace') || undefined
      setAnnotation(item, PATH, namespace === undefined ? created : `${namespace}/${created}`)
    }
  }
  for (const item of items) {
    if (findAnnotation(item, INDEX) !== undefined) continue
    const path = findAnnotation(item, PATH) ?? ''
    const next = counts.get(path) ?? 0
    counts.set(path, next + 1)
    setAnnotation(item, INDEX, String(next))
  }
}

/** Stable; resources without an index come first. */
function sortByIndex(items: readonly YamlMap[]): readonly YamlMap[] {
  const location = (item: YamlMap): number => {
    const index = findAnnotation(item, INDEX) || undefined
    return index === undefined ? -1 : Number.parseInt(index, 10)
  }
  return items.toSorted((one, other) => location(one) - location(other))
}

const READER_ANNOTATIONS = [INDEX, LEGACY_INDEX, SEQUENCE_INDENT, PATH, LEGACY_PATH]

/**
 * @param path empty for a stream
 * @param items lose the reader's annotations
 */
export function formatDocuments(path: string, items: readonly YamlMap[]): string {
  const documents = items.map((item) => {
    const sequenceIndent =
      findAnnotation(item, SEQUENCE_INDENT) === 'wide' ? ('wide' as const) : ('compact' as const)
    for (const name of READER_ANNOTATIONS) clearAnnotation(item, name)
    clearEmptyAnnotations(item)
    return { item, sequenceIndent }
  })
  const [only] = documents
  if (only !== undefined && documents.length === 1 && path.endsWith('.json'))
    return `${goJson(only.item)}\n`
  return writeYamlDocuments(
    documents.map(({ item, sequenceIndent }) => ({
      node: findEntry(item, BARE_LIST_KEY)?.value ?? item,
      sequenceIndent,
    })),
  )
}

/** Like Go's `encoding/json`: sorted keys, `<`, `>` and `&` escaped, exact 64-bit integers. */
function goJson(node: YamlNode, indent = ''): string {
  const target = resolveAlias(node)
  const below = `${indent}  `
  if (target.kind === 'scalar') return goScalar(target)
  if (target.kind === 'list') {
    if (target.items.length === 0) return '[]'
    return `[\n${target.items.map((item) => below + goJson(item, below)).join(',\n')}\n${indent}]`
  }
  const entries = new Map(target.entries.map(({ key, value }) => [getYamlKey(key), value]))
  if (entries.size === 0) return '{}'
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1))
  return `{\n${sorted.map(([key, value]) => `${below}${escapeJson(JSON.stringify(key))}: ${goJson(value, below)}`).join(',\n')}\n${indent}}`
}

const LARGEST = 2n ** 64n - 1n
const SMALLEST = -(2n ** 63n)

function goScalar(node: YamlScalar): string {
  if (node.style === 'plain' && /^-?(0|[1-9][0-9]*)$/.test(node.value) && node.tag !== '!!str') {
    const value = BigInt(node.value)
    if (value >= SMALLEST && value <= LARGEST) return node.value
  }
  const value = convertYamlToJson(node)
  // Go writes a negative zero for a number with a fraction.
  return value === 0 && /^-.*[.eE]/.test(node.value) ? '-0' : escapeJson(formatJson(value))
}

function escapeJson(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
