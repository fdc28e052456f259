/** The rows of `test/corpus/yaml/go-scalars.json` are answers of the real kubectl. */
import { Failure } from '../../failure.ts'
import {
  emptyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '../../text/json.ts'
import { readGoKey, resolveAlias, type YamlNode } from '../yaml-node.ts'
import {
  createInvalidYaml,
  formatPosition,
  LineIndex,
  splitChunks,
  type TextPosition,
  type YamlChunk,
} from './go-yaml-text.ts'
import { describeOthers, noteOnce, type ValueNote } from './go-yaml-values.ts'
import { NodeMeter } from './read-yaml-limits.ts'
import { readYamlDocuments, type YamlDocument } from './read-yaml-node.ts'

export interface GoYamlDocument extends YamlDocument {
  /**
   * Index as kpt counts (`config.kubernetes.io/index`), without documents that are empty or null.
   */
  readonly index: number
  readonly line: number
  readonly column: number
  readonly chunk: YamlChunk
}

/** One note per file and reason, at the first location. No message contains a value. */
interface GoYamlNote extends TextPosition {
  readonly kind: 'value' | 'key' | 'duplicate-key' | 'precision'
  readonly message: string
}

export interface GoYamlFile {
  readonly documents: readonly GoYamlDocument[]
  readonly notes: readonly GoYamlNote[]
}

interface GoYamlOptions {
  /** `error` for a Kptfile, where kpt refuses what kubectl accepts. Default `note`. */
  readonly duplicateKeys?: 'error' | 'note'
  readonly mostNodes?: number
}

/**
 * @throws Failure BP1110 (not valid, with file:line:column) or BP1111 (10 MiB, 100 deep, 10,000
 * documents, 500,000 nodes, 100,000 aliased values)
 */
export function parseGoYaml(text: string, where: string, options: GoYamlOptions = {}): GoYamlFile {
  const read = readYamlDocuments(text, where, new NodeMeter(options.mostNodes))
  const lines = new LineIndex(text)
  const chunks = splitChunks(text)
  let at = 0
  const documents: GoYamlDocument[] = []
  const noted = new Map<string, ValueNote>()
  for (const [index, document] of read.entries()) {
    const start = document.node.source?.start ?? 0
    while ((chunks[at + 1]?.start ?? Infinity) <= start) at += 1
    const chunk = chunks[at] as YamlChunk
    documents.push({ ...document, index, ...lines.getPosition(start), chunk })
    for (const note of document.notes) {
      if (note.kind === 'duplicate-key' && options.duplicateKeys === 'error')
        throw createInvalidYaml(
          formatPosition(where, lines.getPosition(note.offset)),
          `the key appears twice${firstOf(note)}`,
          'keep one of them',
        )
      noteOnce(noted, note)
    }
  }
  const notes = [...noted.values()].map(
    (note): GoYamlNote => ({
      kind: note.kind,
      ...lines.getPosition(note.offset),
      message: `${note.message}${firstOf(note)}${describeOthers(note)}`,
    }),
  )
  return { documents, notes }

  function firstOf({ earlier }: ValueNote): string {
    return earlier === undefined ? '' : `, first at line ${lines.getPosition(earlier).line}`
  }
}

interface DocumentObject {
  readonly object: Json
  /** Undefined for a document with a single object. */
  readonly item: number | undefined
  readonly line: number
}

export function isObjectList(value: Json): value is JsonObject {
  const kind = isJsonObject(value) ? getKey(value, 'kind') : undefined
  return (
    isJsonObject(value) &&
    typeof kind === 'string' &&
    kind.endsWith('List') &&
    isJsonArray(getKey(value, 'items'))
  )
}

/**
 * An item of a `ConfigMapList` without a kind is a ConfigMap of the list's version, as in kubectl.
 * @param text the file, for lines
 * @throws Failure BP1112 for a list inside a list, which kubectl refuses and kpt treats as one
 * object
 */
export function listDocumentObjects(
  document: GoYamlDocument,
  text: string,
  where: string,
): readonly DocumentObject[] {
  const { value, line } = document
  if (!isObjectList(value)) return [{ object: value, item: undefined, line }]
  const lines = new LineIndex(text)
  const nodes = listItemNodes(document.node)
  return (getKey(value, 'items') as readonly Json[]).map((object, item) => {
    const offset = nodes[item]?.source?.start
    const location = offset === undefined ? { line, column: 1 } : lines.getPosition(offset)
    if (isObjectList(object))
      throw new Failure({
        code: 'BP1112',
        what: 'a list of objects has a list as an item',
        where: formatPosition(where, location),
        why: 'kubectl does not read a list inside a list',
        remedy: 'move its items into the outer list',
        retry: 'on-change',
      })
    return { object: addItemKind(value, object), item, line: location.line }
  })
}

function listItemNodes(root: YamlNode): readonly YamlNode[] {
  const map = resolveAlias(root)
  const items =
    map.kind === 'map'
      ? map.entries.findLast(({ key }) => readGoKey(key) === 'items')?.value
      : undefined
  return items?.kind === 'list' ? items.items : []
}

function addItemKind(list: JsonObject, item: Json): Json {
  const kind = String(getKey(list, 'kind')).slice(0, -'List'.length)
  const apiVersion = getKey(list, 'apiVersion')
  if (
    kind === '' ||
    apiVersion === undefined ||
    !isJsonObject(item) ||
    getKey(item, 'kind') !== undefined
  )
    return item
  const filled = emptyObject()
  setKey(filled, 'apiVersion', apiVersion)
  setKey(filled, 'kind', kind)
  for (const [key, below] of Object.entries(item))
    if (key !== 'apiVersion') setKey(filled, key, below)
  return filled
}
