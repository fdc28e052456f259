import { formatMarkdownCell, formatMarkdownCode } from '@backporch/kyaml/markdown'
import { createStaleNotes } from '../../plan/turn/forge/listed-rules.ts'
import type { LedgerContext } from '../context/cli-context.ts'
import { Terminal } from '../context/terminal.ts'
import type { RepositoryOptions, TerminalOptions } from '../flags/options.ts'
import type { PackageOptions, SelectionOptions } from '../flags/selection-flags.ts'
import { buildNotesPart, printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { listIncompleteOfReports, reportList } from '../report/print-document.ts'
import { formatMarkdown } from '../report/report-markdown.ts'
import { createDecisionColumns, type Decision, readDecisions } from '../session/decisions.ts'
import { readLedgerOf } from '../session/ledger-session.ts'
import { selectUnits } from '../session/selection.ts'

type ReportOptions = RepositoryOptions &
  TerminalOptions &
  PackageOptions &
  Pick<SelectionOptions, 'cluster' | 'since'>

const ROWS = 100
const WEEK = 7 * 86_400

/** From git alone. */
export async function report(
  packages: readonly string[],
  options: ReportOptions,
  cli: LedgerContext,
): Promise<number> {
  const reading = await readLedgerOf(cli, options)
  const { view, ledger } = reading
  const selection = await selectUnits(reading, { named: packages }, options, cli.signal)
  const items = ledger.reports.filter(
    ({ spec: { unit } }) =>
      selection.takesPackage(unit.package) && selection.takesCluster(unit.cluster),
  )
  const now = `${cli.clock.now().toISOString().slice(0, 19)}Z`
  const stale = buildNotesPart(createStaleNotes(view.policies, ledger.reports, now.slice(0, 10)), {
    verbose: options.verbose === true,
  })
  const { shown, notes } = await readDecisions(
    reading,
    packages,
    { ...options, since: options.since ?? { secondsAgo: WEEK } },
    cli,
  )
  printNotes(notes, new Printer(cli, options))
  const decided = formatDecisionTable(
    shown,
    new Terminal(cli.stdout, { color: 'never', ascii: options.ascii === true, env: cli.env }),
  )
  cli.stdout.write(
    formatMarkdown(
      { ...reportList(items, listIncompleteOfReports(items)), ...stale },
      { also: decided },
    ),
  )
  return 0
}

function formatDecisionTable(
  decisions: readonly Decision[],
  terminal: Terminal,
): readonly string[] {
  if (decisions.length === 0) return ['## Decided: nothing', '']
  const columns = createDecisionColumns(terminal)
  const rows = decisions
    .slice(0, ROWS)
    .map((decision) => columns.map(({ value }) => formatCell(value(decision))))
  const more = decisions.length - rows.length
  return [
    `## Decided: ${decisions.length}`,
    '',
    ...[
      columns.map(({ name }) => name.charAt(0) + name.slice(1).toLowerCase()),
      columns.map(() => '---'),
      ...rows,
    ].map((cells) => `| ${cells.join(' | ')} |`),
    '',
    ...(more > 0
      ? [`And ${more} more: ${formatMarkdownCode('backporch history')} lists them.`, '']
      : []),
  ]
}

function formatCell(text: string): string {
  return text === '' ? '–' : formatMarkdownCell(text, 200)
}
