/**
 * GitHub Flavored Markdown that Gitea renders alike. Text from a cluster or git is encoded as code
 * (src/kyaml/text/markdown-text.ts).
 */
import { markdownCell, markdownCode, markdownProse } from '@backporch/kyaml/markdown'
import { actorLimit, actorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { formatSides, formatValue, hiddenBytes } from '../../record/format-value.ts'
import { rollbackText } from '../../record/rolled-back.ts'
import { stateWord, stuckLines } from '../../record/stuck-lines.ts'
import { unitName } from '../../record/unit-name.ts'
import { observedTimes } from '../print/freshness.ts'
import { count, objectName, type RankedChange, rankedChanges } from '../print/ranked-changes.ts'
import { packageLabel } from '../session/ledger-session.ts'

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
  const ranked = rankedChanges(list, numbers)
  const hidden = numbers === undefined ? 0 : numbers.size - ranked.length
  const shown = withinLimit(ranked)
  const drifted = list.items.filter(({ spec }) => spec.changes.length > 0)
  const lines = [`## ${heading(list, drifted, hidden)}`, '']
  if (hidden > 0)
    lines.push(`${count(hidden, 'more change')} not shown: left out by the selection.`, '')
  if (list.incomplete.length > 0) {
    const what =
      drifted.length > 0 ? 'There may be more drift' : 'That there is no drift is not proven'
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
    if (own.length > 0) lines.push(...section(report, own))
  }
  lines.push(
    ...inSync(
      list.items.filter(
        ({ spec, status }) => spec.changes.length === 0 && status.state !== 'Unknown',
      ),
    ),
  )
  lines.push(...stuckPart(list.items))
  lines.push(...incompletePart(list))
  lines.push(...stalePart(list.notes), ...also)
  lines.push(
    `<sub>Observed ${observedText(list)}. Values read git → live.${drifted.length === 0 ? '' : WRITER_NOTE}</sub>`,
  )
  return `${lines.join('\n')}\n`
}

function observedText({ items }: DriftReportList): string {
  const times = observedTimes(items)
  const [first, last] = [times[0] ?? 'never', times.at(-1) ?? 'never']
  return first === last
    ? markdownCode(first, 40)
    : `${markdownCode(first, 40)} to ${markdownCode(last, 40)}`
}

const WRITER_NOTE =
  ' The last writer is a field manager: a name that the client chose, with the time of its last write to any of its fields.'

function heading(
  { items, incomplete }: DriftReportList,
  drifted: readonly DriftReport[],
  hidden: number,
): string {
  const changes = drifted.reduce((sum, { spec }) => sum + spec.changes.length, 0)
  if (changes > 0)
    return `Drift: ${count(changes, 'change')} in ${drifted.length} of ${count(items.length, 'package')}`
  if (items.length === 0 && incomplete.length > 0) return 'Drift: nothing could be observed'
  if (hidden > 0) return 'Drift: nothing of what was selected'
  if (items.length === 0) return 'Drift: no package was looked at'
  const unknown = items.filter(({ status }) => status.state === 'Unknown').length
  if (unknown === items.length) return `Drift: not known in ${count(unknown, 'package')}`
  return unknown === 0
    ? `No drift in ${count(items.length, 'package')}`
    : `No drift in ${items.length - unknown} of ${count(items.length, 'package')}`
}

/** At least one. */
function withinLimit(ranked: readonly RankedChange[]): RankedChange[] {
  const headed = new Set<DriftReport>()
  let used = 0
  return ranked.filter((entry, index) => {
    if (used > TABLES_LIMIT) return false
    used += row(entry).length + (headed.has(entry.report) ? 1 : 400)
    headed.add(entry.report)
    return index === 0 || used <= TABLES_LIMIT
  })
}

function section({ spec, status }: DriftReport, own: readonly RankedChange[]): string[] {
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
    ...(unit.revision === undefined ? [] : [markdownCode(unit.revision, 40)]),
    `commit ${markdownCode(unit.commit.slice(0, 7))}`,
    ...(status.plan === '' || status.lifecycle === 'Draft' ? [] : [`plan **${status.plan}**`]),
    ...(status.since === '' ? [] : [`since ${markdownCode(status.since, 40)}`]),
    ...aside,
  ]
  return [
    `### ${markdownCode(unitName(unit))} in ${markdownCode(unit.cluster)}${cut}`,
    '',
    `${facts.join(' · ')}`,
    '',
    '| # | Object | Field | In git | Live | Last writer | Risk |',
    '|--:|---|---|---|---|---|---|',
    ...own.map(row),
    '',
  ]
}

function row({ change, number }: RankedChange): string {
  const { actor } = change
  const source = change.source === undefined ? '' : `<br>${markdownCell(change.source, 200)}`
  const who =
    actor.confidence === 'none' ? 'unknown' : markdownCell(actorName(actor), actorLimit(actor, 60))
  const guess = actor.confidence === 'last-writer' ? ' (the only other writer)' : ''
  const kind =
    actor.class === 'unknown' || actor.confidence === 'none'
      ? ''
      : ` ${actor.class.replace('-', ' ')}`
  const when = actor.at === '' ? '' : `<br>${markdownCell(actor.at, 40)}`
  const rollback = rollbackText(change)
  const cells = [
    String(number),
    `${markdownCell(objectName(change.ref), 160)}${source}`,
    `${change.path === undefined ? `object ${change.change}` : markdownCell(change.path, 200)}${rollback === undefined ? '' : `<br>${rollback}`}`,
    valueCell(change, 'git'),
    valueCell(change, 'live'),
    `${who}${guess}${kind}${when}`,
    `${change.risk === 'critical' || change.risk === 'high' ? `**${change.risk}**` : change.risk} ${markdownCell(change.reason, 40)}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function valueCell(change: Change, side: 'git' | 'live'): string {
  const value = change[side]
  if (change.path === undefined || value === undefined) return '–'
  const bytes = hiddenBytes(value)
  if (formatValue(value) === '••••')
    return bytes === undefined ? 'hidden, not read' : `hidden, ${bytes} bytes`
  return markdownCell(formatSides(change, 120)[side])
}

function inSync(reports: readonly DriftReport[]): string[] {
  if (reports.length === 0) return []
  const names = reports.slice(0, NAMES_LIMIT).map(({ spec: { unit }, status }) => {
    const late = status.stuckSince !== undefined && status.state === 'Behind'
    const word = late ? 'stuck' : stateWord(status.state)
    const state = status.state === 'InSync' ? '' : ` (${word})`
    return `${markdownCode(unitName(unit))} in ${markdownCode(unit.cluster)}${state}`
  })
  const more = reports.length - names.length
  return [`Without drift: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`, '']
}

function stuckPart(reports: readonly DriftReport[]): string[] {
  const lines = stuckLines(reports).map((line) => `- ${markdownProse(line, 600)}`)
  return lines.length === 0 ? [] : ['### The syncer is stuck', '', ...lines, '']
}

function stalePart(notes: DriftReportList['notes'] = []): string[] {
  const stale = notes.filter(({ cause }) => cause === 'rule-hides-nothing')
  const lines = stale.flatMap(({ count: all, examples }) => [
    ...examples.map(({ text }) => `- ${markdownProse(text, 300)}`),
    ...(all > examples.length
      ? [
          `- and ${all - examples.length} more: ${markdownCode('backporch ignore --list')} lists them`,
        ]
      : []),
  ])
  return lines.length === 0 ? [] : ['### Ignore rules that match nothing', '', ...lines, '']
}

function incompletePart({ incomplete, items }: DriftReportList): string[] {
  if (incomplete.length === 0) return []
  const more = incomplete.length - INCOMPLETE_LIMIT
  return [
    '### Not observed in full',
    '',
    ...incomplete
      .slice(0, INCOMPLETE_LIMIT)
      .map(({ package: path, ref, state, code, why, remedy }) => {
        const where = [
          ...(path === undefined ? [] : [packageLabel(path, items)]),
          ...(ref === undefined ? [] : [objectName(ref)]),
        ]
        const fix = remedy === undefined ? '' : ` Fix: ${markdownCode(remedy, 300)}`
        return `- ${where.map((text) => markdownCode(text, 160)).join(' ')} ${state ?? 'not observed'} (${markdownCode(code, 20)}): ${markdownCode(why, 300)}.${fix}`
      }),
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
  ]
}
