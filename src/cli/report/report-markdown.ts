/**
 * GitHub Flavored Markdown that Gitea renders alike. Text from a cluster or git is encoded as code
 * (src/kyaml/text/markdown-text.ts).
 */
import {
  formatMarkdownCell,
  formatMarkdownCode,
  formatMarkdownProse,
} from '@backporch/kyaml/markdown'
import { computeActorLimit, formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { formatSides, formatValue, parseHiddenBytes } from '../../record/format-value.ts'
import { formatRollback } from '../../record/rolled-back.ts'
import { formatStuckLines, stateWord } from '../../record/stuck-lines.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { listObservedTimes } from '../print/freshness.ts'
import {
  count,
  formatObjectName,
  listRankedChanges,
  type RankedChange,
} from '../print/ranked-changes.ts'
import { formatPackageLabel } from '../session/ledger-session.ts'

/** Characters: a GitHub comment takes 65,536 (docs.github.com), Gitea and step summaries more. */
const TABLES_LIMIT = 50_000
const NAMES_LIMIT = 30
const INCOMPLETE_LIMIT = 20

interface MarkdownMore {
  /** In the whole list, if only some are shown. */
  readonly numbers?: ReadonlyMap<Change, number> | undefined
  /** Already encoded. */
  readonly also?: readonly string[]
}

export function formatMarkdown(
  list: DriftReportList,
  { numbers, also = [] }: MarkdownMore = {},
): string {
  const ranked = listRankedChanges(list, numbers)
  const hidden = numbers === undefined ? 0 : numbers.size - ranked.length
  const shown = selectWithinLimit(ranked)
  const drifted = list.items.filter(({ spec }) => spec.changes.length > 0)
  const lines = [`## ${formatHeading(list, drifted, hidden)}`, '']
  if (hidden > 0)
    lines.push(`${count(hidden, 'more change')} not shown: left out by the selection.`, '')
  if (list.incomplete.length > 0) {
    const what =
      drifted.length > 0 ? 'There may be more drift' : 'The absence of drift is not proven'
    lines.push(`**Not everything was observed.** ${what}: see below.`, '')
  }
  if (shown.length < ranked.length) {
    lines.push(
      `Shown are ${shown.length} of ${count(ranked.length, 'change')}, the riskiest first; \`-o json\` has all of them.`,
      '',
    )
  }
  for (const report of drifted) {
    const own = shown.filter((entry) => entry.report === report)
    if (own.length > 0) lines.push(...formatSection(report, own))
  }
  lines.push(
    ...formatInSyncPart(
      list.items.filter(
        ({ spec, status }) => spec.changes.length === 0 && status.state !== 'Unknown',
      ),
    ),
  )
  lines.push(...formatStuckPart(list.items))
  lines.push(...formatIncompletePart(list))
  lines.push(...formatStalePart(list.notes), ...also)
  lines.push(
    `<sub>Observed ${describeObservedTimes(list)}. Values read git → live.${drifted.length === 0 ? '' : WRITER_NOTE}</sub>`,
  )
  return `${lines.join('\n')}\n`
}

function describeObservedTimes({ items }: DriftReportList): string {
  const times = listObservedTimes(items)
  const [first, last] = [times[0] ?? 'never', times.at(-1) ?? 'never']
  return first === last
    ? formatMarkdownCode(first, 40)
    : `${formatMarkdownCode(first, 40)} to ${formatMarkdownCode(last, 40)}`
}

const WRITER_NOTE =
  ' The last writer is a field manager: a name that the client chose, with the time of its last write to any of its fields.'

function formatHeading(
  { items, incomplete }: DriftReportList,
  drifted: readonly DriftReport[],
  hidden: number,
): string {
  const changes = drifted.reduce((sum, { spec }) => sum + spec.changes.length, 0)
  if (changes > 0)
    return `Drift: ${count(changes, 'change')} in ${drifted.length} of ${count(items.length, 'package')}`
  if (items.length === 0 && incomplete.length > 0) return 'Drift: nothing could be observed'
  if (hidden > 0) return 'Drift: none in the selection'
  if (items.length === 0) return 'Drift: no package was observed'
  const unknown = items.filter(({ status }) => status.state === 'Unknown').length
  if (unknown === items.length) return `Drift: unknown in ${count(unknown, 'package')}`
  return unknown === 0
    ? `No drift in ${count(items.length, 'package')}`
    : `No drift in ${items.length - unknown} of ${count(items.length, 'package')}`
}

/** At least one. */
function selectWithinLimit(ranked: readonly RankedChange[]): RankedChange[] {
  const headed = new Set<DriftReport>()
  let used = 0
  return ranked.filter((entry, index) => {
    if (used > TABLES_LIMIT) return false
    used += formatRow(entry).length + (headed.has(entry.report) ? 1 : 400)
    headed.add(entry.report)
    return index === 0 || used <= TABLES_LIMIT
  })
}

function formatSection({ spec, status }: DriftReport, own: readonly RankedChange[]): string[] {
  const { unit } = spec
  const cut =
    own.length < spec.changes.length ? ` (${own.length} of ${spec.changes.length} shown)` : ''
  const aside = (
    ['Behind', 'SyncFailed', 'Reconciling', 'Suspended', 'Ignored', 'Released'] as const
  ).flatMap((state) => {
    const number = (status.setAside ?? []).filter((entry) => entry.state === state).length
    return number === 0 ? [] : [`${number} ${stateWord(state)} (no drift)`]
  })
  const facts = [
    ...(unit.revision === undefined ? [] : [formatMarkdownCode(unit.revision, 40)]),
    `commit ${formatMarkdownCode(unit.commit.slice(0, 7))}`,
    ...(status.plan === '' || status.lifecycle === 'Draft' ? [] : [`plan **${status.plan}**`]),
    ...(status.since === '' ? [] : [`since ${formatMarkdownCode(status.since, 40)}`]),
    ...aside,
  ]
  return [
    `### ${formatMarkdownCode(getUnitName(unit))} in ${formatMarkdownCode(unit.cluster)}${cut}`,
    '',
    `${facts.join(' · ')}`,
    '',
    '| # | Object | Field | In git | Live | Last writer | Risk |',
    '|--:|---|---|---|---|---|---|',
    ...own.map(formatRow),
    '',
  ]
}

function formatRow({ change, number }: RankedChange): string {
  const { actor } = change
  const source = change.source === undefined ? '' : `<br>${formatMarkdownCell(change.source, 200)}`
  const who =
    actor.confidence === 'none'
      ? 'unknown'
      : formatMarkdownCell(formatActorName(actor), computeActorLimit(actor, 60))
  const guess = actor.confidence === 'last-writer' ? ' (the only other writer)' : ''
  const kind =
    actor.class === 'unknown' || actor.confidence === 'none'
      ? ''
      : ` ${actor.class.replace('-', ' ')}`
  const when = actor.at === '' ? '' : `<br>${formatMarkdownCell(actor.at, 40)}`
  const rollback = formatRollback(change)
  const cells = [
    String(number),
    `${formatMarkdownCell(formatObjectName(change.ref), 160)}${source}`,
    `${change.path === undefined ? `object ${change.change}` : formatMarkdownCell(change.path, 200)}${rollback === undefined ? '' : `<br>${rollback}`}`,
    formatValueCell(change, 'git'),
    formatValueCell(change, 'live'),
    `${who}${guess}${kind}${when}`,
    `${change.risk === 'critical' || change.risk === 'high' ? `**${change.risk}**` : change.risk} ${formatMarkdownCell(change.reason, 40)}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function formatValueCell(change: Change, side: 'git' | 'live'): string {
  const value = change[side]
  if (change.path === undefined || value === undefined) return '–'
  const bytes = parseHiddenBytes(value)
  if (formatValue(value) === '••••')
    return bytes === undefined ? 'hidden, not read' : `hidden, ${bytes} bytes`
  return formatMarkdownCell(formatSides(change, 120)[side])
}

function formatInSyncPart(reports: readonly DriftReport[]): string[] {
  if (reports.length === 0) return []
  const names = reports.slice(0, NAMES_LIMIT).map(({ spec: { unit }, status }) => {
    const late = status.stuckSince !== undefined && status.state === 'Behind'
    const word = late ? 'stuck' : stateWord(status.state)
    const state = status.state === 'InSync' ? '' : ` (${word})`
    return `${formatMarkdownCode(getUnitName(unit))} in ${formatMarkdownCode(unit.cluster)}${state}`
  })
  const more = reports.length - names.length
  return [`Without drift: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`, '']
}

function formatStuckPart(reports: readonly DriftReport[]): string[] {
  const lines = formatStuckLines(reports).map((line) => `- ${formatMarkdownProse(line, 600)}`)
  return lines.length === 0 ? [] : ['### The syncer is stuck', '', ...lines, '']
}

function formatStalePart(notes: DriftReportList['notes'] = []): string[] {
  const stale = notes.filter(({ cause }) => cause === 'rule-hides-nothing')
  const lines = stale.flatMap(({ count: all, examples }) => [
    ...examples.map(({ text }) => `- ${formatMarkdownProse(text, 300)}`),
    ...(all > examples.length
      ? [
          `- and ${all - examples.length} more: ${formatMarkdownCode('backporch ignore --list')} lists them`,
        ]
      : []),
  ])
  return lines.length === 0 ? [] : ['### Ignore rules that match nothing', '', ...lines, '']
}

function formatIncompletePart({ incomplete, items }: DriftReportList): string[] {
  if (incomplete.length === 0) return []
  const more = incomplete.length - INCOMPLETE_LIMIT
  return [
    '### Not observed in full',
    '',
    ...incomplete
      .slice(0, INCOMPLETE_LIMIT)
      .map(({ package: path, ref, state, code, why, remedy }) => {
        const where = [
          ...(path === undefined ? [] : [formatPackageLabel(path, items)]),
          ...(ref === undefined ? [] : [formatObjectName(ref)]),
        ]
        const fix = remedy === undefined ? '' : ` Fix: ${formatMarkdownCode(remedy, 300)}`
        return `- ${where.map((text) => formatMarkdownCode(text, 160)).join(' ')} ${state ?? 'not observed'} (${formatMarkdownCode(code, 20)}): ${formatMarkdownCode(why, 300)}.${fix}`
      }),
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
  ]
}
