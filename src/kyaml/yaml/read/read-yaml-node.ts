import type { YamlNode } from '../yaml-node.ts'
import {
  checkYamlText,
  countBelow,
  createInvalidYaml,
  createTooLargeYaml,
  findOffsets,
  formatPosition,
  LineIndex,
  type Offsets,
} from './go-yaml-text.ts'
import { type GoValues, readGoValues } from './go-yaml-values.ts'
import { NodeMeter } from './read-yaml-limits.ts'
import { YamlRefusal } from './read-yaml-refusal.ts'
import { readYamlTree, type SourceAt } from './read-yaml-tree.ts'

/** Neither empty nor null. Offsets refer to the whole text. */
export interface YamlDocument extends GoValues {
  readonly node: YamlNode
}

/**
 * @throws Failure BP1110 (not valid, with file:line:column) or BP1111 (10 MiB, 100 deep, 10,000
 * documents, 500,000 nodes, 100,000 aliased values)
 */
export function readYamlDocuments(
  text: string,
  where: string,
  meter = new NodeMeter(),
): readonly YamlDocument[] {
  checkYamlText(text, where)
  try {
    return readDocuments(text, where, meter)
  } catch (thrown) {
    if (!(thrown instanceof YamlRefusal)) throw thrown
    const location = formatPosition(
      where,
      new LineIndex(text).getPosition(Math.min(thrown.offset, text.length)),
    )
    throw thrown.code === 'BP1110'
      ? createInvalidYaml(location, thrown.message, thrown.remedy)
      : createTooLargeYaml(location, thrown.message, thrown.remedy)
  }
}

export function readYamlNodes(text: string, where: string, meter?: NodeMeter): YamlNode[] {
  return readYamlDocuments(text, where, meter).map(({ node }) => node)
}

/** @throws YamlRefusal with its offset in the text */
export function readDocuments(
  text: string,
  where: string,
  meter = new NodeMeter(),
): readonly YamlDocument[] {
  const lines = new WithoutCarriageReturns(text)
  const documents: YamlDocument[] = []
  for (const { start, end } of goPieces(lines.text)) {
    const document = documents.length
    const node = readTree(lines.text.slice(start, end), (from, to) => ({
      path: where,
      document,
      start: lines.getOriginalOffset(start + from),
      end: lines.getOriginalOffset(start + to),
    }))
    if (node === undefined) continue
    const values = readGoValues(node)
    if (values.value !== null) documents.push({ node, ...values })
  }
  return documents

  function readTree(piece: string, sourceAt: SourceAt): YamlNode | undefined {
    try {
      return readYamlTree(piece, sourceAt, meter)
    } catch (thrown) {
      if (!(thrown instanceof YamlRefusal)) throw thrown
      throw new YamlRefusal(
        sourceAt(thrown.offset, thrown.offset).start,
        thrown.message,
        thrown.remedy,
        thrown.code,
      )
    }
  }
}

class WithoutCarriageReturns {
  readonly text: string
  /** Ascending, of line breaks that had a CR. */
  private readonly removed: Offsets

  constructor(original: string) {
    this.text = original.includes('\r\n') ? original.replaceAll('\r\n', '\n') : original
    this.removed = findOffsets(original, '\r\n')
    for (let index = 1; index < this.removed.length; index += 1)
      this.removed[index] = (this.removed[index] ?? 0) - index
  }

  getOriginalOffset(offset: number): number {
    return offset + countBelow(this.removed, offset)
  }
}

/**
 * The parts that kyaml passes to go-yaml: split at every `---` line except one at the start
 * (`kio/byteio_reader.go`, `splitDocuments`).
 */
function* goPieces(text: string): Generator<{ readonly start: number; readonly end: number }> {
  // go-yaml skips a byte order mark only at the start of a part.
  const behindMark = (at: number): number => (text[at] === '\uFEFF' ? at + 1 : at)
  let start = behindMark(0)
  const separators = /\n---.*\n/g
  for (let match = separators.exec(text); match !== null; match = separators.exec(text)) {
    yield { start, end: match.index + 1 }
    start = behindMark(separators.lastIndex)
  }
  yield { start, end: text.length }
}
