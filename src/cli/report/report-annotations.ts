/**
 * Syntax and escapes: docs.github.com "Workflow commands for GitHub Actions" and actions/runner,
 * ActionCommand.cs. A step shows the first ten per level (actions/toolkit,
 * docs/problem-matchers.md), so the riskiest come first.
 */
import { convertToOneLine } from '@backporch/kyaml/text'
import { formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { formatSides } from '../../record/format-value.ts'
import { formatRollback } from '../../record/rolled-back.ts'
import { formatStuckLines } from '../../record/stuck-lines.ts'
import {
  count,
  formatObjectName,
  getChangeSource,
  listRankedChanges,
  type RankedChange,
} from '../print/ranked-changes.ts'
import { formatPackageLabel } from '../session/ledger-session.ts'

const LEVELS = { critical: 'error', high: 'error', medium: 'warning', low: 'notice' } as const

export function formatAnnotations(
  list: DriftReportList,
  numbers?: ReadonlyMap<Change, number>,
): string {
  const ranked = listRankedChanges(list, numbers)
  // Numbers only: the runner searches other lines for older commands.
  const drifted = list.items.filter(({ spec }) => spec.changes.length > 0).length
  const summary = `${count(ranked.length, 'change')} in ${drifted} of ${count(list.items.length, 'package')}${list.incomplete.length === 0 ? '' : ', not observed in full'}`
  const stuck = formatStuckLines(list.items).map((line) =>
    formatWorkflowCommand('warning', { title: 'the syncer is stuck' }, line),
  )
  return [
    ...list.incomplete.map((entry) => formatNotObserved(entry, list)),
    ...stuck,
    ...ranked.map(formatAnnotation),
    summary,
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function formatAnnotation(entry: RankedChange): string {
  const { change, report, number } = entry
  const { path, line } = getChangeSource(entry)
  const location = {
    file: path,
    line: String(line),
    title: `drift in ${report.spec.unit.cluster}: ${formatObjectName(change.ref)}`,
  }
  return formatWorkflowCommand(LEVELS[change.risk], location, describe(change, number))
}

function describe(change: Change, number: number): string {
  const { actor } = change
  const { git, live } = formatSides(change, 120)
  const values = `${change.path}: ${git} → ${live}`
  const who =
    actor.confidence === 'none'
      ? 'by an unknown writer'
      : `by ${formatActorName(actor)} (${actor.class.replace('-', ' ')})`
  const when = actor.at === '' ? '' : ` ${actor.at}`
  const rollback = formatRollback(change)
  const what = `${change.path === undefined ? `object ${change.change}` : values}${rollback === undefined ? '' : `, ${rollback}`}`
  return `#${number} ${what}, ${who}${when}, ${change.risk} ${change.reason}`
}

function formatNotObserved(
  { package: path, ref, code, why, remedy }: Incomplete,
  { items }: DriftReportList,
): string {
  const where = [
    ...(path === undefined ? [] : [formatPackageLabel(path, items)]),
    ...(ref === undefined ? [] : [formatObjectName(ref)]),
  ].join(' ')
  return formatWorkflowCommand(
    'warning',
    { title: `not observed: ${where}` },
    `${code}: ${why}${remedy === undefined ? '' : `. ${remedy}`}`,
  )
}

export function formatWorkflowCommand(
  level: string,
  properties: { readonly [name: string]: string },
  message: string,
): string {
  const pairs = Object.entries(properties).map(
    ([name, value]) => `${name}=${escapeProperty(convertToOneLine(value, 300))}`,
  )
  return `::${level} ${pairs.join(',')}::${escapeData(convertToOneLine(message, 2_000))}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
