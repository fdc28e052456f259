import type { Note } from '../../note.ts'
import { parseKptAnnotations } from '../../package/kpt-annotation.ts'
import { listPackageRevisions, type PackageRevision } from '../../package/package-revision.ts'
import { worstRisk } from '../../plan/decisions/closed-episode.ts'
import type { RepositoryView } from '../../reconcile/repository/repository-view.ts'
import { actorName } from '../../record/actor-name.ts'
import { API_VERSION, type Change, type DriftReport } from '../../record/schema.ts'
import { unitName } from '../../record/unit-name.ts'
import { worstHealth } from '../../status/unit-health.ts'
import { formatJson, type Json } from '../../text/json.ts'
import type { CliContext } from '../cli-context.ts'
import type { ListOptions, RepositoryOptions, WatchOptions } from '../flags/options.ts'
import { changeFilter, changeKey, flagsGiven, narrowReport, printHidden, selectUnits } from '../flags/selection.ts'
import type { SelectionOptions } from '../flags/selection-flags.ts'
import { showLedger } from '../ledger-session.ts'
import { freshnessNotes } from '../print/freshness.ts'
import { sidesText, timeOf } from '../print/print-diff.ts'
import { incompleteOfReports, printList, printReports, reportList } from '../print/print-document.ts'
import { notesPart, printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { type Column, objectWord, printRows } from '../print/table.ts'
import type { Terminal } from '../print/terminal.ts'
import { driftCount, healthCell, heldCell, workspaceOf } from '../print/unit-cells.ts'

type GetOptions = RepositoryOptions & WatchOptions & ListOptions & Omit<SelectionOptions, 'since'>
type GetDriftsOptions = GetOptions & Pick<SelectionOptions, 'since'>

interface PackageRow {
  readonly revision: PackageRevision
  readonly reports: readonly DriftReport[]
}

export async function getPackages(names: readonly string[], options: GetOptions, cli: CliContext): Promise<number> {
  const printer = new Printer(cli, options)
  const widths: number[] = []
  return showLedger(cli, options, async (reading) => {
    const { view, ledger } = reading
    const { revisions, unlistable, problems } = listPackageRevisions({
      repository: view.name,
      branch: view.baseBranch,
      directory: '',
      refs: view.refs,
      packages: view.packages.map(({ path }) => path),
      annotations: await annotationsOf(view, cli.signal),
    })
    const notes = [...(unlistable === undefined ? [] : [hiddenFromPorch(unlistable)]), ...problems]
    const selection = await selectUnits(
      reading,
      { named: names, alsoKnown: revisions.map(({ packagePath }) => packagePath) },
      options,
      cli.signal,
    )
    const reports = ledger.reports.filter(
      (report) => selection.takesCluster(report.spec.unit.cluster) && selection.inNamespace(report) !== false,
    )
    const selected = revisions
      .filter(({ packagePath }) => selection.takesPackage(packagePath))
      .map((revision) => ({ revision, reports: reports.filter((report) => isAbout(report, revision)) }))
    const rows = selected.filter((row) => isWanted(row, options))
    const fresh = freshnessNotes([...new Set(selected.flatMap((row) => row.reports))], ledger, view, cli.clock.now())
    return {
      rows: new Map(rows.map((row) => [row.revision.name, formatJson(row as unknown as Json)])),
      print: (only) => {
        const shown = rows.filter(({ revision }) => only === undefined || only.has(revision.name))
        const part = notesPart([...ledger.problems, ...fresh, ...notes], printer)
        if (!printList({ apiVersion: API_VERSION, kind: 'PackageRevisionList', items: shown.map(itemOf), ...part }, printer)) {
          const columns = packageColumns(printer.terminal)
          printRows({ rows: shown, columns, nameOf: ({ revision }) => revision.name, widths, headers: only === undefined }, printer)
        }
        if (only !== undefined) return
        printNotes(printer.isTable ? [...fresh, ...notes] : notes, printer)
        printHidden(selected.length - rows.length, 'revision', flagsGiven(options, ['namespace', 'risk', 'state']), printer)
      },
      exit: 0,
    }
  })
}

function hiddenFromPorch(why: string): Note {
  return { cause: 'porch-cannot-list', subject: '', text: `a Porch server cannot list this repository: ${why}` }
}

/** An unobserved revision has no known namespace, risk or state, and these flags select known values. */
function isWanted(row: PackageRow, { namespace, risk, state }: GetOptions): boolean {
  if (namespace !== undefined && row.reports.length === 0) return false
  if (risk === undefined && state === undefined) return true
  const worst = worstRisk(row.reports.flatMap(({ spec }) => spec.changes))
  const unknown = row.reports.some(({ status }) => status.state === 'Unknown')
  return (
    (risk === undefined || unknown || (worst !== undefined && risk.includes(worst))) &&
    (state === undefined || row.reports.some(({ status }) => state.includes(status.state)))
  )
}

function itemOf({ revision, reports }: PackageRow): object {
  return {
    ...revision,
    drift: reports.map(({ spec, status }) => ({
      cluster: spec.unit.cluster,
      state: status.state,
      changes: spec.changes.length,
      ...(status.health === undefined ? {} : { health: status.health.status }),
    })),
  }
}

const packageColumns = (terminal: Terminal): Column<PackageRow>[] => [
  { name: 'NAME', value: ({ revision }) => revision.name },
  {
    name: 'PACKAGE',
    value: ({ revision, reports }) => revision.packageName || unitName(reports[0]?.spec.unit ?? { package: '' }),
  },
  { name: 'WORKSPACENAME', value: ({ revision }) => revision.workspace },
  { name: 'REVISION', value: ({ revision }) => String(revision.revision) },
  { name: 'LATEST', value: ({ revision }) => String(revision.latest) },
  { name: 'LIFECYCLE', value: ({ revision }) => revision.lifecycle },
  { name: 'REPOSITORY', value: ({ revision }) => revision.name.slice(0, revision.name.indexOf('.')) },
  { name: 'DRIFT', value: driftOf },
  { name: 'RISK', value: ({ reports }) => worstRisk(reports.flatMap(({ spec }) => spec.changes)) ?? '-' },
  {
    name: 'HEALTH',
    value: ({ reports }) => healthCell(worstHealth(reports.flatMap(({ status }) => status.health?.status ?? [])), terminal),
  },
  { name: 'PR', value: ({ revision }) => (revision.lifecycle === 'Proposed' ? revision.workspace : '-') },
]

/** Drift belongs to the running revision (the latest published one, or the base branch before it) and to the branch of its episode. */
function isAbout({ spec, status }: DriftReport, revision: PackageRevision): boolean {
  // Branches and tags of a package without a path have its name.
  const { package: path, name } = spec.unit
  if (path !== revision.packagePath && (path !== '' || name !== revision.packagePath)) return false
  const published = revision.lifecycle === 'Published' && (revision.latest || revision.revision === -1)
  return published || revision.workspace === workspaceOf(status)
}

function driftOf({ reports }: PackageRow): string {
  const [only, ...others] = reports
  if (only === undefined) return '-'
  if (others.length === 0) return driftCount(only)
  const unknown = reports.filter(({ status }) => status.state === 'Unknown').length
  const drifted = reports.filter(({ spec, status }) => status.state !== 'Unknown' && spec.changes.length > 0).length
  return `${drifted} clusters${unknown === 0 ? '' : `, ${unknown} unknown`}`
}

async function annotationsOf(view: RepositoryView, signal: AbortSignal) {
  const found = new Map<RepositoryView['base'], ReturnType<typeof parseKptAnnotations>['annotations']>()
  for (const [ref, commit] of view.refs) {
    if (!ref.startsWith('refs/tags/') || found.has(commit)) continue
    const { message } = await view.repository.commit(commit, signal)
    found.set(commit, parseKptAnnotations(message).annotations)
  }
  return found
}

interface DriftRow {
  readonly report: DriftReport
  readonly change: Change
  readonly number: number
}

export async function getDrifts(names: readonly string[], options: GetDriftsOptions, cli: CliContext): Promise<number> {
  const printer = new Printer(cli, options)
  const widths: number[] = []
  const filter = changeFilter(options, cli.clock.now())
  return showLedger(cli, options, async ({ view, ledger }) => {
    const selection = await selectUnits({ view, ledger }, { named: names }, { ...options, namespace: undefined }, cli.signal)
    const selected = ledger.reports.filter(
      ({ spec, status }) =>
        selection.takesPackage(spec.unit.package) &&
        selection.takesCluster(spec.unit.cluster) &&
        options.state?.includes(status.state) !== false,
    )
    const all = selected.flatMap((report) => report.spec.changes.map((change, index) => ({ report, change, number: index + 1 })))
    const wanted = all.filter(({ change }) => filter.shows(change))
    const numbers = new Map(all.map(({ change, number }) => [change, number]))
    return {
      rows: new Map(wanted.map((row) => [changeKey(row.report.spec.unit, row.change), formatJson(row.change as unknown as Json)])),
      print: (only) => {
        const shown = wanted.filter(({ report, change }) => only === undefined || only.has(changeKey(report.spec.unit, change)))
        const reports = selected.map((report) => narrowReport(report, filter))
        const list = { ...reportList(reports, incompleteOfReports(reports)), ...notesPart(ledger.problems, printer) }
        if (!printReports(list, printer, numbers)) {
          const columns = driftColumns(printer.terminal, cli.clock.now().getTime())
          // A watch prints later rows below them.
          const headers = only === undefined && (shown.length > 0 || options.watch === true)
          printRows({ rows: shown, columns, nameOf: ({ change }) => objectWord(change.ref), widths, headers }, printer)
        }
        if (only !== undefined) return
        printHidden(all.length - wanted.length, 'change', filter.flags, printer)
        if (printer.isTable) printNotes(freshnessNotes(selected, ledger, view, cli.clock.now()), printer)
        if (all.length === 0 && printer.isTable) printer.hint('no drift recorded')
      },
      exit: 0,
    }
  })
}

function driftColumns(terminal: Terminal, now: number): Column<DriftRow>[] {
  return [
    { name: 'CLUSTER', value: ({ report }) => report.spec.unit.cluster },
    { name: 'PACKAGE', value: ({ report }) => unitName(report.spec.unit) },
    { name: '#', value: ({ number }) => String(number) },
    { name: 'OBJECT', value: ({ change: { ref } }) => `${ref.kind}/${ref.name}` },
    { name: 'CHANGE', value: ({ change }) => change.change },
    { name: 'FIELD', value: ({ change }) => change.path ?? '-' },
    { name: 'GIT', value: ({ change }) => (change.path === undefined ? '-' : sidesText(change, terminal).git) },
    { name: 'LIVE', value: ({ change }) => (change.path === undefined ? '-' : sidesText(change, terminal).live) },
    { name: 'BY', value: ({ change: { actor } }) => actorName(actor) },
    { name: 'AT', value: ({ change: { actor } }) => timeOf(actor.at, { now }, terminal) },
    { name: 'RISK', value: ({ change }) => change.risk },
    { name: 'REASON', wide: true, value: ({ change }) => change.reason },
    { name: 'NAMESPACE', wide: true, value: ({ change }) => change.ref.namespace },
    { name: 'HELD', wide: true, value: ({ report }) => heldCell(report.status.held) },
  ]
}
