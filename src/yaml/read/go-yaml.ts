/**
 * YAML files as kubectl and kpt read them: same documents, same numbers, same booleans, with the place of everything.
 * Proven row by row against the real kubectl (`test/corpus/yaml/go-scalars.json`).
 */
import { isMap, isSeq, type Node, type Pair } from 'yaml'
import { Failure } from '../../failure.ts'
import { emptyObject, getKey, isJsonArray, isJsonObject, type Json, type JsonObject, setKey } from '../../text/json.ts'
import {
  checkYamlText,
  formatPosition,
  invalidYaml,
  LineIndex,
  splitChunks,
  type TextPosition,
  tooLargeYaml,
  type YamlChunk,
} from './go-yaml-text.ts'
import { type GoTree, parseGoTree, YamlRefusal } from './go-yaml-tree.ts'

export interface GoYamlDocument {
  /** As kpt counts (`config.kubernetes.io/index`): documents that are empty or null have no number. */
  readonly index: number
  readonly value: Json
  /** Of the first key. */
  readonly line: number
  readonly column: number
  /** The piece of the file that the document is. */
  readonly chunk: YamlChunk
  /** Its nodes; their offsets count from `chunk.start`. */
  readonly tree: GoTree
}

/** Something that reads otherwise than it looks. Never holds the value. */
export interface GoYamlNote extends TextPosition {
  readonly kind: 'value' | 'key' | 'duplicate-key' | 'precision'
  readonly message: string
}

export interface GoYamlFile {
  readonly documents: readonly GoYamlDocument[]
  readonly notes: readonly GoYamlNote[]
}

export interface GoYamlOptions {
  /** `error` for a Kptfile, where kpt refuses what kubectl lets pass. Default `note`. */
  readonly duplicateKeys?: 'error' | 'note'
}

/**
 * Reads a file of any number of documents.
 * @param where the path that errors name
 * @throws Failure BP1110 (not valid, with file:line:column) or BP1111 (10 MiB, 100 deep, 100,000 aliased values)
 */
export function parseGoYaml(text: string, where: string, options: GoYamlOptions = {}): GoYamlFile {
  const lines = new LineIndex(text)
  checkYamlText(text, where, lines)
  const documents: GoYamlDocument[] = []
  const notes: GoYamlNote[] = []
  for (const chunk of splitChunks(text)) {
    const at = (offset: number): TextPosition => lines.position(chunk.start + offset)
    const tree = parseChunk(text.slice(chunk.start, chunk.end), where, at)
    if (tree === undefined) continue
    documents.push({ index: documents.length, value: tree.value, ...at(tree.contents.range?.[0] ?? 0), chunk, tree })
    for (const note of tree.notes) {
      const place = at(note.offset)
      const earlier = note.earlier === undefined ? '' : `, first at line ${at(note.earlier).line}`
      if (note.kind === 'duplicate-key' && options.duplicateKeys === 'error')
        throw invalidYaml(formatPosition(where, place), `the key is there twice${earlier}`, 'keep one of them')
      notes.push({ kind: note.kind, ...place, message: `${note.message}${earlier}` })
    }
  }
  return { documents, notes }
}

function parseChunk(text: string, where: string, at: (offset: number) => TextPosition): GoTree | undefined {
  try {
    return parseGoTree(text)
  } catch (thrown) {
    if (!(thrown instanceof YamlRefusal)) throw thrown
    const place = formatPosition(where, at(Math.min(thrown.offset, text.length)))
    throw thrown.code === 'BP1110' ? invalidYaml(place, thrown.message, thrown.remedy) : tooLargeYaml(place, thrown.message, thrown.remedy)
  }
}

/** An object of a document; of a `kind: List` each item is one. */
export interface DocumentObject {
  readonly object: Json
  /** Place in the list's `items`; undefined for a document that is one object. */
  readonly item: number | undefined
  readonly line: number
}

/** Whether a value is a list of objects: its kind ends with `List` and it has `items`. */
export function isObjectList(value: Json): value is JsonObject {
  const kind = isJsonObject(value) ? getKey(value, 'kind') : undefined
  return isJsonObject(value) && typeof kind === 'string' && kind.endsWith('List') && isJsonArray(getKey(value, 'items'))
}

/**
 * The objects of a document, a list taken apart as kubectl does: an item of a `ConfigMapList` without a kind is a ConfigMap
 * of the list's version.
 * @param text the file, for lines
 * @throws Failure BP1112 for a list inside a list, which kubectl refuses and kpt takes for one object
 */
export function objectsIn(document: GoYamlDocument, text: string, where: string): readonly DocumentObject[] {
  const { value, line } = document
  if (!isObjectList(value)) return [{ object: value, item: undefined, line }]
  const lines = new LineIndex(text)
  const nodes = itemNodes(document.tree.contents)
  return (getKey(value, 'items') as readonly Json[]).map((object, item) => {
    const offset = nodes[item]?.range?.[0]
    const place = offset === undefined ? { line, column: 1 } : lines.position(document.chunk.start + offset)
    if (isObjectList(object))
      throw new Failure({
        code: 'BP1112',
        what: 'a list of objects has a list as an item',
        where: formatPosition(where, place),
        why: 'kubectl does not read a list inside a list',
        remedy: 'move its items into the outer list',
        retry: 'on-change',
      })
    return { object: withKindOf(value, object), item, line: place.line }
  })
}

function itemNodes(contents: Node): readonly (Node | null)[] {
  if (!isMap(contents)) return []
  const pair = contents.items.findLast((each) => isNamed(each as Pair<Node, Node>, 'items')) as Pair<Node, Node> | undefined
  return isSeq(pair?.value) ? (pair.value.items as readonly Node[]) : []
}

function isNamed(pair: Pair<Node, Node>, name: string): boolean {
  return 'source' in pair.key && pair.key.source === name
}

function withKindOf(list: JsonObject, item: Json): Json {
  const kind = String(getKey(list, 'kind')).slice(0, -'List'.length)
  const apiVersion = getKey(list, 'apiVersion')
  if (kind === '' || apiVersion === undefined || !isJsonObject(item) || getKey(item, 'kind') !== undefined) return item
  const filled = emptyObject()
  setKey(filled, 'apiVersion', apiVersion)
  setKey(filled, 'kind', kind)
  for (const [key, below] of Object.entries(item)) if (key !== 'apiVersion') setKey(filled, key, below)
  return filled
}
