import type { PackageRevision } from '@backporch/kpt/revision'
import { formatJson, type Json } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { findWorstRisk } from '../../plan/observation/closed-episode.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import { readPorchListing } from '../../reconcile/repository/read-porch-listing.ts'
import { formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { findWorstHealth } from '../../status/unit-health.ts'
import type { LedgerContext } from '../context/cli-context.ts'
import type { Terminal } from '../context/terminal.ts'
import type { PORCH_FLAGS } from '../flags/command-flags.ts'
import type { ListOptions, RepositoryOptions, ValuesOf, WatchOptions } from '../flags/options.ts'
import type { SelectionOptions } from '../flags/selection-flags.ts'
import { listFreshnessNotes } from '../print/freshness.ts'
import { buildNotesPart, printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { formatProposalName } from '../print/pull-request.ts'
import { count } from '../print/ranked-changes.ts'
import { formatSidesText } from '../print/sides-text.ts'
import { type Column, formatObjectWord, printRows } from '../print/table.ts'
import { formatTimeText } from '../print/time-text.ts'
import {
  formatDriftCount,
  formatHealthCell,
  formatHeldCell,
  getUnitSource,
  getWorkspaceName,
} from '../print/unit-cells.ts'
import {
  listIncompleteOfReports,
  printList,
  printReports,
  reportList,
} from '../report/print-document.ts'
import { type LedgerReading, showLedger } from '../session/ledger-session.ts'
import {
  changeFilter,
  changeKey,
  listGivenFlags,
  narrowReport,
  printHidden,
  selectUnits,
} from '../session/selection.ts'

type GetOptions = RepositoryOptions & WatchOptions & ListOptions & Omit<SelectionOptions, 'since'>
type GetPackagesOptions = GetOptions & ValuesOf<typeof PORCH_FLAGS>
type GetDriftsOptions = GetOptions & Pick<SelectionOptions, 'since'>

interface PackageRow {
  readonly path: string
  /** Undefined for a unit of a repository in which Porch lists nothing. */
  readonly revision: PackageRevision | undefined
  readonly reports: readonly DriftReport[]
}

export async function getPackages(
  names: readonly string[],
  options: GetPackagesOptions,
  cli: LedgerContext,
): Promise<number> {
  const printer = new Printer(cli, options)
  const widths: number[] = []
  return showLedger(cli, options, async (reading) => {
    const { view, ledger } = reading
    const registered = { repository: options.name ?? view.name, directory: options.directory ?? '' }
    const { revisions, problems } = await readPorchListing(view, registered, cli.signal)
    const folders = view.packages.filter(({ source }) => source === 'folder')
    const units =
      revisions.length === 0 && options.directory === undefined
        ? folders.map(({ path }) => path)
        : []
    const notes: readonly Note[] = [
      ...problems,
      ...(units.length > 0 ? [] : folders.map(({ path }) => createNotListedNote(path, view))),
    ]
    const selection = await selectUnits(
      reading,
      { named: names, alsoKnown: revisions.map(({ packagePath }) => packagePath) },
      options,
      cli.signal,
    )
    const reports = ledger.reports.filter(
      (report) =>
        selection.takesCluster(report.spec.unit.cluster) && selection.inNamespace(report) !== false,
    )
    const all: readonly PackageRow[] = [
      ...revisions.map((revision) => ({
        ...{ path: revision.packagePath, revision },
        reports: reports.filter((report) => isAbout(report, revision)),
      })),
      ...units.map((path) => ({
        path,
        revision: undefined,
        reports: reports.filter(({ spec }) => spec.unit.package === path),
      })),
    ]
    const selected = all.filter(({ path }) => selection.takesPackage(path))
    const rows = selected.filter((row) => isWanted(row, options))
    const fresh = listFreshnessNotes(
      [...new Set(selected.flatMap((row) => row.reports))],
      ledger,
      view,
      cli.clock.now(),
    )
    return {
      rows: new Map(rows.map((row) => [getRowKey(row), formatJson(row as unknown as Json)])),
      print: (only) => {
        const shown = rows.filter((row) => only === undefined || only.has(getRowKey(row)))
        const part = buildNotesPart([...ledger.problems, ...fresh, ...notes], printer)
        if (
          !printList(
            {
              apiVersion: API_VERSION,
              kind: 'PackageRevisionList',
              items: shown.map((row) => createItem(row, view.policies)),
              ...part,
            },
            printer,
          )
        ) {
          const columns = createPackageColumns(
            printer.terminal,
            registered.repository,
            view.policies,
          )
          const headers = only === undefined && (shown.length > 0 || options.watch === true)
          const named =
            printer.output === 'name' ? shown.filter((row) => nameOfRow(row) !== '') : shown
          printRows({ rows: named, columns, nameOf: nameOfRow, widths, headers }, printer)
        }
        if (only !== undefined) return
        printNotes(printer.isTable ? [...fresh, ...notes] : notes, printer)
        if (selected.length === 0 && printer.isTable)
          printer.hint(
            options.directory ? `no package revision in ${options.directory}` : NOTHING_LISTED,
          )
        else if (units.length > 0 && printer.isTable)
          printer.hint('no package revision of Porch: these are the units, by what applies them')
        printHidden(
          selected.length - rows.length,
          'revision',
          listGivenFlags(options, ['namespace', 'risk', 'state']),
          printer,
        )
      },
      exit: 0,
    }
  })
}

/** A scan records the units of a syncer. */
const NOTHING_LISTED =
  'no package revision, and no unit of a syncer is recorded (backporch scan finds them)'

/** Porch gives no name to a package at the repository root. */
function nameOfRow({ revision, path }: PackageRow): string {
  return revision === undefined ? path || '.' : (revision.name ?? '')
}

function getRowKey({ revision, path }: PackageRow): string {
  if (revision === undefined) return path
  return revision.name ?? revision.ref
}

function createNotListedNote(
  path: string,
  { recorded }: Pick<LedgerReading['view'], 'recorded'>,
): Note {
  const by = [
    ...new Set(
      recorded.flatMap((unit) =>
        unit.path === path && unit.appliedBy !== undefined ? [unit.appliedBy] : [],
      ),
    ),
  ]
  const what =
    by.length === 0 ? 'a folder without a Kptfile' : `a folder that ${by.join(' and ')} applies`
  return {
    cause: 'folder-not-listed',
    subject: path || '.',
    text: `${what} is not a package revision; backporch status has its drift`,
  }
}

/** An unobserved revision has no known namespace, risk or state. */
function isWanted(row: PackageRow, { namespace, risk, state }: GetOptions): boolean {
  if (namespace !== undefined && row.reports.length === 0) return false
  if (risk === undefined && state === undefined) return true
  const worst = findWorstRisk(row.reports.flatMap(({ spec }) => spec.changes))
  const unknown = row.reports.some(({ status }) => status.state === 'Unknown')
  return (
    (risk === undefined || unknown || (worst !== undefined && risk.includes(worst))) &&
    (state === undefined || row.reports.some(({ status }) => state.includes(status.state)))
  )
}

function createItem(row: PackageRow, policies: PolicySet): object {
  const { revision, path, reports } = row
  return {
    ...(revision === undefined
      ? { packagePath: path, packageName: path, source: findRowSource(row, policies) }
      : { ...revision, name: revision.name ?? '' }),
    drift: reports.map(({ spec, status }) => ({
      cluster: spec.unit.cluster,
      state: status.state,
      changes: spec.changes.length,
      ...(status.health === undefined ? {} : { health: status.health.status }),
    })),
  }
}

function findRowSource(
  { revision, path, reports: [report] }: PackageRow,
  policies: PolicySet,
): string {
  if (report !== undefined) return getUnitSource(report.spec.unit, policies)
  return revision === undefined
    ? getUnitSource({ cluster: '', package: path, source: 'folder' }, policies)
    : 'kpt'
}

const createPackageColumns = (
  terminal: Terminal,
  repository: string,
  policies: PolicySet,
): Column<PackageRow>[] => [
  { name: 'NAME', value: ({ revision }) => revision?.name ?? '' },
  {
    name: 'PACKAGE',
    value: ({ revision, path, reports }) =>
      (revision?.packageName ?? path) || getUnitName(reports[0]?.spec.unit ?? { package: '' }),
  },
  { name: 'WORKSPACENAME', value: ({ revision }) => revision?.workspace ?? '' },
  { name: 'REVISION', value: ({ revision }) => String(revision?.revision ?? '') },
  { name: 'LATEST', value: ({ revision }) => String(revision?.latest ?? '') },
  { name: 'LIFECYCLE', value: ({ revision }) => revision?.lifecycle ?? '' },
  { name: 'REPOSITORY', value: () => repository },
  { name: 'DRIFT', value: formatDrift },
  {
    name: 'RISK',
    value: ({ reports }) => findWorstRisk(reports.flatMap(({ spec }) => spec.changes)) ?? '-',
  },
  {
    name: 'HEALTH',
    value: ({ reports }) =>
      formatHealthCell(
        findWorstHealth(reports.flatMap(({ status }) => status.health?.status ?? [])),
        terminal,
      ),
  },
  { name: 'PR', value: formatProposal },
  { name: 'SOURCE', wide: true, value: (row) => findRowSource(row, policies) },
]

function formatProposal({ revision, reports }: PackageRow): string {
  if (revision !== undefined && revision.lifecycle !== 'Proposed') return '-'
  const open = reports.flatMap((report) =>
    report.status.lifecycle === 'Proposed' ? [formatProposalName(report)] : [],
  )
  return [...new Set(open)].join(', ') || revision?.workspace || '-'
}

/**
 * Drift belongs to the running revision (the latest published one, or the base branch before it)
 * and to the branch of its episode.
 */
function isAbout({ spec, status }: DriftReport, revision: PackageRevision): boolean {
  if (spec.unit.package !== revision.packagePath) return false
  const published =
    revision.lifecycle === 'Published' && (revision.latest || revision.revision === -1)
  return published || revision.workspace === getWorkspaceName(status)
}

function formatDrift({ reports }: PackageRow): string {
  const [only, ...others] = reports
  if (only === undefined) return '-'
  if (others.length === 0) return formatDriftCount(only)
  const unknown = reports.filter(({ status }) => status.state === 'Unknown').length
  const drifted = reports.filter(
    ({ spec, status }) => status.state !== 'Unknown' && spec.changes.length > 0,
  ).length
  return `${count(drifted, 'cluster')}${unknown === 0 ? '' : `, ${unknown} unknown`}`
}

interface DriftRow {
  readonly report: DriftReport
  readonly change: Change
  readonly number: number
}

export async function getDrifts(
  names: readonly string[],
  options: GetDriftsOptions,
  cli: LedgerContext,
): Promise<number> {
  const printer = new Printer(cli, options)
  const widths: number[] = []
  const filter = changeFilter(options, cli.clock.now())
  return showLedger(cli, options, async ({ view, ledger }) => {
    const selection = await selectUnits(
      { view, ledger },
      { named: names },
      { ...options, namespace: undefined },
      cli.signal,
    )
    const selected = ledger.reports.filter(
      ({ spec, status }) =>
        selection.takesPackage(spec.unit.package) &&
        selection.takesCluster(spec.unit.cluster) &&
        options.state?.includes(status.state) !== false,
    )
    const all = selected.flatMap((report) =>
      report.spec.changes.map((change, index) => ({ report, change, number: index + 1 })),
    )
    const wanted = all.filter(({ change }) => filter.shows(change))
    const numbers = new Map(all.map(({ change, number }) => [change, number]))
    return {
      rows: new Map(
        wanted.map((row) => [
          changeKey(row.report.spec.unit, row.change),
          formatJson(row.change as unknown as Json),
        ]),
      ),
      print: (only) => {
        const shown = wanted.filter(
          ({ report, change }) =>
            only === undefined || only.has(changeKey(report.spec.unit, change)),
        )
        const reports = selected.map((report) => narrowReport(report, filter))
        const list = {
          ...reportList(reports, listIncompleteOfReports(reports)),
          ...buildNotesPart(ledger.problems, printer),
        }
        if (!printReports(list, printer, numbers)) {
          const columns = createDriftColumns(printer.terminal, cli.clock.now().getTime())
          const headers = only === undefined && (shown.length > 0 || options.watch === true)
          printRows(
            {
              rows: shown,
              columns,
              nameOf: ({ change }) => formatObjectWord(change.ref),
              widths,
              headers,
            },
            printer,
          )
        }
        if (only !== undefined) return
        printHidden(all.length - wanted.length, 'change', filter.flags, printer)
        if (printer.isTable)
          printNotes(listFreshnessNotes(selected, ledger, view, cli.clock.now()), printer)
        if (all.length === 0 && printer.isTable) printer.hint('no drift recorded')
      },
      exit: 0,
    }
  })
}

function createDriftColumns(terminal: Terminal, now: number): Column<DriftRow>[] {
  return [
    { name: 'CLUSTER', value: ({ report }) => report.spec.unit.cluster },
    { name: 'PACKAGE', value: ({ report }) => getUnitName(report.spec.unit) },
    { name: '#', value: ({ number }) => String(number) },
    { name: 'OBJECT', value: ({ change: { ref } }) => `${ref.kind}/${ref.name}` },
    { name: 'CHANGE', value: ({ change }) => change.change },
    { name: 'FIELD', value: ({ change }) => change.path ?? '-' },
    {
      name: 'GIT',
      value: ({ change }) =>
        change.path === undefined ? '-' : formatSidesText(change, terminal).git,
    },
    {
      name: 'LIVE',
      value: ({ change }) =>
        change.path === undefined ? '-' : formatSidesText(change, terminal).live,
    },
    { name: 'BY', value: ({ change: { actor } }) => formatActorName(actor) },
    {
      name: 'AT',
      value: ({ change: { actor } }) => formatTimeText(actor.at || undefined, { now }, terminal),
    },
    { name: 'RISK', value: ({ change }) => change.risk },
    { name: 'REASON', wide: true, value: ({ change }) => change.reason },
    { name: 'NAMESPACE', wide: true, value: ({ change }) => change.ref.namespace },
    { name: 'HELD', wide: true, value: ({ report }) => formatHeldCell(report.status.held) },
  ]
}
