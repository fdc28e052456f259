import { Failure } from '@backporch/kyaml/failure'
import { omitUndefined } from '@backporch/kyaml/text'
import { type ListedRule, listRules } from '../../plan/turn/forge/listed-rules.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { LedgerContext } from '../context/cli-context.ts'
import type { ListOptions, RepositoryOptions } from '../flags/options.ts'
import { Printer } from '../print/printer.ts'
import { type Column, printRows } from '../print/table.ts'
import { printList } from '../report/print-document.ts'
import { readLedgerOf } from '../session/ledger-session.ts'

/** The ignore rules of the policies and of the packages, with what the ledger knows of each; reads git alone. */
export async function listIgnores(
  name: string | undefined,
  options: RepositoryOptions & ListOptions,
  cli: LedgerContext,
): Promise<number> {
  if (name !== undefined)
    throw new Failure({
      code: 'BP1001',
      what: 'ignore --list takes no package',
      why: 'it lists the rules of the whole repository',
      remedy: 'remove the package',
    })
  const printer = new Printer(cli, options)
  const { view, ledger } = await readLedgerOf(cli, options)
  const today = cli.clock.now().toISOString().slice(0, 10)
  const rules = listRules(view.policies, ledger.reports, today)
  const list = {
    apiVersion: API_VERSION,
    kind: 'IgnoreRuleList',
    items: rules.map(convertRuleToItem),
  }
  if (printList(list, printer)) return 0
  printRows(
    { rows: rules, columns: COLUMNS, nameOf: ({ where }) => where, headers: rules.length > 0 },
    printer,
  )
  if (rules.length === 0 && printer.isTable) printer.hint('no ignore rules')
  return 0
}

function convertRuleToItem({
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
    ...omitUndefined({ expires }),
    state,
    hits,
    units,
    ...omitUndefined({ unmatchedSince, lastMatched }),
  }
}

const COLUMNS: readonly Column<ListedRule>[] = [
  { name: 'WHERE', value: ({ where }) => where },
  { name: 'TARGET', value: ({ target }) => target ?? 'every object' },
  { name: 'FIELDS', value: ({ fields }) => fields ?? 'everything' },
  { name: 'REASON', value: ({ reason }) => reason },
  {
    name: 'EXPIRES',
    value: ({ expires, state }) =>
      expires === undefined ? '' : state === 'Expired' ? `${expires} (expired)` : expires,
  },
  { name: 'LAST-MATCHED', value: ({ lastMatched }) => lastMatched ?? '' },
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
  { name: 'UNMATCHED-SINCE', wide: true, value: ({ unmatchedSince }) => unmatchedSince ?? '' },
  { name: 'RULE', wide: true, value: ({ id }) => id },
]
