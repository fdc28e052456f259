/**
 * kubectl and kpt split a file at every line that begins with `---` (apimachinery
 * `util/yaml/decoder.go`, kyaml `kio/byteio_reader.go`).
 */
import { Failure } from '../../failure.ts'
import { describeMost, MAX_YAML_DOCUMENTS, SPLIT } from './read-yaml-limits.ts'

export const MAX_YAML_BYTES = 10 * 1024 * 1024

const BYTE_ORDER_MARK = '\uFEFF'

/** From 1, columns in UTF-16 code units. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** Editors and terminals link this form. */
export function formatPosition(where: string, at: TextPosition): string {
  return `${where}:${at.line}:${at.column}`
}

/** The CR of a CRLF belongs to its line. */
export class LineIndex {
  private readonly breaks: Offsets

  constructor(text: string) {
    this.breaks = findOffsets(text, '\n')
  }

  getPosition(offset: number): TextPosition {
    const before = countBelow(this.breaks, offset)
    return {
      line: before + 1,
      column: offset - (before === 0 ? -1 : (this.breaks[before - 1] ?? 0)),
    }
  }
}

/** Ascending. A file of line breaks has ten million; numbers would take twice the memory. */
export type Offsets = Uint32Array

export function findOffsets(text: string, part: string): Offsets {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1
  const offsets = new Uint32Array(count)
  let index = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    offsets[index] = at
    index += 1
  }
  return offsets
}

export function countBelow(ascending: Offsets, bound: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) < bound) low = middle + 1
    else high = middle
  }
  return low
}

export function createInvalidYaml(where: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1110',
    what: 'the YAML is not valid',
    where,
    why,
    remedy,
    retry: 'on-change',
  })
}

export function createTooLargeYaml(where: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the YAML is not read',
    where,
    why,
    remedy,
    retry: 'on-change',
  })
}

/**
 * A byte order mark stays, so that the text can be written back byte for byte.
 * @throws Failure BP1111 above 10 MiB, BP1110 with the byte offset if it is not UTF-8
 */
export function decodeYaml(content: Uint8Array, where: string): string {
  if (content.length > MAX_YAML_BYTES) throw createTooLong(where)
  const [first, second] = content
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw createInvalidYaml(where, 'the file is UTF-16', 'save it as UTF-8')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    throw createInvalidYaml(
      where,
      `the bytes are not UTF-8 text, first at byte ${findFirstBadByte(content)}`,
      'save it as UTF-8',
    )
  }
}

/** A prefix that decodes is valid up to an unfinished character. */
function findFirstBadByte(content: Uint8Array): number {
  let good = 0
  let bad = content.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(content.subarray(0, middle), {
        stream: true,
      })
      good = middle
    } catch {
      bad = middle
    }
  }
  return good
}

function createTooManyDocuments(where: string): Failure {
  return createTooLargeYaml(
    where,
    `the file has ${describeMost(MAX_YAML_DOCUMENTS)} documents up to here`,
    SPLIT,
  )
}

function createTooLong(where: string): Failure {
  return createTooLargeYaml(
    where,
    `the file is larger than ${MAX_YAML_BYTES / 1024 / 1024} MiB`,
    SPLIT,
  )
}

/** May contain only comments. */
export interface YamlChunk {
  /** After the separator line, and up to the next one. */
  readonly start: number
  readonly end: number
  /** Equal to `start` without one. */
  readonly separator: number
}

export function splitChunks(text: string): readonly YamlChunk[] {
  return [...listChunks(text)]
}

function* listChunks(text: string): Generator<YamlChunk> {
  let separator = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let start = separator
  const lines = /^---[^\n]*(?:\n|$)/gm
  lines.lastIndex = start
  for (let match = lines.exec(text); match !== null; match = lines.exec(text)) {
    if (match.index > start || separator < start) yield { start, end: match.index, separator }
    separator = match.index
    start = match.index + match[0].length
    lines.lastIndex = Math.max(start, match.index + 1)
  }
  yield { start, end: text.length, separator }
}

const CHECKS: readonly (readonly [
  pattern: RegExp,
  why: (codePoint: string) => string,
  remedy: string,
])[] = [
  // go-yaml refuses these.
  [
    /[^\P{Cc}\t\n\r\u0085]|[\uFFFE\uFFFF]|\p{Cs}/u,
    (character) => `the character U+${character} is not allowed in YAML`,
    'remove it, or escape it in double quotes',
  ],
  [
    /\r(?!\n)|[\u0085\u2028\u2029]/,
    (character) => `U+${character} ends a line for kubectl and does not for other readers`,
    'end lines with LF or CRLF, and escape this character in double quotes',
  ],
  [
    /^---(?!\s*(?:#.*)?$).*/m,
    () => 'kubectl and kpt accept only a comment after "---"',
    'put what follows it on a line of its own',
  ],
]
const DIRECTIVE = /^(?:[ \t\r]*(?:#[^\n]*)?\n)*%/
const DOCUMENT_END = /^\.\.\.(?:\s.*)?$/m

/**
 * Refuses what kubectl refuses or reads differently from other readers.
 * @throws Failure BP1110 or BP1111
 */
export function checkYamlText(text: string, where: string): void {
  if (text.length > MAX_YAML_BYTES) throw createTooLong(where)
  const refuse = (offset: number, why: string, remedy: string): Failure =>
    createInvalidYaml(formatPosition(where, new LineIndex(text).getPosition(offset)), why, remedy)
  for (const [pattern, why, remedy] of CHECKS) {
    const match = pattern.exec(text)
    if (match !== null) throw refuse(match.index, why(formatCodePoint(match[0])), remedy)
  }
  let documents = 0
  for (const { start, end, separator } of listChunks(text)) {
    documents += 1
    if (documents > MAX_YAML_DOCUMENTS)
      throw createTooManyDocuments(
        formatPosition(where, new LineIndex(text).getPosition(separator)),
      )
    checkChunk(text.slice(start, end), start, refuse)
  }
}

function checkChunk(
  chunk: string,
  start: number,
  refuse: (offset: number, why: string, remedy: string) => Failure,
): void {
  const end = DOCUMENT_END.exec(chunk)
  if (end !== null && /^[ \t]*[^\s#]/m.test(chunk.slice(end.index + 3)))
    throw refuse(
      start + end.index,
      'kubectl and kpt do not read what follows "..."',
      'separate documents with "---"',
    )
  const directive = DIRECTIVE.exec(chunk)
  if (directive !== null)
    throw refuse(
      start + directive[0].length - 1,
      'kubectl and kpt do not read "%" directives',
      'remove the line',
    )
}

function formatCodePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
