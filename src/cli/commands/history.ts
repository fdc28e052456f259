import { API_VERSION } from '../../record/schema.ts'
import { oneLine } from '../../text/one-line.ts'
import { decisionColumns, readDecisions } from '../decisions.ts'
import type { ListOptions, RepositoryOptions } from '../flags/options.ts'
import type { SelectionOptions } from '../flags/selection-flags.ts'
import { readLedgerOf } from '../ledger-session.ts'
import { printList } from '../print/print-document.ts'
import { notesPart, printNotes } from '../print/print-notes.ts'
import { checkedColumns, formatTable } from '../print/table.ts'
import { Terminal } from '../print/terminal.ts'
import type { World } from '../world.ts'

type HistoryOptions = RepositoryOptions & ListOptions & Omit<SelectionOptions, 'state'>

export async function history(packages: readonly string[], options: HistoryOptions, world: World): Promise<number> {
  const reading = await readLedgerOf(world, options)
  const { shown, all, notes } = await readDecisions(reading, packages, options, world)
  printNotes(notes, options, world)
  const items = shown.map(({ spec, status, commit }) => ({
    spec,
    ...(status === undefined ? {} : { status }),
    ...(commit === '' ? {} : { commit }),
  }))
  const printed = printList(
    { apiVersion: API_VERSION, kind: 'DecisionList', items, ...notesPart([...reading.ledger.problems, ...notes], options) },
    options,
    world,
  )
  if (!printed && options.output === 'name') {
    world.stdout.write([...new Set(shown.map(({ spec }) => `drift-${spec.episode}`))].map((name) => `${oneLine(name, 300)}\n`).join(''))
  } else if (!printed) {
    const columns = decisionColumns(new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env }))
    world.stdout.write(
      formatTable(shown, columns, {
        headers: options.headers,
        wide: options.output === 'wide',
        columns: checkedColumns(options.columns, columns),
      }),
    )
    if (shown.length === 0 && options.quiet !== true) {
      const none = all === 0 ? 'nothing was decided yet' : `of ${all} ${all === 1 ? 'decision' : 'decisions'} none is selected`
      world.stderr.write(`${none}\n`)
    }
  }
  return 0
}
