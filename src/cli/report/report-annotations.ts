/**
 * Syntax and escapes: docs.github.com "Workflow commands for GitHub Actions" and actions/runner,
 * ActionCommand.cs. A step shows the first ten per level (actions/toolkit,
 * docs/problem-matchers.md), so the riskiest come first.
 */
import { oneLine } from '@backporch/kyaml/text'
import { actorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { formatSides } from '../../record/format-value.ts'
import { rollbackText } from '../../record/rolled-back.ts'
import { stuckLines } from '../../record/stuck-lines.ts'
import {
  count,
  objectName,
  type RankedChange,
  rankedChanges,
  sourceOf,
} from '../print/ranked-changes.ts'
import { packageLabel } from '../session/ledger-session.ts'

const LEVELS = { critical: 'error', high: 'error', medium: 'warning', low: 'notice' } as const

export function formatAnnotations(
  list: DriftReportList,
  numbers?: ReadonlyMap<Change, number>,
): string {
  const ranked = rankedChanges(list, numbers)
  // Numbers only: the runner searches other lines for older commands.
  const drifted = list.items.filter(({ spec }) => spec.changes.length > 0).length
  const summary = `${count(ranked.length, 'change')} in ${drifted} of ${count(list.items.length, 'package')}${list.incomplete.length === 0 ? '' : ', not observed in full'}`
  const stuck = stuckLines(list.items).map((line) =>
    command('warning', { title: 'the syncer is stuck' }, line),
  )
  return [
    ...list.incomplete.map((entry) => notObserved(entry, list)),
    ...stuck,
    ...ranked.map(annotation),
    summary,
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function annotation(entry: RankedChange): string {
  const { change, report, number } = entry
  const { path, line } = sourceOf(entry)
  const location = {
    file: path,
    line: String(line),
    title: `drift in ${report.spec.unit.cluster}: ${objectName(change.ref)}`,
  }
  return command(LEVELS[change.risk], location, describe(change, number))
}

function describe(change: Change, number: number): string {
  const { actor } = change
  const { git, live } = formatSides(change, 120)
  const values = `${change.path}: ${git} → ${live}`
  const who =
    actor.confidence === 'none'
      ? 'by an unknown writer'
      : `by ${actorName(actor)} (${actor.class.replace('-', ' ')})`
  const when = actor.at === '' ? '' : ` ${actor.at}`
  const rollback = rollbackText(change)
  const what = `${change.path === undefined ? `object ${change.change}` : values}${rollback === undefined ? '' : `, ${rollback}`}`
  return `#${number} ${what}, ${who}${when}, ${change.risk} ${change.reason}`
}

function notObserved(
  { package: path, ref, code, why, remedy }: Incomplete,
  { items }: DriftReportList,
): string {
  const where = [
    ...(path === undefined ? [] : [packageLabel(path, items)]),
    ...(ref === undefined ? [] : [objectName(ref)]),
  ].join(' ')
  return command(
    'warning',
    { title: `not observed: ${where}` },
    `${code}: ${why}${remedy === undefined ? '' : `. ${remedy}`}`,
  )
}

export function command(
  level: string,
  properties: { readonly [name: string]: string },
  message: string,
): string {
  const pairs = Object.entries(properties).map(
    ([name, value]) => `${name}=${escapeProperty(oneLine(value, 300))}`,
  )
  return `::${level} ${pairs.join(',')}::${escapeData(oneLine(message, 2_000))}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
