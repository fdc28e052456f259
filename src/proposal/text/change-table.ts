import { formatMarkdownBlock, formatMarkdownCell } from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Change } from '../../record/documents/change.ts'
import { parseHiddenBytes } from '../../record/format-value.ts'
import { formatDocument } from '../../record/write-document.ts'
import { getWorstRisk, type NumberedChange, type ObjectChanges } from './proposal-subject.ts'
import {
  count,
  formatChangeSides,
  formatFieldCell,
  formatFieldName,
  formatMarkdownTable,
  formatObjectLink,
  formatRiskWord,
  formatWriter,
  formatWriterName,
  formatWrittenAt,
  type LinkBase,
  planWord,
  time,
} from './words.ts'

/**
 * A pull request page is 850 pixels wide, and a forge hides the rest: the plan, which people decide
 * about, comes first, and the times are in the note about writers.
 */
export function changeTable(
  changes: readonly NumberedChange[],
  links: LinkBase | undefined,
): string[] {
  const rows = changes.map(({ change, number }) => {
    const { git, live } = formatChangeSides(change)
    return [
      String(number),
      planWord(change.resolution),
      `${formatObjectLink(change, links)} ${formatFieldCell(change)}`,
      git,
      `${live} (${formatWriterName(change)})`,
      formatRiskWord(change.risk),
    ]
  })
  return formatMarkdownTable(
    ['#', 'Plan', 'Object and field', 'In git', 'In the cluster, by ¹', 'Risk'],
    rows,
  )
}

export function formatKindTable(objects: readonly ObjectChanges[]): string[] {
  const kinds = [...Map.groupBy(objects, ({ ref }) => ref.kind)].sort(([left], [right]) =>
    left < right ? -1 : 1,
  )
  const rows = kinds
    .slice(0, KINDS_SHOWN)
    .map(([kind, own]) => formatKindRow(formatMarkdownCell(kind, 60), own))
  const rest = kinds.slice(KINDS_SHOWN).flatMap(([, own]) => own)
  if (rest.length > 0)
    rows.push(formatKindRow(count(kinds.length - KINDS_SHOWN, 'more kind'), rest))
  return formatMarkdownTable(['Kind', 'Plan', 'Objects', 'Changes', 'Highest risk'], rows)
}

const KINDS_SHOWN = 20

function formatKindRow(kind: string, own: readonly ObjectChanges[]): string[] {
  const changes = own.flatMap((object) => object.changes.map(({ change }) => change))
  return [
    kind,
    planCounts(changes),
    String(own.length),
    String(changes.length),
    formatRiskWord(getWorstRisk(changes)),
  ]
}

export function planCounts(changes: readonly Change[]): string {
  const plans = (['Adopt', 'Release', 'Restore'] as const).flatMap((plan) => {
    const number = changes.filter(({ resolution }) => resolution === plan).length
    return number === 0 ? [] : [{ plan, number }]
  })
  const [only] = plans
  return plans.length === 1 && only !== undefined
    ? only.plan
    : plans.map(({ plan, number }) => `${plan} ${number}`).join(', ')
}

export function formatObjectList(objects: readonly ObjectChanges[]): string[] {
  return objects.map(({ ref, changes, risk }) => {
    const fields = changes
      .slice(0, FIELDS_LISTED)
      .map(({ change, number }) => `${number} ${formatFieldName(change)}`)
    const more = changes.length > FIELDS_LISTED ? ` and ${changes.length - FIELDS_LISTED} more` : ''
    return `- ${formatMarkdownCell(describeResourceId(ref), 120)}, ${formatRiskWord(risk)}: ${fields.join(', ')}${more}`
  })
}

const FIELDS_LISTED = 5
const LINES_LIMIT = 40
const LINE_LIMIT = 300

export function hasDiff({ changes }: ObjectChanges): boolean {
  return changes.some(({ change }) => change.path !== undefined && change.redacted !== true)
}

export function formatObjectDiff({ changes }: ObjectChanges, most: number): string {
  const lines = changes.slice(0, most).flatMap(({ change }) => changeLines(change))
  if (changes.length > most)
    lines.push(`# and ${count(changes.length - most, 'more change')} of this object`)
  return formatMarkdownBlock(lines.join('\n'), 'diff', LINE_LIMIT)
}

function changeLines(change: Change): string[] {
  const object = convertToOneLine(describeResourceId(change.ref), LINE_LIMIT)
  if (change.change === 'missing') return [`- ${object} is declared`, '+ (nothing in the cluster)']
  if (change.change === 'unexpected') return ['- (nothing in git)', `+ ${object} is there`]
  const path = convertToOneLine(change.path ?? '', LINE_LIMIT)
  const [git, live] = [formatValueLines(change.git), formatValueLines(change.live)]
  if (git.length <= 1 && live.length <= 1)
    return [...git.map((line) => `- ${path}: ${line}`), ...live.map((line) => `+ ${path}: ${line}`)]
  // With three leading spaces, no reader takes a value's line for a list box.
  return [`@@ ${path} @@`, ...trimCommonLines(git, live)]
}

function trimCommonLines(git: readonly string[], live: readonly string[]): string[] {
  let start = 0
  while (start < git.length && start < live.length && git[start] === live[start]) start += 1
  let end = 0
  while (
    end < git.length - start &&
    end < live.length - start &&
    git.at(-1 - end) === live.at(-1 - end)
  )
    end += 1
  const cut = (lines: readonly string[], mark: string): string[] => {
    const own = lines.slice(start, lines.length - end)
    const shown = own.slice(0, LINES_LIMIT).map((line) => `${mark}   ${line}`)
    return own.length > LINES_LIMIT
      ? [...shown, `# and ${count(own.length - LINES_LIMIT, 'more line')}`]
      : shown
  }
  const before = git.slice(0, start).slice(-1)
  const after = git.slice(git.length - end).slice(0, 1)
  return [...formatContext(before), ...cut(git, '-'), ...cut(live, '+'), ...formatContext(after)]
}

/** Bots search the start of every line for commands, even in code. */
function formatContext(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^\s*\//.test(line)).map((line) => `    ${line}`)
}

function formatValueLines(value: Change['git']): readonly string[] {
  if (value === undefined) return []
  if (typeof value === 'string') {
    const bytes = parseHiddenBytes(value)
    if (bytes !== undefined) return [`(hidden, ${count(bytes, 'byte')})`]
    if (value === 'redacted (not read)') return ['(hidden, not read)']
    return value.includes('\n') ? value.replace(/\n$/, '').split('\n') : [JSON.stringify(value)]
  }
  if (value === null || typeof value !== 'object') return [String(value)]
  const text = formatDocument(value).replace(/\n$/, '')
  return text.includes('\n') ? text.split('\n') : [text]
}

export function formatWriters(changes: readonly Change[], most: number): string {
  const byWriter = [...Map.groupBy(changes, formatWriter)].sort(
    ([one, left], [other, right]) => right.length - left.length || (one < other ? -1 : 1),
  )
  const [only] = byWriter
  if (byWriter.length === 1 && only !== undefined)
    return only[0] === 'unknown' ? 'an unknown writer' : only[0]
  const shown = byWriter.slice(0, most).map(([name, own]) => `${name} ${own.length}×`)
  return `${shown.join(', ')}${byWriter.length > most ? ` and ${count(byWriter.length - most, 'other')}` : ''}`
}

/** Undefined if no time is known. */
export function formatLastWritten(changes: readonly Change[]): string | undefined {
  const known = changes
    .filter((change) => formatWrittenAt(change) !== undefined)
    .map(({ actor }) => actor.at)
  const latest = known.sort().at(-1)
  return latest === undefined ? undefined : time(latest)
}
