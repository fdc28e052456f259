import { API_VERSION } from '../../record/documents/document.ts'
import type { LedgerContext } from '../context/cli-context.ts'
import type { ListOptions, RepositoryOptions } from '../flags/options.ts'
import type { SelectionOptions } from '../flags/selection-flags.ts'
import { buildNotesPart, printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { printNames, printRows } from '../print/table.ts'
import { printList } from '../report/print-document.ts'
import { createDecisionColumns, readDecisions } from '../session/decisions.ts'
import { readLedgerOf } from '../session/ledger-session.ts'

type HistoryOptions = RepositoryOptions & ListOptions & Omit<SelectionOptions, 'state'>

export async function showHistory(
  packages: readonly string[],
  options: HistoryOptions,
  cli: LedgerContext,
): Promise<number> {
  const reading = await readLedgerOf(cli, options)
  const { shown, all, notes } = await readDecisions(reading, packages, options, cli)
  const printer = new Printer(cli, options)
  printNotes(notes, printer)
  const items = shown.map(({ spec, status, commit }) => ({
    spec,
    ...(status === undefined ? {} : { status }),
    ...(commit === undefined ? {} : { commit }),
  }))
  const list = {
    apiVersion: API_VERSION,
    kind: 'DecisionList',
    items,
    ...buildNotesPart([...reading.ledger.problems, ...notes], printer),
  }
  if (printList(list, printer)) return 0
  if (printer.output === 'name')
    printNames([...new Set(shown.map(({ spec }) => `drift-${spec.episode}`))], printer)
  else {
    printRows(
      { rows: shown, columns: createDecisionColumns(printer.terminal), nameOf: () => '' },
      printer,
    )
    const none =
      all === 0 ? 'nothing was decided yet' : `no decision matches the filters (${all} recorded)`
    if (shown.length === 0) printer.hint(none)
  }
  return 0
}
