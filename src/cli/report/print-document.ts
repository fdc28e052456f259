/** Integers stay exact. */
import { formatJson, type Json } from '@backporch/kyaml/json'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import type { Change } from '../../record/documents/change.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { DriftReport, Incomplete } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { formatDocument } from '../../record/write-document.ts'
import type { CliContext } from '../context/cli-context.ts'
import { listObservedTimes } from '../print/freshness.ts'
import type { Printer } from '../print/printer.ts'
import { formatAnnotations } from './report-annotations.ts'
import { formatMarkdown } from './report-markdown.ts'
import { buildSarifLog } from './report-sarif.ts'

interface ListDocument {
  readonly apiVersion: string
  readonly kind: string
  readonly items: readonly object[]
  readonly incomplete?: readonly Incomplete[]
}

/** Prints the list for `-o json`, `yaml` or `jsonl`. @returns false for another format, and prints nothing */
export function printList(list: ListDocument, { output, cli }: Printer): boolean {
  if (output === 'json') cli.stdout.write(`${formatJsonText(list, 2)}\n`)
  else if (output === 'yaml') cli.stdout.write(formatDocument(list))
  else if (output === 'jsonl')
    cli.stdout.write(
      listLineDocuments(list)
        .map((line) => `${formatJsonText(line)}\n`)
        .join(''),
    )
  else return false
  return true
}

/**
 * With github the Markdown goes to the step summary. @param numbers of the changes in the whole
 * list, if only a part is shown
 */
export function printReports(
  list: DriftReportList,
  printer: Printer,
  numbers?: ReadonlyMap<Change, number>,
): boolean {
  const { output, cli } = printer
  if (printList(list, printer)) return true
  if (output === 'markdown') printer.write(formatMarkdown(list, { numbers }))
  else if (output === 'sarif')
    printer.write(`${formatJsonText(buildSarifLog(list, cli.version, numbers), 2)}\n`)
  else if (output === 'github') {
    printer.write(formatAnnotations(list, numbers))
    writeStepSummary(formatMarkdown(list, { numbers }), cli)
  } else return false
  return true
}

export function reportList(
  items: readonly DriftReport[],
  incomplete: readonly Incomplete[],
): DriftReportList {
  const [observedAt = ''] = listObservedTimes(items)
  return {
    apiVersion: API_VERSION,
    kind: 'DriftReportList',
    observedAt,
    incomplete: [...incomplete],
    items: [...items],
  }
}

export function listIncompleteOfUnits(units: readonly UnitResult[]): Incomplete[] {
  return units.flatMap((unit) =>
    unit.state === 'planned'
      ? unit.observation.incomplete.map((entry) => ({ package: unit.unit.packagePath, ...entry }))
      : unit.failures.map(({ code, what, why, remedy }) => ({
          package: unit.packagePath,
          code,
          why: `${what}: ${why}`,
          remedy,
        })),
  )
}

export function listIncompleteOfClusters(notObserved: readonly NotObserved[]): Incomplete[] {
  return notObserved.flatMap(({ cluster, failures }) =>
    failures.map(({ code, what, why, remedy }) => ({
      state: 'unreadable' as const,
      code,
      why: `${cluster}: ${what}: ${why}`,
      remedy,
    })),
  )
}

export function listIncompleteOfReports(reports: readonly DriftReport[]): Incomplete[] {
  return reports.flatMap(({ spec, status }) =>
    (status.incomplete ?? []).map((entry) => ({ package: spec.unit.package, ...entry })),
  )
}

/** Includes unknown packages without an item. */
function listLineDocuments({ apiVersion, items, incomplete }: ListDocument): object[] {
  const reported = new Set(
    (items as readonly Partial<DriftReport>[]).map(({ spec }) => spec?.unit?.package),
  )
  const unread = (incomplete ?? []).filter((entry) => !reported.has(entry.package))
  return [...items, ...unread.map((entry) => ({ apiVersion, kind: 'Incomplete', ...entry }))]
}

/**
 * The GitHub Actions runner executes `##[command]` in any log line (actions/runner,
 * ActionCommand.cs). A cluster value must not produce one. In JSON the sign occurs only in strings.
 */
function formatJsonText(document: object, indent?: number): string {
  return formatJson(document as Json, indent).replaceAll('##[', '#\\u0023[')
}

/** A failure is only a note. */
function writeStepSummary(
  markdown: string,
  cli: Pick<CliContext, 'appendText' | 'env' | 'stderr'>,
): void {
  const path = cli.env['GITHUB_STEP_SUMMARY'] || undefined
  if (path === undefined) return
  try {
    cli.appendText(path, markdown)
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    const note = {
      cause: 'report-not-written',
      subject: '',
      text: `the step summary could not be written: ${convertToOneLine(why, 300)}`,
    } as const
    cli.stderr.write(`note: ${convertToOneLine(formatNoteSentence(note), 2_000)}\n`)
  }
}
