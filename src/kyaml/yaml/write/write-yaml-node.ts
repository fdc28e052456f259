/** Byte for byte like go-yaml's encoder for kpt. */
import type { YamlList, YamlMap, YamlNode, YamlScalar } from '../yaml-node.ts'
import { chooseScalarStyle, detectScalarForm, formatDoubleQuoted } from '../yaml-scalar-form.ts'
import { getWantedStyle, getWrittenTag } from '../yaml-tag.ts'
import { YAML_INDENT, YamlOutput } from './write-yaml-output.ts'

interface WriteYamlOptions {
  /** Whether a list inside a map is indented (`wide`). Default `compact`. */
  readonly sequenceIndent?: 'compact' | 'wide'
}

/** With a final line break, without `---`. */
export function writeYamlNode(node: YamlNode, options: WriteYamlOptions = {}): string {
  return writeYamlDocuments([{ node, ...options }])
}

interface YamlDocument extends WriteYamlOptions {
  readonly node: YamlNode
}

/** go-yaml writes an unplaced comment into the next document. */
export function writeYamlDocuments(documents: readonly YamlDocument[]): string {
  const writer = new YamlWriter()
  for (const { node, sequenceIndent } of documents)
    writer.writeDocument(node, sequenceIndent !== 'wide')
  return writer.getText()
}

/** Bytes of the longest key without a `?`. */
const MAX_SIMPLE_KEY = 128

interface Comments {
  readonly headComment?: string
  readonly lineComment?: string
  readonly footComment?: string
  /** The previous entry's foot comment, written after its value. */
  readonly tail?: string
}

type Location = 'root' | 'item' | 'value' | 'simple-key' | 'key'

/**
 * go-yaml's emitter (`emitterc.go`) is a machine over events. Comments are written at fixed points,
 * so one may stay for a later node. Hence a node's `start` and `body` are two calls, with the
 * parent's work in between.
 */
class YamlWriter {
  private compact = true
  private readonly out = new YamlOutput()
  private flowLevel = 0
  private isMapValue = false
  private head = ''
  private line = ''
  private foot = ''
  private tail = ''
  private keyLine = ''

  getText(): string {
    return this.out.text
  }

  writeDocument(root: YamlNode, compact: boolean): void {
    this.compact = compact
    if (this.out.text !== '') {
      this.out.writeIndicator('---', true, false, false)
      this.out.writeIndent()
    }
    const [own, ofDocument] = splitFootComments(root)
    this.arrive(startComments(root))
    if (root.kind === 'scalar' || root.kind === 'alias') this.foot = own
    this.writeHead()
    this.start(root, 'root')
    this.writeLine()
    this.writeFoot()
    this.writeBody(own === root.footComment ? root : { ...root, footComment: own })
    this.arrive({ footComment: ofDocument })
    this.out.footIndent = 0
    this.writeFoot()
    this.out.footIndent = -1
    this.out.writeIndent()
  }

  private arrive({
    headComment = '',
    lineComment = '',
    footComment = '',
    tail = '',
  }: Comments): void {
    if (headComment !== '') this.head = headComment
    if (lineComment !== '') this.line = lineComment
    if (footComment !== '') this.foot = footComment
    if (tail !== '') this.tail = tail
  }

  private hasTrail(): boolean {
    return this.line !== '' || this.foot !== '' || this.tail !== ''
  }

  private start(node: YamlNode, location: Location): void {
    this.isMapValue = location !== 'root' && location !== 'item'
    if (node.kind === 'alias') {
      this.out.writeIndicator(`*${node.name}`, true, false, false)
      return
    }
    if (node.kind === 'scalar') {
      this.writeScalar(node, location === 'simple-key')
      return
    }
    this.writeProperties(node.anchor, getWrittenTag(node))
  }

  private writeProperties(anchor: string, tag: string): void {
    if (anchor !== '') this.out.writeIndicator(`&${anchor}`, true, false, false)
    if (tag !== '') this.out.writeIndicator(tag, true, false, false)
  }

  private writeBody(node: YamlNode): void {
    if (node.kind === 'list') {
      if (this.flowLevel > 0 || node.style === 'flow' || node.items.length === 0)
        this.writeFlowList(node)
      else this.blockList(node)
    } else if (node.kind === 'map') {
      if (this.flowLevel > 0 || node.style === 'flow' || node.entries.length === 0)
        this.writeFlowMap(node)
      else this.blockMap(node)
    }
  }

  private blockList(node: YamlList): void {
    const { indent } = this.out
    const below = this.isMapValue && (this.out.column === 0 || !this.out.indention) && this.compact
    this.out.indent = indent < 0 ? 0 : below ? indent : indent + YAML_INDENT
    for (const item of node.items) {
      this.arrive(startComments(item))
      this.writeHead()
      this.out.writeIndent()
      this.out.writeIndicator('-', true, false, true)
      this.start(item, 'item')
      this.writeLine()
      this.writeFoot()
      this.writeBody(item)
    }
    this.arrive({ lineComment: node.lineComment, footComment: node.footComment })
    this.out.indent = indent
  }

  private blockMap(node: YamlMap): void {
    const { indent } = this.out
    this.out.indent = indent < 0 ? 0 : indent + YAML_INDENT
    let tail = ''
    for (const { key, value } of node.entries) {
      this.arrive({ ...startComments(key, tail), footComment: '' })
      tail = key.footComment
      this.writeHead()
      this.out.writeIndent()
      if (this.line !== '') {
        this.keyLine = this.line
        this.line = ''
      }
      const simple = isSimpleKey(key)
      if (!simple) this.out.writeIndicator('?', true, false, true)
      this.start(key, simple ? 'simple-key' : 'key')
      this.writeBody(key)
      this.arrive(startComments(value))
      if (simple) this.out.writeIndicator(':', false, false, false)
      else {
        this.out.writeIndent()
        this.out.writeIndicator(':', true, false, true)
      }
      if (this.keyLine !== '') this.placeKeyLine(value)
      this.start(value, 'value')
      this.writeLine()
      this.writeFoot()
      this.writeBody(value)
    }
    this.arrive({ tail, lineComment: node.lineComment, footComment: node.footComment })
    this.writeHead()
    this.out.indent = indent
  }

  private placeKeyLine(value: YamlNode): void {
    if (value.kind === 'scalar') {
      if (this.line !== '') return
      this.line = this.keyLine
      this.keyLine = ''
    } else if (value.kind !== 'alias' && value.style !== 'flow') {
      const { line } = this
      this.line = this.keyLine
      this.writeLine()
      this.keyLine = this.line
      this.line = line
    }
  }

  private writeFlowList(node: YamlList): void {
    const { indent } = this.out
    this.openFlow('[')
    let comma = false
    for (const item of node.items) {
      this.arrive(startComments(item))
      if (comma) this.out.writeIndicator(',', false, false, false)
      this.writeHead()
      if (this.out.column === 0) this.out.writeIndent()
      comma = !this.hasTrail()
      this.start(item, 'item')
      if (this.hasTrail()) this.out.writeIndicator(',', false, false, false)
      this.writeLine()
      this.writeFoot()
      this.writeBody(item)
    }
    this.arrive({ lineComment: node.lineComment, footComment: node.footComment })
    this.flowLevel -= 1
    this.out.indent = indent
    if (this.out.column === 0) this.out.writeIndent()
    this.closeFlow(']')
  }

  private writeFlowMap(node: YamlMap): void {
    const { indent } = this.out
    this.openFlow('{')
    let comma = false
    let tail = ''
    for (const { key, value } of node.entries) {
      this.arrive({ ...startComments(key, tail), footComment: '' })
      tail = key.footComment
      if (comma) this.out.writeIndicator(',', false, false, false)
      this.writeHead()
      if (this.out.column === 0) this.out.writeIndent()
      const simple = isSimpleKey(key)
      if (!simple) this.out.writeIndicator('?', true, false, false)
      this.start(key, simple ? 'simple-key' : 'key')
      this.writeBody(key)
      this.arrive(startComments(value))
      this.out.writeIndicator(':', !simple, false, false)
      comma = !this.hasTrail()
      this.start(value, 'value')
      if (this.hasTrail()) this.out.writeIndicator(',', false, false, false)
      this.writeLine()
      this.writeFoot()
      this.writeBody(value)
    }
    this.arrive({ tail, lineComment: node.lineComment, footComment: node.footComment })
    if (comma && (this.head !== '' || this.foot !== '' || this.tail !== ''))
      this.out.writeIndicator(',', false, false, false)
    this.writeHead()
    this.flowLevel -= 1
    this.out.indent = indent
    this.closeFlow('}')
  }

  private openFlow(bracket: string): void {
    this.out.writeIndicator(bracket, true, true, false)
    this.out.indent = this.out.indent < 0 ? YAML_INDENT : this.out.indent + YAML_INDENT
    this.flowLevel += 1
  }

  private closeFlow(bracket: string): void {
    this.out.writeIndicator(bracket, false, false, false)
    this.writeLine()
    this.writeFoot()
  }

  private writeScalar(node: YamlScalar, isSimpleKey: boolean): void {
    const { value } = node
    const style = chooseScalarStyle(value, getWantedStyle(node), detectScalarForm(value), {
      inFlow: this.flowLevel > 0,
      isSimpleKey,
    })
    this.writeProperties(node.anchor, getWrittenTag(node))
    const { indent } = this.out
    this.out.indent = indent < 0 ? YAML_INDENT : indent + YAML_INDENT
    if (style === 'plain') this.out.writePlain(value)
    else if (style === 'double')
      this.out.writeIndicator(formatDoubleQuoted(value), true, false, false)
    else if (style === 'single') this.out.writeSingleQuoted(value)
    else {
      const { line } = this
      this.line = ''
      this.out.block(value, style, line)
    }
    this.out.indent = indent
  }

  private writeHead(): void {
    if (this.tail !== '') {
      this.out.writeIndent()
      this.out.writeComment(this.tail)
      this.tail = ''
      this.out.footIndent = Math.max(this.out.indent, 0)
    }
    if (this.head === '') return
    this.out.writeIndent()
    this.out.writeComment(this.head)
    this.head = ''
  }

  private writeLine(): void {
    if (this.line === '') return
    this.out.writeLineComment(this.line)
    this.line = ''
  }

  private writeFoot(): void {
    if (this.foot === '') return
    this.out.writeIndent()
    this.out.writeComment(this.foot)
    this.foot = ''
    this.out.footIndent = Math.max(this.out.indent, 0)
  }
}

function startComments(node: YamlNode, tail = ''): Comments {
  const { headComment } = node
  if (node.kind === 'list') return { headComment }
  if (node.kind === 'map') return { headComment, tail }
  const { lineComment, footComment } = node
  return node.kind === 'alias'
    ? { headComment, lineComment, footComment }
    : { headComment, lineComment, footComment, tail }
}

function isSimpleKey(key: YamlNode): boolean {
  if (key.kind === 'alias') return countBytes(key.name) <= MAX_SIMPLE_KEY
  let length = countBytes(key.anchor) + getWrittenTag(key).length
  if (key.kind === 'scalar') {
    if (detectScalarForm(key.value).multiline) return false
    length += countBytes(key.value)
  } else if ((key.kind === 'map' ? key.entries : key.items).length > 0) return false
  return length <= MAX_SIMPLE_KEY
}

function countBytes(text: string): number {
  return text.length * 3 <= MAX_SIMPLE_KEY ? text.length : new TextEncoder().encode(text).length
}

/** The document's comes after an empty line. A block has one for both. */
function splitFootComments(root: YamlNode): readonly [own: string, ofDocument: string] {
  const { footComment } = root
  if ((root.kind === 'map' || root.kind === 'list') && root.style === 'block')
    return [footComment, '']
  if (footComment.startsWith('\n')) return ['', footComment.slice(1)]
  const at = footComment.lastIndexOf('\n\n')
  return at === -1 ? [footComment, ''] : [footComment.slice(0, at), footComment.slice(at + 2)]
}
