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
  MAX_YAML_DEPTH,
  tooDeep,
  UnclosedYaml,
  withoutColon,
  YamlRefusal,
} from './read-yaml-refusal.ts'
import type { ScalarText } from './read-yaml-scalar.ts'
import type { TokenKind, YamlToken } from './read-yaml-token.ts'
import { YamlTokens } from './read-yaml-tokens.ts'
import {
  type Comments,
  NO_COMMENTS,
  TreeComments,
  withFootAtKey,
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
    return new TreeReader(tokens, sourceAt, meter).document()
  } catch (thrown) {
    const isSyntax =
      thrown instanceof YamlRefusal && thrown.code === 'BP1110' && !(thrown instanceof UnclosedYaml)
    throw isSyntax ? (tokens.unclosed() ?? thrown) : thrown
  }
}

function misplaced({ kind, start }: YamlToken): YamlRefusal {
  if (kind === 'scalar' || kind === 'alias' || kind === 'anchor' || kind === 'tag')
    return withoutColon(start)
  if (kind === 'list-start' || kind === 'map-start' || kind === '-' || kind === 'key')
    return new YamlRefusal(start, 'the indentation does not fit the lines above')
  return new YamlRefusal(start, 'something stands where it cannot')
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

  document(): YamlNode | undefined {
    const { tokens } = this
    const first = tokens.current()
    if (first.kind === 'stream-end') return undefined
    let head = ''
    if (first.kind === 'document-start') {
      tokens.take()
      const { kind } = tokens.current()
      if (kind === 'document-start' || kind === 'document-end' || kind === 'stream-end')
        return undefined
    } else head = this.comments.takeDocumentHead()
    const root = this.node(true, false)
    const end = tokens.current()
    if (end.kind === 'document-end') tokens.take()
    else if (end.kind !== 'document-start' && end.kind !== 'stream-end') throw misplaced(end)
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

  private source(start: number, tag: string, end = this.tokens.lastEnd): YamlSource {
    this.meter.count(start)
    const source = this.sourceAt(start, end)
    if (tag === '' || tag === '!') return source
    const tagged: TaggedSource = { ...source, tagged: true }
    return tagged
  }

  private anchored<T extends YamlNode>(node: T): T {
    if (node.anchor !== '') this.anchors.set(node.anchor, node)
    return node
  }

  private node(block: boolean, indentless: boolean): YamlNode {
    const { tokens } = this
    let token = tokens.current()
    if (token.kind === 'alias') return this.alias()
    let properties = NO_PROPERTIES
    while (token.kind === 'anchor' || token.kind === 'tag') {
      if (properties[token.kind] !== '')
        throw new YamlRefusal(token.start, `a value has two ${token.kind}s`)
      properties = { ...properties, [token.kind]: token.name ?? '' }
      tokens.take()
      token = tokens.current()
    }
    if (token.kind === 'scalar') return this.scalar(properties)
    if (this.depth === MAX_YAML_DEPTH && COLLECTION_STARTS.has(token.kind))
      throw tooDeep(token.start)
    this.depth += 1
    const collection = this.collection(token.kind, properties, block, indentless)
    this.depth -= 1
    if (collection !== undefined) return collection
    if (token.kind === 'alias')
      throw new YamlRefusal(token.start, 'an alias cannot have an anchor or a tag')
    if (properties !== NO_PROPERTIES) return this.empty(tokens.lastEnd, properties)
    throw misplaced(token)
  }

  private collection(
    kind: TokenKind,
    properties: Properties,
    block: boolean,
    indentless: boolean,
  ): YamlNode | undefined {
    if (indentless && kind === '-') return this.list(properties, NO_COMMENTS, 'value')
    if (kind === '[') return this.flowList(properties)
    if (kind === '{') return this.flowMap(properties)
    if (block && kind === 'list-start')
      return this.list(properties, this.comments.takeStem(), 'block')
    return block && kind === 'map-start' ? this.map(properties) : undefined
  }

  private alias(): YamlNode {
    const { tokens } = this
    const { start, name = '' } = tokens.current()
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
      source: this.source(start, ''),
      name,
      target,
    }
  }

  private scalar(properties: Properties): YamlScalar {
    const { tokens } = this
    const { start, end, scalar } = tokens.current()
    const comments = this.comments.take()
    tokens.take()
    const { tag, anchor } = properties
    const { value, style, unended }: ScalarText = scalar ?? {
      value: '',
      style: 'plain',
      start,
      end,
    }
    const source = this.source(start, tag, end)
    return this.anchored({
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
    return this.anchored({
      kind: 'scalar',
      tag,
      anchor,
      ...NO_COMMENTS,
      source: this.source(at, tag, at),
      value: '',
      style: 'plain',
    })
  }

  /** @param location `value`: at the indentation of its map, without start and end tokens */
  private list(properties: Properties, comments: Comments, location: 'block' | 'value'): YamlList {
    const { tokens } = this
    const { start } = tokens.current()
    const node = this.anchored(emptyList(properties, comments, 'block'))
    if (location === 'block') tokens.take()
    while (tokens.current().kind === '-') {
      const priorHead = tokens.head.length
      const { end } = tokens.take()
      this.comments.splitStem(priorHead)
      const { kind } = tokens.current()
      const isEmpty =
        kind === '-' ||
        kind === 'block-end' ||
        (location === 'value' && (kind === 'key' || kind === 'value'))
      node.items.push(isEmpty ? this.empty(end) : this.node(true, false))
    }
    trim(node)
    node.source = this.source(start, node.tag)
    if (location === 'block') this.takeBlockEnd()
    return node
  }

  private takeBlockEnd(): void {
    const token = this.tokens.current()
    if (token.kind !== 'block-end') throw misplaced(token)
    this.tokens.take()
  }

  private map(properties: Properties): YamlMap {
    const { tokens } = this
    const { start } = tokens.current()
    const node = this.anchored(emptyMap(properties, this.comments.takeStem(), 'block'))
    tokens.take()
    for (let token = tokens.current(); token.kind === 'key'; token = tokens.current()) {
      const { end } = tokens.take()
      const key = isBlockEmpty(tokens.current().kind) ? this.empty(end) : this.node(true, true)
      const before = node.entries.at(-1)
      if (key.footComment !== '' && before !== undefined) {
        // A dedented comment belongs to the entry before.
        before.key.footComment = key.footComment
        key.footComment = ''
      }
      node.entries.push(withFootAtKey({ key, value: this.blockValue() }))
    }
    const last = node.entries.at(-1)
    trim(node)
    node.source = this.source(start, node.tag)
    if (tokens.current().kind !== 'block-end') throw misplaced(tokens.current())
    const { lineComment, footComment } = this.comments.take()
    node.lineComment = lineComment
    if (footComment !== '' && last !== undefined) last.key.footComment = footComment
    tokens.take()
    return node
  }

  private blockValue(): YamlNode {
    const { tokens } = this
    if (tokens.current().kind !== 'value') return this.empty(tokens.lastEnd)
    const { end } = tokens.take()
    return isBlockEmpty(tokens.current().kind) ? this.empty(end) : this.node(true, true)
  }

  private flowList(properties: Properties): YamlList {
    const { tokens } = this
    const { start } = tokens.current()
    const { headComment } = this.comments.take()
    const node = this.anchored(emptyList(properties, { ...NO_COMMENTS, headComment }, 'flow'))
    tokens.take()
    while (tokens.current().kind !== ']') {
      if (node.items.length > 0) this.takeComma()
      const { kind } = tokens.current()
      if (kind === ']') break
      node.items.push(kind === 'key' ? this.pair() : this.node(false, false))
    }
    this.endFlow(node, start)
    return node
  }

  private takeComma(): void {
    const token = this.tokens.current()
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
    node.source = this.source(start, node.tag)
  }

  private pair(): YamlMap {
    const { tokens } = this
    const { start, end } = tokens.take()
    const { kind } = tokens.current()
    const isEmpty = kind === 'value' || kind === ',' || kind === ']'
    const key = isEmpty ? this.empty(end) : this.node(false, false)
    const entry = withFootAtKey({ key, value: this.flowValue(']') })
    return {
      kind: 'map',
      ...NO_PROPERTIES,
      ...NO_COMMENTS,
      source: this.source(start, ''),
      style: 'flow',
      entries: [entry],
    }
  }

  private flowMap(properties: Properties): YamlMap {
    const { tokens } = this
    const { start } = tokens.current()
    const { headComment } = this.comments.take()
    const node = this.anchored(emptyMap(properties, { ...NO_COMMENTS, headComment }, 'flow'))
    tokens.take()
    while (tokens.current().kind !== '}') {
      if (node.entries.length > 0) this.takeComma()
      const token = tokens.current()
      if (token.kind === '}') break
      if (token.kind === 'key') tokens.take()
      const { kind } = tokens.current()
      const isEmpty = token.kind === 'key' && (kind === 'value' || kind === ',' || kind === '}')
      const key = isEmpty ? this.empty(tokens.lastEnd) : this.node(false, false)
      node.entries.push(
        withFootAtKey({
          key,
          value: token.kind === 'key' ? this.flowValue('}') : this.empty(tokens.lastEnd),
        }),
      )
    }
    this.endFlow(node, start)
    return node
  }

  private flowValue(close: ']' | '}'): YamlNode {
    const { tokens } = this
    if (tokens.current().kind !== 'value') return this.empty(tokens.lastEnd)
    const { end } = tokens.take()
    const { kind } = tokens.current()
    return kind === ',' || kind === close ? this.empty(end) : this.node(false, false)
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
