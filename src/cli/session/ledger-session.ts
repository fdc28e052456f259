import type { PackageRepository } from '@backporch/git-store/package-repository'
import { formatNoteSentence, type Note } from '@backporch/kyaml/note'
import { createLedger, type Ledger } from '../../reconcile/repository/read-ledger.ts'
import { type RepositoryView, readRepository } from '../../reconcile/repository/repository-view.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { getUnitName } from '../../record/unit-name.ts'
import type { CliContext, LedgerContext } from '../context/cli-context.ts'
import type { RepositoryOptions, TerminalOptions } from '../flags/options.ts'
import { addSeenTimes } from '../print/freshness.ts'
import { printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { fetchRecorded, resolveRepositoryLocation } from '../print/published-lines.ts'
import { type ShowOptions, showOrWatch, type WatchResult } from './watch.ts'

type LedgerOptions = RepositoryOptions & TerminalOptions

export interface LedgerReading {
  readonly view: RepositoryView
  readonly ledger: Ledger
}

export async function readLedgerOf(
  cli: LedgerContext,
  options: LedgerOptions,
): Promise<LedgerReading> {
  return readFrom(await openLedger(cli, options), cli, options, new Set())
}

/** Without a moved ref a read costs one ref list and detects only what became too old. */
export async function showLedger(
  cli: LedgerContext,
  options: LedgerOptions & ShowOptions,
  observe: (reading: LedgerReading) => Promise<WatchResult>,
): Promise<number> {
  const repository = await openLedger(cli, options)
  const reported = new Set<string>()
  let known: LedgerReading | undefined
  return showOrWatch(cli, options, async () => {
    const same =
      known !== undefined &&
      hasSameRefs(known.view.refs, (await repository.listRefs(cli.signal)).refs)
        ? known
        : undefined
    const reading =
      same === undefined
        ? await readFrom(repository, cli, options, reported)
        : refreshSeenTimes(same, cli)
    if (same !== undefined && formatStates(same) === formatStates(reading)) return undefined
    const answer = await observe(reading)
    known = reading
    return answer
  })
}

async function openLedger(cli: LedgerContext, options: LedgerOptions): Promise<PackageRepository> {
  return cli.openRepository(options.repo, {
    readOnly: true,
    trace: new Printer(cli, options).trace,
  })
}

async function readFrom(
  repository: PackageRepository,
  cli: LedgerContext,
  options: LedgerOptions,
  reported: Set<string>,
): Promise<LedgerReading> {
  const view = await readRepository(repository, options.branch, cli.signal, {
    folders: options.path ?? [],
  })
  const known = createLedger(view)
  const ledger = {
    ...known,
    problems: [...known.problems, ...(await listMissingLedgerNotes(view, cli, options))],
  }
  printNotes(
    ledger.problems.filter((note) => !reported.has(formatNoteSentence(note))),
    new Printer(cli, options),
  )
  for (const note of ledger.problems) reported.add(formatNoteSentence(note))
  return refreshSeenTimes({ view, ledger }, cli)
}

/** A clone without a ledger may have a remote with one. */
async function listMissingLedgerNotes(
  { ledger }: RepositoryView,
  cli: Pick<CliContext, 'cloneState'>,
  options: LedgerOptions,
): Promise<readonly Note[]> {
  const location = ledger === null ? await resolveRepositoryLocation(options, cli) : undefined
  if (location?.kind !== 'clone' || !location.origin) return []
  const text = `${location.name} has no drift-ledger; where origin has one: ${fetchRecorded(location)}`
  return [{ cause: 'ledger-not-here', subject: '', text }]
}

/** Times only advance: the last reading gives the same result as a new one. */
function refreshSeenTimes(
  { view, ledger }: LedgerReading,
  cli: Pick<CliContext, 'clock'>,
): LedgerReading {
  return { view, ledger: addSeenTimes(ledger, view, cli.clock.now()) }
}

function formatStates({ ledger }: LedgerReading): string {
  return ledger.reports.map(({ status }) => status.state).join()
}

function hasSameRefs(
  before: ReadonlyMap<string, unknown>,
  now: ReadonlyMap<string, unknown>,
): boolean {
  return before.size === now.size && [...now].every(([ref, commit]) => before.get(ref) === commit)
}

export function formatPackageLabel(path: string, reports: readonly DriftReport[] = []): string {
  return getUnitName(
    reports.find(({ spec }) => spec.unit.package === path)?.spec.unit ?? { package: path },
  )
}
