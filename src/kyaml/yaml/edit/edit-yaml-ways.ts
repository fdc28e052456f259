/** The most faithful to the old text first. */
import type { Json } from '../../text/json.ts'
import type { YamlScalar } from '../yaml-node.ts'
import { findNextLine } from './edit-yaml-block.ts'
import { getRange } from './edit-yaml-location.ts'
import {
  type BlockText,
  formatFoldedBlock,
  formatLiteralBlock,
  quoteDouble,
} from './edit-yaml-scalar.ts'
import type { YamlStyle } from './edit-yaml-style.ts'
import {
  blockHeader,
  indent,
  type WriteLocation,
  type Written,
  writeBlock,
  writeFlow,
} from './edit-yaml-write.ts'

interface OldScalar {
  readonly scalar: YamlScalar
  readonly text: string
}

/** @param location undefined inside brackets */
export function listWaysToWrite(
  value: Json,
  location: WriteLocation | undefined,
  old: OldScalar | undefined,
  style: YamlStyle,
): readonly Written[] {
  const quotes =
    old?.scalar.style === 'double' || old?.scalar.style === 'single' ? old.scalar.style : 'plain'
  if (location === undefined)
    return [
      createOneLine(writeFlow(value, style, quotes)),
      ...(typeof value === 'string' ? [createOneLine(quoteDouble(value))] : []),
    ]
  if (typeof value !== 'string') return [writeBlock(value, location, style, quotes)]
  const ways: (Written | undefined)[] = []
  const isBlock = old?.scalar.style === 'literal' || old?.scalar.style === 'folded'
  const block = isBlock ? readBlock(old, location, style) : undefined
  if (block !== undefined) {
    if (block.folded)
      ways.push(convertToWritten(formatFoldedBlock(value, block.width), block, false))
    ways.push(convertToWritten(formatLiteralBlock(value, block.indicator), block, true))
    ways.push(
      convertToWritten(
        formatLiteralBlock(value, String(block.column - location.column)),
        block,
        true,
      ),
    )
  }
  // It keeps its escapes.
  if (quotes === 'double' && value.includes('\n')) ways.push(createOneLine(quoteDouble(value)))
  ways.push(writeBlock(value, location, style, quotes), createOneLine(quoteDouble(value)))
  return ways.filter((way) => way !== undefined)
}

function createOneLine(head: string): Written {
  return { head, lines: [] }
}

interface OldBlock {
  readonly folded: boolean
  readonly indicator: string
  readonly column: number
  readonly width: number
  readonly raw: readonly string[]
}

function readBlock(
  { scalar, text }: OldScalar,
  location: WriteLocation,
  style: YamlStyle,
): OldBlock {
  const { start, end } = getRange(scalar)
  const indicator = /[1-9]/.exec(blockHeader(text, start))?.[0] ?? ''
  const raw = text.slice(findNextLine(text, start), end).split(/\r?\n/)
  const content = raw.find((line) => line.trim() !== '')
  const column =
    indicator !== ''
      ? location.column + Number(indicator)
      : content === undefined
        ? location.column + style.step
        : content.length - content.trimStart().length
  return {
    folded: scalar.style === 'folded',
    indicator,
    column,
    width: Math.max(...raw.map((line) => line.length)) - column,
    raw,
  }
}

function convertToWritten(
  block: BlockText | undefined,
  old: OldBlock,
  keepRaw: boolean,
): Written | undefined {
  if (block === undefined) return undefined
  const lines = indent(block.lines, old.column)
  return { head: block.header, lines: keepRaw ? restoreRawBlanks(lines, old.raw) : lines }
}

/** An unmoved blank line keeps insignificant spaces. */
function restoreRawBlanks(lines: readonly string[], raw: readonly string[]): readonly string[] {
  const same = (line: string | undefined, other: string | undefined): boolean =>
    line === other || (line === '' && other?.trim() === '')
  const result = [...lines]
  for (let index = 0; index < lines.length && same(lines[index], raw[index]); index += 1)
    result[index] = raw[index] ?? ''
  return result
}
