/**
 * One YAML document as a tree whose every node has the value that kubectl reads there. Stricter than kubectl where it
 * guesses: an unknown tag is refused. Aliases and merge keys are resolved here and not by the library: in go-yaml a merge
 * key counts at the place where it stands, and nothing is expanded before it is known to stay small (measured: the
 * library needs seconds for a 54 KB document of merge keys).
 */
import {
  type Alias,
  Composer,
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { emptyObject, isJsonObject, type Json, type JsonObject, setKey } from '../../text/json.ts'
import { readsAlike, resolveGoKey, resolveGoScalar } from '../go-scalar.ts'
import { tokensOf, unclosedIn } from './go-yaml-lexer.ts'

/** Maps and lists inside each other beyond this are refused. */
export const MAX_YAML_DEPTH = 100
/** Nodes that aliases and merge keys of one document may add. */
export const MAX_YAML_EXPANSION = 100_000

/** Something that kubectl reads otherwise than most people would. Says nothing of the value: it may be a secret. */
export interface TreeNote {
  readonly kind: 'value' | 'key' | 'duplicate-key' | 'precision'
  readonly offset: number
  /** Of a key that is there twice: the first one. */
  readonly earlier?: number
  readonly message: string
}

/** Offsets are those of the text that was parsed. */
export interface GoTree {
  readonly contents: Node
  readonly value: Json
  readonly values: ReadonlyMap<Node, Json>
  /** What each alias stands for. */
  readonly aliases: ReadonlyMap<Alias, Node>
  readonly notes: readonly TreeNote[]
}

/** Thrown inside a parse; go-yaml.ts gives it file and line. */
export class YamlRefusal extends Error {
  readonly code: 'BP1110' | 'BP1111'
  readonly offset: number
  readonly remedy: string

  constructor(code: 'BP1110' | 'BP1111', offset: number, why: string, remedy: string) {
    super(why)
    this.code = code
    this.offset = offset
    this.remedy = remedy
  }
}

const LIBRARY_OPTIONS = {
  schema: 'failsafe',
  merge: false,
  uniqueKeys: false,
  keepSourceTokens: true,
  prettyErrors: false,
  logLevel: 'silent',
} as const

/** Why a document is refused, by the library's code; its messages may quote the file, which may hold a secret. */
const SYNTAX_PROBLEMS: { readonly [code: string]: string } = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: 'the anchor or alias has no valid name',
  BAD_COLLECTION_TYPE: 'the tag does not fit a map or list',
  BAD_DQ_ESCAPE: 'the escape sequence is not one of YAML',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BAD_PROP_ORDER: 'an anchor or tag stands before the "-", "?" or ":" it belongs behind',
  BAD_SCALAR_START: 'a value without quotes cannot start with this character',
  BLOCK_AS_IMPLICIT_KEY: 'a nested map or list starts on the line of its key',
  BLOCK_IN_FLOW: 'a block stands inside brackets',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a character is missing: a quote, bracket, colon or space',
  MULTILINE_IMPLICIT_KEY: 'a key goes over more than one line, or a line lacks its colon',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_TAGS: 'a value has two tags',
  TAB_AS_INDENT: 'a tab is used as indentation',
  TAG_RESOLVE_FAILED: 'the tag does not fit the value',
  UNEXPECTED_TOKEN: 'something stands where it cannot',
}

/**
 * @param text one document, without its `---` line
 * @returns undefined where the text holds nothing but comments or a null
 * @throws YamlRefusal
 */
export function parseGoTree(text: string): GoTree | undefined {
  const tokens = tokensOf(text)
  checkTokens(tokens, isJsonText(text))
  const documents = [...new Composer(LIBRARY_OPTIONS).compose(tokens)]
  for (const { errors } of documents) {
    const [error] = errors
    if (error !== undefined)
      throw new YamlRefusal('BP1110', error.pos[0], SYNTAX_PROBLEMS[error.code] ?? 'the text is not YAML', 'correct the line')
  }
  const contents = documents[0]?.contents as Node | null | undefined
  if (contents === null || contents === undefined) return undefined
  const reader = new TreeReader()
  const value = reader.read(contents, 1)
  return value === null ? undefined : { contents, value, values: reader.values, aliases: reader.aliases, notes: reader.notes }
}

/** kubectl hands a document that is JSON to a JSON parser, which knows escapes that its YAML parser does not. */
function isJsonText(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const GO_ANCHOR = /^[&*][A-Za-z0-9_-]+$/
const JSON_ESCAPE = /(?<!\\)(?:\\\\)*\\(?:\/|u[dD][89a-fA-F])/

/** Walks the tokens without recursion, so that no depth of the input reaches the library's recursive composer. */
function checkTokens(tokens: readonly CST.Token[], isJson: boolean): void {
  const open: { readonly token: CST.Token; readonly depth: number; readonly inFlow: boolean }[] = []
  let unclosed: { readonly offset: number; readonly mark: 'quote' | 'bracket' } | undefined
  for (const token of tokens)
    if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth: 0, inFlow: false })
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const { token, inFlow } = entry
    const mark = unclosedIn(token)
    // What opened last is what somebody forgot: a quote takes the brackets that would close the others into its text.
    if (mark !== undefined && (unclosed === undefined || token.offset > unclosed.offset)) unclosed = { offset: token.offset, mark }
    if (!CST.isCollection(token)) {
      checkScalarToken(token, inFlow, isJson)
      continue
    }
    const depth = entry.depth + 1
    if (depth > MAX_YAML_DEPTH) throw tooDeep(token.offset)
    const inside = inFlow || token.type === 'flow-collection'
    for (const { start, key, sep, value } of token.items) {
      for (const part of [...start, ...(sep ?? [])]) if (part.type === 'anchor') checkAnchor(part)
      if (key !== undefined && key !== null) open.push({ token: key, depth, inFlow: inside })
      if (value !== undefined) open.push({ token: value, depth, inFlow: inside })
    }
  }
  if (unclosed !== undefined)
    throw new YamlRefusal('BP1110', unclosed.offset, `the ${unclosed.mark} that opens here is not closed`, `close the ${unclosed.mark}`)
}

function tooDeep(offset: number): YamlRefusal {
  return new YamlRefusal('BP1111', offset, `maps and lists are nested more than ${MAX_YAML_DEPTH} deep`, 'flatten the document')
}

function checkAnchor(token: { readonly source: string; readonly offset: number }): void {
  if (!GO_ANCHOR.test(token.source))
    throw new YamlRefusal('BP1110', token.offset, 'the anchor or alias has no name that kubectl reads', 'use letters, digits, "_" and "-"')
}

function checkScalarToken(token: CST.Token, inFlow: boolean, isJson: boolean): void {
  if (token.type === 'alias') checkAnchor(token)
  else if (token.type === 'scalar' && inFlow && (token.source.includes('?') || token.source.startsWith(':')))
    throw new YamlRefusal('BP1110', token.offset, 'kubectl does not read "?" or a leading ":" inside brackets', 'put the value in quotes')
  else if (token.type === 'double-quoted-scalar' && !isJson && JSON_ESCAPE.test(token.source))
    throw new YamlRefusal('BP1110', token.offset, 'kubectl does not read this escape sequence in YAML', 'write the character itself')
  else if (token.type === 'block-scalar' && !hasIndentIndicator(token) && /^(?: *\n)* *\t/.test(token.source))
    throw new YamlRefusal('BP1110', token.offset, 'a tab stands where kubectl looks for the indentation of a block', 'indent with spaces')
}

function hasIndentIndicator(token: CST.BlockScalar): boolean {
  const [header] = token.props
  return header?.type === 'block-scalar-header' && /[1-9]/.test(header.source)
}

const COLLECTION_TAGS = { map: 'tag:yaml.org,2002:map', seq: 'tag:yaml.org,2002:seq' } as const

class TreeReader {
  readonly values = new Map<Node, Json>()
  readonly aliases = new Map<Alias, Node>()
  readonly notes: TreeNote[] = []
  private readonly anchors = new Map<string, Node>()
  /** Nodes below each collection, and how deep it is, with aliases counted as what they stand for. */
  private readonly extents = new Map<Node, { readonly size: number; readonly depth: number }>()
  private expanded = 0

  read(node: Node, depth: number): Json {
    if (depth > MAX_YAML_DEPTH + 1) throw tooDeep(offsetOf(node))
    if (isAlias(node)) return this.readAlias(node, depth)
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) this.anchors.set(node.anchor, node)
    const value = isMap(node) ? this.readMap(node, depth) : isSeq(node) ? this.readSeq(node, depth) : this.readScalar(node as Scalar)
    this.values.set(node, value)
    return value
  }

  private readAlias(node: Alias, depth: number): Json {
    const target = this.anchors.get(node.source)
    if (target === undefined)
      throw new YamlRefusal('BP1110', offsetOf(node), 'the alias names no anchor above it', 'define the anchor first')
    const value = this.values.get(target)
    if (value === undefined) throw new YamlRefusal('BP1110', offsetOf(node), 'the anchor contains its own alias', 'remove the alias')
    const extent = this.extentOf(target)
    this.expand(extent.size, node)
    if (depth + extent.depth > MAX_YAML_DEPTH + 1) throw tooDeep(offsetOf(node))
    this.aliases.set(node, target)
    this.extents.set(node, extent)
    this.values.set(node, value)
    return value
  }

  private expand(nodes: number, at: Node): void {
    this.expanded += nodes
    if (this.expanded > MAX_YAML_EXPANSION)
      throw new YamlRefusal(
        'BP1111',
        offsetOf(at),
        `aliases and merge keys add more than ${MAX_YAML_EXPANSION} values`,
        'write the values out',
      )
  }

  private extentOf(node: Node | null): { readonly size: number; readonly depth: number } {
    return (node === null ? undefined : this.extents.get(node)) ?? { size: 1, depth: 0 }
  }

  private readSeq(node: YAMLSeq, depth: number): Json {
    checkCollectionTag(node, COLLECTION_TAGS.seq)
    const items = node.items as readonly Node[]
    const value = items.map((item) => this.read(item, depth + 1))
    this.measure(node, items)
    return value
  }

  private readMap(node: YAMLMap, depth: number): Json {
    checkCollectionTag(node, COLLECTION_TAGS.map)
    const value = emptyObject()
    const seen = new Map<string, number>()
    const pairs = node.items as readonly Pair<Node | null, Node | null>[]
    for (const pair of pairs) {
      if (isMergeKey(pair.key)) {
        this.merge(value, pair, depth)
        continue
      }
      const key = this.readKey(pair.key, node)
      const offset = pair.key === null ? offsetOf(node) : offsetOf(pair.key)
      const earlier = seen.get(key)
      if (earlier !== undefined)
        this.notes.push({ kind: 'duplicate-key', offset, earlier, message: 'the key is there twice; kubectl takes the last one' })
      seen.set(key, offset)
      setKey(value, key, pair.value === null ? null : this.read(pair.value, depth + 1))
    }
    this.measure(
      node,
      pairs.map((pair) => pair.value),
    )
    return value
  }

  private measure(node: Node, below: readonly (Node | null)[]): void {
    let size = 1
    let depth = 0
    for (const child of below) {
      const extent = this.extentOf(child)
      size += extent.size
      depth = Math.max(depth, extent.depth)
    }
    this.extents.set(node, { size, depth: depth + 1 })
  }

  private readKey(node: Node | null, map: YAMLMap): string {
    const target = node !== null && isAlias(node) ? this.aliasedKey(node) : node
    if (!isScalar(target)) throw new YamlRefusal('BP1110', offsetOf(target ?? map), 'a key is not a text', 'use a plain or quoted key')
    if (target === node && target.anchor !== undefined) this.anchors.set(target.anchor, target)
    const source = target.source ?? ''
    const plain = target.type === 'PLAIN'
    const resolved = resolveGoKey(source, plain, target.tag)
    if ('why' in resolved) throw new YamlRefusal('BP1110', offsetOf(target), resolved.why, 'put the key in quotes')
    const scalar = resolveGoScalar(source, plain, target.tag)
    if (scalar.is === 'value') this.values.set(target, scalar.value)
    if (plain && target.tag === undefined && resolved.key !== source)
      this.notes.push({ kind: 'key', offset: offsetOf(target), message: 'kubectl reads this key as another text; put it in quotes' })
    return resolved.key
  }

  private aliasedKey(node: Alias): Node | undefined {
    this.read(node, 1)
    return this.aliases.get(node)
  }

  /** As go-yaml does: what is merged replaces what stands above the merge key; of a list the first map wins. */
  private merge(into: { [key: string]: Json }, pair: Pair<Node | null, Node | null>, depth: number): void {
    const node = pair.value
    const sources = node !== null && isSeq(node) ? (node.items as readonly Node[]).toReversed() : [node]
    if (node !== null) this.read(node, depth + 1)
    for (const source of sources) {
      const target = source !== null && isAlias(source) ? this.aliases.get(source) : source
      const merged: JsonObject | undefined = isMap(target) ? this.objectOf(target) : undefined
      if (merged === undefined || source === null)
        throw new YamlRefusal('BP1110', offsetOf(source ?? pair.key), 'a merge key "<<" wants a map, or a list of maps', 'name a map')
      const entries = Object.entries(merged)
      this.expand(entries.length, source)
      for (const [key, value] of entries) setKey(into, key, value)
    }
  }

  private objectOf(node: Node): JsonObject | undefined {
    const value = this.values.get(node)
    return isJsonObject(value) ? value : undefined
  }

  private readScalar(node: Scalar): Json {
    const source = node.source ?? ''
    const plain = node.type === 'PLAIN'
    const scalar = resolveGoScalar(source, plain, node.tag)
    if (scalar.is === 'refused') throw new YamlRefusal('BP1110', offsetOf(node), scalar.why, 'remove the tag')
    if (scalar.is === 'no-json')
      throw new YamlRefusal('BP1110', offsetOf(node), 'infinity and "not a number" have no form in JSON', 'put the value in quotes')
    if (plain && node.tag === undefined && source !== '') this.noteScalar(node, source, scalar.value)
    return scalar.value
  }

  private noteScalar(node: Scalar, source: string, value: Json): void {
    const offset = offsetOf(node)
    if (!readsAlike(source))
      this.notes.push({
        kind: 'value',
        offset,
        message: `kubectl reads this as ${describe(value)}, other readers do not; write it out, or put it in quotes`,
      })
    else if (/^[-+]?[0-9]{17,}$/.test(source) && BigInt(source.replace('+', '')) !== (typeof value === 'number' ? BigInt(value) : value))
      this.notes.push({ kind: 'precision', offset, message: 'the number does not fit 64 bits, so kubectl rounds it' })
  }
}

function describe(value: Json): string {
  return typeof value === 'boolean' ? String(value) : typeof value === 'string' ? 'text' : 'another number'
}

/** The text that a key is to kubectl, or undefined for a merge key. */
export function keyText(key: Node | null, aliases: ReadonlyMap<Alias, Node>): string | undefined {
  const target = isAlias(key) ? aliases.get(key) : key
  if (!isScalar(target) || isMergeKey(key)) return undefined
  const resolved = resolveGoKey(target.source ?? '', target.type === 'PLAIN', target.tag)
  return 'key' in resolved ? resolved.key : undefined
}

export function isMergeKey(key: Node | null): boolean {
  return isScalar(key) && key.source === '<<' && ((key.type === 'PLAIN' && key.tag === undefined) || key.tag === 'tag:yaml.org,2002:merge')
}

function checkCollectionTag(node: YAMLMap | YAMLSeq, own: string): void {
  if (node.tag !== undefined && node.tag !== own && node.tag !== '!')
    throw new YamlRefusal('BP1110', offsetOf(node), 'the tag is not one that kubectl knows for a map or list', 'remove the tag')
}

function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0
}
