/** Comments are attached as in go-yaml's parser (`parserc.go`, `decode.go`). */
import type { YamlList, YamlMap, YamlNode, YamlScalar, YamlSource } from '../yaml-node.ts'
import type { TaggedSource } from '../yaml-tag.ts'
import {
  emptyList,
  emptyMap,
  NO_PROPERTIES,
  type Properties,
  trim,
} from './read-yaml-collections.ts'
import type { NodeMeter } from './read-yaml-limits.ts'
import {
  createNoColonRefusal,
  createTooDeepRefusal,
  MAX_YAML_DEPTH,
  UnclosedYaml,
  YamlRefusal,
} from './read-yaml-refusal.ts'
import type { ScalarText } from './read-yaml-scalar.ts'
import type { TokenKind, YamlToken } from './read-yaml-token.ts'
import { YamlTokens } from './read-yaml-tokens.ts'
import {
  type Comments,
  moveFootToKey,
  NO_COMMENTS,
  TreeComments,
} from './read-yaml-tree-comments.ts'

export type SourceAt = (start: number, end: number) => YamlSource

/**
 * Undefined without a document.
 * @throws YamlRefusal for what kubectl or kpt refuses, and for what readers disagree about
 */
export function readYamlTree(
  text: string,
  sourceAt: SourceAt,
  meter: NodeMeter,
): YamlNode | undefined {
  const tokens = new YamlTokens(text, meter)
  try {
    return new TreeReader(tokens, sourceAt, meter).readDocument()
  } catch (thrown) {
    const isSyntax =
      thrown instanceof YamlRefusal && thrown.code === 'BP1110' && !(thrown instanceof UnclosedYaml)
    throw isSyntax ? (tokens.findUnclosed() ?? thrown) : thrown
  }
}

function createMisplacedRefusal({ kind, start }: YamlToken): YamlRefusal {
  if (kind === 'scalar' || kind === 'alias' || kind === 'anchor' || kind === 'tag')
    return createNoColonRefusal(start)
  if (kind === 'list-start' || kind === 'map-start' || kind === '-' || kind === 'key')
    return new YamlRefusal(start, 'the indentation does not fit the lines above')
  return new YamlRefusal(start, 'something is in a place where it is not allowed')
}

class TreeReader {
  private readonly tokens: YamlTokens
  private readonly comments: TreeComments
  private readonly sourceAt: SourceAt
  private readonly meter: NodeMeter
  private readonly anchors = new Map<string, YamlNode>()
  private depth = 0

  constructor(tokens: YamlTokens, sourceAt: SourceAt, meter: NodeMeter) {
    this.tokens = tokens
    this.comments = new TreeComments(tokens)
    this.sourceAt = sourceAt
    this.meter = meter
  }

  readDocument(): YamlNode | undefined {
    const { tokens } = this
    const first = tokens.readCurrent()
    if (first.kind === 'stream-end') return undefined
    let head = ''
    if (first.kind === 'document-start') {
      tokens.take()
      const { kind } = tokens.readCurrent()
      if (kind === 'document-start' || kind === 'document-end' || kind === 'stream-end')
        return undefined
    } else head = this.comments.takeDocumentHead()
    const root = this.readNode(true, false)
    const end = tokens.readCurrent()
    if (end.kind === 'document-end') tokens.take()
    else if (end.kind !== 'document-start' && end.kind !== 'stream-end')
      throw createMisplacedRefusal(end)
    const comments = this.comments.take()
    const foot = comments.footComment === '' ? comments.headComment : comments.footComment
    if (head !== '') root.headComment = `${head}\n\n${root.headComment}`
    if (foot !== '') {
      const isBlock = (root.kind === 'map' || root.kind === 'list') && root.style === 'block'
      root.footComment = isBlock
        ? foot
        : `${root.footComment === '' ? '' : `${root.footComment}\n`}\n${foot}`
    }
    return root
  }

  private createSource(start: number, tag: string, end = this.tokens.lastEnd): YamlSource {
    this.meter.count(start)
    const source = this.sourceAt(start, end)
    if (tag === '' || tag === '!') return source
    const tagged: TaggedSource = { ...source, tagged: true }
    return tagged
  }

  private registerAnchor<T extends YamlNode>(node: T): T {
    if (node.anchor !== '') this.anchors.set(node.anchor, node)
    return node
  }

  private readNode(block: boolean, indentless: boolean): YamlNode {
    const { tokens } = this
    let token = tokens.readCurrent()
    if (token.kind === 'alias') return this.readAlias()
    let properties = NO_PROPERTIES
    while (token.kind === 'anchor' || token.kind === 'tag') {
      if (properties[token.kind] !== '')
        throw new YamlRefusal(token.start, `a value has two ${token.kind}s`)
      properties = { ...properties, [token.kind]: token.name ?? '' }
      tokens.take()
      token = tokens.readCurrent()
    }
    if (token.kind === 'scalar') return this.readScalar(properties)
    if (this.depth === MAX_YAML_DEPTH && COLLECTION_STARTS.has(token.kind))
      throw createTooDeepRefusal(token.start)
    this.depth += 1
    const collection = this.readCollection(token.kind, properties, block, indentless)
    this.depth -= 1
    if (collection !== undefined) return collection
    if (token.kind === 'alias')
      throw new YamlRefusal(token.start, 'an alias cannot have an anchor or a tag')
    if (properties !== NO_PROPERTIES) return this.empty(tokens.lastEnd, properties)
    throw createMisplacedRefusal(token)
  }

  private readCollection(
    kind: TokenKind,
    properties: Properties,
    block: boolean,
    indentless: boolean,
  ): YamlNode | undefined {
    if (indentless && kind === '-') return this.list(properties, NO_COMMENTS, 'value')
    if (kind === '[') return this.readFlowList(properties)
    if (kind === '{') return this.readFlowMap(properties)
    if (block && kind === 'list-start')
      return this.list(properties, this.comments.takeStem(), 'block')
    return block && kind === 'map-start' ? this.map(properties) : undefined
  }

  private readAlias(): YamlNode {
    const { tokens } = this
    const { start, name = '' } = tokens.readCurrent()
    const comments = this.comments.take()
    tokens.take()
    const target = this.anchors.get(name)
    if (target === undefined)
      throw new YamlRefusal(start, 'the alias names no anchor above it', 'define the anchor first')
    // A map or list has no source before its end.
    if (target.source === undefined)
      throw new YamlRefusal(start, 'the anchor contains its own alias', 'remove the alias')
    return {
      kind: 'alias',
      tag: '',
      anchor: '',
      ...comments,
      source: this.createSource(start, ''),
      name,
      target,
    }
  }

  private readScalar(properties: Properties): YamlScalar {
    const { tokens } = this
    const { start, end, scalar } = tokens.readCurrent()
    const comments = this.comments.take()
    tokens.take()
    const { tag, anchor } = properties
    const { value, style, unended }: ScalarText = scalar ?? {
      value: '',
      style: 'plain',
      start,
      end,
    }
    const source = this.createSource(start, tag, end)
    return this.registerAnchor({
      kind: 'scalar',
      tag,
      anchor,
      ...comments,
      source: unended ? { ...source, unended } : source,
      value,
      style,
    })
  }

  private empty(at: number, { tag, anchor }: Properties = NO_PROPERTIES): YamlScalar {
    return this.registerAnchor({
      kind: 'scalar',
      tag,
      anchor,
      ...NO_COMMENTS,
      source: this.createSource(at, tag, at),
      value: '',
      style: 'plain',
    })
  }

  /** @param location `value`: at the indentation of its map, without start and end tokens */
  private list(properties: Properties, comments: Comments, location: 'block' | 'value'): YamlList {
    const { tokens } = this
    const { start } = tokens.readCurrent()
    const node = this.registerAnchor(emptyList(properties, comments, 'block'))
    if (location === 'block') tokens.take()
    while (tokens.readCurrent().kind === '-') {
      const priorHead = tokens.head.length
      const { end } = tokens.take()
      this.comments.splitStem(priorHead)
      const { kind } = tokens.readCurrent()
      const isEmpty =
        kind === '-' ||
        kind === 'block-end' ||
        (location === 'value' && (kind === 'key' || kind === 'value'))
      node.items.push(isEmpty ? this.empty(end) : this.readNode(true, false))
    }
    trim(node)
    node.source = this.createSource(start, node.tag)
    if (location === 'block') this.takeBlockEnd()
    return node
  }

  private takeBlockEnd(): void {
    const token = this.tokens.readCurrent()
    if (token.kind !== 'block-end') throw createMisplacedRefusal(token)
    this.tokens.take()
  }

  private map(properties: Properties): YamlMap {
    const { tokens } = this
    const { start } = tokens.readCurrent()
    const node = this.registerAnchor(emptyMap(properties, this.comments.takeStem(), 'block'))
    tokens.take()
    for (let token = tokens.readCurrent(); token.kind === 'key'; token = tokens.readCurrent()) {
      const { end } = tokens.take()
      const key = isBlockEmpty(tokens.readCurrent().kind)
        ? this.empty(end)
        : this.readNode(true, true)
      const before = node.entries.at(-1)
      if (key.footComment !== '' && before !== undefined) {
        // A dedented comment belongs to the entry before.
        before.key.footComment = key.footComment
        key.footComment = ''
      }
      node.entries.push(moveFootToKey({ key, value: this.blockValue() }))
    }
    const last = node.entries.at(-1)
    trim(node)
    node.source = this.createSource(start, node.tag)
    if (tokens.readCurrent().kind !== 'block-end')
      throw createMisplacedRefusal(tokens.readCurrent())
    const { lineComment, footComment } = this.comments.take()
    node.lineComment = lineComment
    if (footComment !== '' && last !== undefined) last.key.footComment = footComment
    tokens.take()
    return node
  }

  private blockValue(): YamlNode {
    const { tokens } = this
    if (tokens.readCurrent().kind !== 'value') return this.empty(tokens.lastEnd)
    const { end } = tokens.take()
    return isBlockEmpty(tokens.readCurrent().kind) ? this.empty(end) : this.readNode(true, true)
  }

  private readFlowList(properties: Properties): YamlList {
    const { tokens } = this
    const { start } = tokens.readCurrent()
    const { headComment } = this.comments.take()
    const node = this.registerAnchor(emptyList(properties, { ...NO_COMMENTS, headComment }, 'flow'))
    tokens.take()
    while (tokens.readCurrent().kind !== ']') {
      if (node.items.length > 0) this.takeComma()
      const { kind } = tokens.readCurrent()
      if (kind === ']') break
      node.items.push(kind === 'key' ? this.pair() : this.readNode(false, false))
    }
    this.endFlow(node, start)
    return node
  }

  private takeComma(): void {
    const token = this.tokens.readCurrent()
    if (token.kind !== ',')
      throw new YamlRefusal(token.start, 'a comma or a closing bracket is missing')
    this.tokens.take()
  }

  private endFlow(node: YamlList | YamlMap, start: number): void {
    const { lineComment, footComment } = this.comments.take()
    this.tokens.take()
    trim(node)
    node.lineComment = lineComment
    node.footComment = footComment
    node.source = this.createSource(start, node.tag)
  }

  private pair(): YamlMap {
    const { tokens } = this
    const { start, end } = tokens.take()
    const { kind } = tokens.readCurrent()
    const isEmpty = kind === 'value' || kind === ',' || kind === ']'
    const key = isEmpty ? this.empty(end) : this.readNode(false, false)
    const entry = moveFootToKey({ key, value: this.readFlowValue(']') })
    return {
      kind: 'map',
      ...NO_PROPERTIES,
      ...NO_COMMENTS,
      source: this.createSource(start, ''),
      style: 'flow',
      entries: [entry],
    }
  }

  private readFlowMap(properties: Properties): YamlMap {
    const { tokens } = this
    const { start } = tokens.readCurrent()
    const { headComment } = this.comments.take()
    const node = this.registerAnchor(emptyMap(properties, { ...NO_COMMENTS, headComment }, 'flow'))
    tokens.take()
    while (tokens.readCurrent().kind !== '}') {
      if (node.entries.length > 0) this.takeComma()
      const token = tokens.readCurrent()
      if (token.kind === '}') break
      if (token.kind === 'key') tokens.take()
      const { kind } = tokens.readCurrent()
      const isEmpty = token.kind === 'key' && (kind === 'value' || kind === ',' || kind === '}')
      const key = isEmpty ? this.empty(tokens.lastEnd) : this.readNode(false, false)
      node.entries.push(
        moveFootToKey({
          key,
          value: token.kind === 'key' ? this.readFlowValue('}') : this.empty(tokens.lastEnd),
        }),
      )
    }
    this.endFlow(node, start)
    return node
  }

  private readFlowValue(close: ']' | '}'): YamlNode {
    const { tokens } = this
    if (tokens.readCurrent().kind !== 'value') return this.empty(tokens.lastEnd)
    const { end } = tokens.take()
    const { kind } = tokens.readCurrent()
    return kind === ',' || kind === close ? this.empty(end) : this.readNode(false, false)
  }
}

const COLLECTION_STARTS: ReadonlySet<TokenKind> = new Set([
  '[',
  '{',
  '-',
  'list-start',
  'map-start',
])

function isBlockEmpty(kind: string): boolean {
  return kind === 'key' || kind === 'value' || kind === 'block-end'
}
