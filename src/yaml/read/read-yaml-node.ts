/** Text to trees of nodes, comments attached as go-yaml attaches them. */

import type { YamlNode } from '../yaml-node.ts'
import { parseGoYaml } from './go-yaml.ts'
import { formatPosition, invalidYaml, LineIndex } from './go-yaml-text.ts'
import { UnreadableYaml } from './read-yaml-cursor.ts'
import { isSimpleYaml } from './read-yaml-simple.ts'
import { readYamlTree, type SourceAt } from './read-yaml-tree.ts'

/**
 * The documents of a file that are not empty, in their order.
 * @param where the path that errors and the nodes' sources name
 * @throws Failure BP1110 (not valid) or BP1111 (too large or too deep), as `parseGoYaml`
 */
export function readYamlNodes(text: string, where: string): YamlNode[] {
  // The check by our own parse costs ten times what the reading does.
  if (isSimpleYaml(text)) return readOwnYaml(text, where)
  const starts = parseGoYaml(text, where).documents.map(({ chunk, tree }) => chunk.start + (tree.contents.range?.[0] ?? 0))
  return [...trees(text, where, starts)]
}

/**
 * As `readYamlNodes`, without the check by our own parse: for text that `writeYamlNode` wrote. Some ten times faster.
 * @throws Failure BP1110 where go-yaml would not read it
 */
export function readOwnYaml(text: string, where: string): YamlNode[] {
  return [...trees(text, where, undefined)]
}

function* trees(text: string, where: string, starts: readonly number[] | undefined): Generator<YamlNode> {
  const lines = new WithoutCarriageReturns(text)
  let document = 0
  for (const { start, end } of goPieces(lines.text)) {
    if (starts !== undefined) {
      const at = starts[document]
      if (at === undefined) return
      if (at >= lines.original(end)) continue
    }
    const number = document
    const sourceAt: SourceAt = (from, to) => ({
      path: where,
      document: number,
      start: lines.original(start + from),
      end: lines.original(start + to),
    })
    let tree: YamlNode | undefined
    try {
      tree = readYamlTree(lines.text.slice(start, end), sourceAt)
    } catch (thrown) {
      if (!(thrown instanceof UnreadableYaml)) throw thrown
      const place = formatPosition(where, new LineIndex(text).position(lines.original(start + thrown.at)))
      throw invalidYaml(place, 'kpt does not read this, though kubectl may', 'write it in a plainer form')
    }
    if (tree === undefined) continue
    document += 1
    yield tree
  }
}

/** kyaml ends every line with LF before it reads; offsets must be those of the file. */
class WithoutCarriageReturns {
  readonly text: string
  /** Where in `text` a line break lost its CR, ascending. */
  private readonly removed: readonly number[]

  constructor(original: string) {
    if (!original.includes('\r\n')) {
      this.text = original
      this.removed = []
      return
    }
    const pieces = original.split('\r\n')
    const removed: number[] = []
    let at = -1
    for (const piece of pieces) {
      at += piece.length + 1
      removed.push(at)
    }
    removed.pop()
    this.text = pieces.join('\n')
    this.removed = removed
  }

  original(offset: number): number {
    let low = 0
    let high = this.removed.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.removed[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return offset + low
  }
}

/**
 * The pieces that kyaml hands to go-yaml one by one: cut at every `---` line but one at the start, which go-yaml reads itself
 * (`kio/byteio_reader.go`, `splitDocuments`).
 */
function* goPieces(text: string): Generator<{ readonly start: number; readonly end: number }> {
  let start = text.startsWith('\uFEFF') ? 1 : 0
  const separators = /\n---.*\n/g
  for (let match = separators.exec(text); match !== null; match = separators.exec(text)) {
    yield { start, end: match.index + 1 }
    start = separators.lastIndex
  }
  yield { start, end: text.length }
}
