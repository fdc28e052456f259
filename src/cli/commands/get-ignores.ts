import { formatJson, type Json } from '@backporch/kyaml/json'
import { type ListedRule, listRules } from '../../plan/turn/forge/listed-rules.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { LedgerContext } from '../context/cli-context.ts'
import type { ListOptions, RepositoryOptions, WatchOptions } from '../flags/options.ts'
import { Printer } from '../print/printer.ts'
import { type Column, printRows } from '../print/table.ts'
import { printList } from '../report/print-document.ts'
import { showLedger } from '../session/ledger-session.ts'

type IgnoresOptions = RepositoryOptions & WatchOptions & ListOptions

/** The ignore rules of the policies and of the packages, with what the ledger knows of each. */
export async function getIgnores(options: IgnoresOptions, cli: LedgerContext): Promise<number> {
  const printer = new Printer(cli, options)
  const widths: number[] = []
  return showLedger(cli, options, async ({ view, ledger }) => {
    const rules = listRules(
      view.policies,
      ledger.reports,
      cli.clock.now().toISOString().slice(0, 10),
    )
    const rows = new Map(rules.map((rule, index) => [`${rule.where} ${rule.id} ${index}`, rule]))
    return {
      rows: new Map([...rows].map(([key, rule]) => [key, formatJson(rule as unknown as Json)])),
      print: (only) => {
        const shown = [...rows].flatMap(([key, rule]) =>
          only === undefined || only.has(key) ? [rule] : [],
        )
        const headers = only === undefined && (shown.length > 0 || options.watch === true)
        if (
          !printList(
            { apiVersion: API_VERSION, kind: 'IgnoreRuleList', items: shown.map(itemOf) },
            printer,
          )
        )
          printRows(
            { rows: shown, columns: COLUMNS, nameOf: ({ where }) => where, widths, headers },
            printer,
          )
        if (rules.length === 0 && only === undefined && printer.isTable)
          printer.hint('no ignore rules')
      },
      exit: 0,
    }
  })
}

function itemOf({
  id,
  where,
  policy,
  priority,
  about,
  reason,
  expires,
  state,
  hits,
  units,
  unmatchedSince,
  lastMatched,
}: ListedRule): object {
  return {
    rule: id,
    where,
    policy,
    priority,
    about,
    reason,
    ...(expires === '' ? {} : { expires }),
    state,
    hits,
    units,
    ...(unmatchedSince === '' ? {} : { unmatchedSince }),
    ...(lastMatched === '' ? {} : { lastMatched }),
  }
}

const COLUMNS: readonly Column<ListedRule>[] = [
  { name: 'WHERE', value: ({ where }) => where },
  { name: 'TARGET', value: ({ target }) => target || 'every object' },
  { name: 'FIELDS', value: ({ fields }) => fields || 'everything' },
  { name: 'REASON', value: ({ reason }) => reason },
  {
    name: 'EXPIRES',
    value: ({ expires, state }) =>
      expires === '' ? '' : state === 'Expired' ? `${expires} (over)` : expires,
  },
  { name: 'LAST-MATCHED', value: ({ lastMatched }) => lastMatched },
  {
    name: 'HITS',
    value: ({ hits, units, state }) => (units === 0 || state === 'Expired' ? '' : String(hits)),
  },
  { name: 'STATE', wide: true, value: ({ state }) => state },
  { name: 'POLICY', wide: true, value: ({ policy }) => policy },
  {
    name: 'PRIORITY',
    wide: true,
    value: ({ policy, priority }) => (policy === 'annotation' ? '' : String(priority)),
  },
  { name: 'UNITS', wide: true, value: ({ units }) => String(units) },
  { name: 'UNMATCHED-SINCE', wide: true, value: ({ unmatchedSince }) => unmatchedSince },
  { name: 'RULE', wide: true, value: ({ id }) => id },
]
