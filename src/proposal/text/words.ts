import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import { formatHtmlCode, formatMarkdownCell, formatMarkdownLink } from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import { isKnownWriter } from '../../drift/attribute/actor.ts'
import { computeActorLimit, formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import { formatValue, parseHiddenBytes } from '../../record/format-value.ts'

const NAME_LIMIT = 120
const VALUE_LIMIT = 40
const FIELD_LIMIT = 40
const FIELD_PIECE_LIMIT = 32
const SHORT_LIMIT = 40
/** A browser does not break it: two of them and a field leave room for the other columns. */
const PIECE_LIMIT = 22
const CONTEXT = 16
/** Browsers break a line after `…`. */
const LEFT_OUT = '...'

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Anything but RFC 3339 UTC as code. Never relative: the text must not age. */
export function time(at: string): string {
  return formatPlainTime(at) ?? (at === '' ? 'an unknown time' : formatMarkdownCell(at, 40))
}

export function formatPlainTime(at: string): string | undefined {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/.exec(at) ?? []
  return day === undefined ? undefined : `${day} ${clock} UTC`
}

export function formatDuration(seconds: number): string {
  if (seconds >= 2 * 86_400) return count(Math.round(seconds / 86_400), 'day')
  return seconds >= 3_600
    ? count(Math.round(seconds / 3_600), 'hour')
    : count(Math.max(1, Math.round(seconds / 60)), 'minute')
}

const PLAN_WORDS = {
  Restore: 'Restore',
  Adopt: 'Adopt',
  Release: 'Release',
  Mixed: 'mixed',
} as const

export function planWord(plan: Plan): string {
  return PLAN_WORDS[plan]
}

export function formatRiskWord(risk: Change['risk']): string {
  return risk === 'critical' || risk === 'high' ? `**${risk}**` : risk
}

const CLASSES = {
  'human-tool': 'human tool',
  controller: 'controller',
  gitops: 'GitOps syncer',
  webhook: 'webhook',
  unknown: undefined,
} as const

export function formatWriterName({ actor }: Change): string {
  if (actor.confidence === 'none') return 'unknown'
  return `${actor.confidence === 'last-writer' ? 'perhaps ' : ''}${formatMarkdownCell(formatActorName(actor), computeActorLimit(actor, 60))}`
}

/** With `perhaps` if only the last writer is known. */
export function formatWriter(change: Change): string {
  const kind = CLASSES[change.actor.class]
  return `${formatWriterName(change)}${change.actor.confidence === 'none' || kind === undefined ? '' : ` (${kind})`}`
}

/** Undefined unless the manager owns the field, because only then the time is that of the change. */
export function formatWrittenAt({ actor }: Change): string | undefined {
  return actor.at === '' || !isKnownWriter(actor) ? undefined : time(actor.at)
}

export interface LinkBase {
  readonly base: ObjectId
  readonly dialect: ForgeDialect
}

export function formatObjectLink(
  change: Pick<Change, 'ref' | 'source'>,
  links: LinkBase | undefined,
): string {
  const name = formatMarkdownCell(describeResourceId(change.ref), NAME_LIMIT)
  return links === undefined
    ? name
    : formatMarkdownLink(name, formatSourceUrl(change.source, links.base, links.dialect))
}

/** Empty without a location. */
export function formatSourceUrl(
  location: string | undefined,
  base: ObjectId,
  dialect: ForgeDialect,
): string {
  const [, path, line] = /^(.+):(\d{1,9})$/s.exec(location ?? '') ?? []
  return path === undefined
    ? ''
    : dialect.fileUrl(base, path, Number(line) > 0 ? Number(line) : undefined)
}

interface Sides {
  readonly git: string
  readonly live: string
}

/** Inline code for table columns that begins near the first difference. */
export function formatChangeSides(change: Pick<Change, 'change' | 'git' | 'live'>): Sides {
  return formatSidesIn(change, PIECE_LIMIT)
}

function formatSidesIn(change: Pick<Change, 'change' | 'git' | 'live'>, piece: number): Sides {
  if (change.change === 'missing') return { git: 'declared', live: 'not there' }
  if (change.change === 'unexpected') return { git: 'not declared', live: 'there' }
  if (
    typeof change.git === 'string' &&
    typeof change.live === 'string' &&
    /\n/.test(change.git + change.live)
  )
    return formatFirstLines(change.git, change.live, piece)
  const [git, live] = [
    formatValue(change.git, Number.POSITIVE_INFINITY),
    formatValue(change.live, Number.POSITIVE_INFINITY),
  ]
  const long =
    (git.length > VALUE_LIMIT || live.length > VALUE_LIMIT) &&
    change.git !== undefined &&
    change.live !== undefined
  const from = long ? startOfDifference(git, measureCommonStart(git, live)) : 0
  return {
    git: formatSide(change.git, git, from, piece),
    live: formatSide(change.live, live, from, piece),
  }
}

function formatSide(value: Change['git'], text: string, from: number, piece: number): string {
  if (value === undefined) return 'nothing'
  if (text === '••••') {
    const bytes = parseHiddenBytes(value)
    return bytes === undefined ? 'hidden, not read' : `hidden, ${count(bytes, 'byte')}`
  }
  const shown = formatCellValue(
    from > LEFT_OUT.length ? LEFT_OUT + sliceFrom(text, from) : text,
    piece,
  )
  const bytes = new TextEncoder().encode(text).length
  return bytes < 1_024 ? shown : `${shown} (${(bytes / 1_024).toFixed(1)} KiB)`
}

/** Chromium and Firefox break a line after a blank, a hyphen and a slash. */
const BREAKS = /(?<=[\s/-])/

function formatCellValue(text: string, piece: number): string {
  let end = 0
  for (const { length } of text.slice(0, VALUE_LIMIT + 1).split(BREAKS)) {
    if (length > piece) return formatMarkdownCell(text, end + piece)
    end += length
  }
  return formatMarkdownCell(text, VALUE_LIMIT)
}

function formatFirstLines(git: string, live: string, piece: number): Sides {
  const [left, right] = [git.split('\n'), live.split('\n')]
  const at = measureCommonStart(left, right)
  const cell = (line: string | undefined): string =>
    line === undefined
      ? 'no such line'
      : `${line.trim() === '' ? 'a blank line' : formatCellValue(line, piece)} (line ${at + 1})`
  return { git: cell(left[at]), live: cell(right[at]) }
}

/** Undefined if one is long, hidden, a structure or not a field. */
export function formatShortSides(change: Change): Sides | undefined {
  const values = [change.git, change.live].filter((value) => value !== undefined)
  const short = values.every(
    (value) =>
      (value === null || typeof value !== 'object') && formatValue(value).length <= SHORT_LIMIT,
  )
  return change.path !== undefined && change.redacted !== true && short
    ? formatSidesIn(change, VALUE_LIMIT)
    : undefined
}

function measureCommonStart(
  left: string | readonly string[],
  right: string | readonly string[],
): number {
  let index = 0
  while (index < left.length && index < right.length && left[index] === right[index]) index += 1
  return index
}

function startOfDifference(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - CONTEXT), at)
  const word = Math.max(before.lastIndexOf('/'), before.lastIndexOf(' '), before.lastIndexOf(','))
  return word <= 0 ? Math.max(0, at - CONTEXT) : at - before.length + word + 1
}

/** Never splits a surrogate pair. */
function sliceFrom(text: string, from: number): string {
  const unit = text.charCodeAt(from)
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? from - 1 : from)
}

export function formatFieldName(change: Pick<Change, 'path'>): string {
  return change.path === undefined
    ? 'the whole object'
    : formatMarkdownCell(change.path, NAME_LIMIT)
}

/** The end of a long path distinguishes fields of one object. */
export function formatFieldCell(change: Pick<Change, 'path'>): string {
  const path = change.path ?? ''
  const fits = (text: string): boolean =>
    text.length <= FIELD_LIMIT &&
    text.split(BREAKS).every(({ length }) => length <= FIELD_PIECE_LIMIT)
  if (change.path === undefined || fits(path)) return formatFieldName(change)
  // A step begins after a dot outside of brackets.
  const ends = [...path.matchAll(/\.(?=[A-Za-z])/g)].map(({ index }) => path.slice(index + 1))
  const steps = ends.find(
    (rest) => fits(LEFT_OUT + rest) && rest.split('[').length === rest.split(']').length,
  )
  return formatMarkdownCell(
    LEFT_OUT + (steps ?? sliceFrom(path, path.length - FIELD_PIECE_LIMIT + LEFT_OUT.length)),
    NAME_LIMIT,
  )
}

export function formatFolded(
  dialect: ForgeDialect,
  words: string,
  name: string | undefined,
  content: readonly string[],
): string[] {
  if (dialect.folds)
    return [
      `<details><summary>${words}${name === undefined ? '' : ` ${formatHtmlCode(name, NAME_LIMIT)}`}</summary>`,
      '',
      ...content,
      '',
      '</details>',
      '',
    ]
  return [
    `**${words}${name === undefined ? '' : ` ${formatMarkdownCell(name, NAME_LIMIT)}`}**`,
    '',
    ...content,
    '',
  ]
}

/** A quote if the forge does not support alerts. Each line becomes a paragraph. */
export function formatBox(
  dialect: ForgeDialect,
  kind: 'caution' | 'warning' | 'note',
  lines: readonly string[],
): string[] {
  const quoted = lines.flatMap((line, index) => (index === 0 ? [`> ${line}`] : ['>', `> ${line}`]))
  if (dialect.alerts) return [`> [!${kind.toUpperCase()}]`, ...quoted, '']
  return [
    `> **${kind === 'note' ? 'Note' : kind === 'warning' ? 'Warning' : 'Caution'}:** ${quoted.join('\n').slice(2)}`,
    '',
  ]
}

export function formatMarkdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(head),
    `|${head.map((name) => (name === '#' ? '--:' : '---')).join('|')}|`,
    ...rows.map(line),
    '',
  ]
}

export function formatList(items: readonly string[], most: number, noun: string): string[] {
  const more = items.length - most
  return [
    ...items.slice(0, most).map((item) => `- ${item}`),
    ...(more > 0 ? [`- and ${count(more, `more ${noun}`)}`] : []),
  ]
}

export function capitalizeFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function formatClusterCell(cluster: string): string {
  return formatMarkdownCell(cluster, 60)
}

export function formatTableOfRows<Row>(
  rows: readonly Row[],
  columns: { readonly [head: string]: (row: Row) => string },
): string[] {
  const cells = Object.values(columns)
  return formatMarkdownTable(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  )
}

/** `limit` in UTF-16 code units; `amounts` from the longest text to the shortest. */
export function findFirstFitting<Amount>(
  amounts: readonly Amount[],
  textWith: (amount: Amount) => string,
  limit: number,
): string | undefined {
  for (const amount of amounts) {
    const text = textWith(amount)
    if (text.length <= limit) return text
  }
  return undefined
}
