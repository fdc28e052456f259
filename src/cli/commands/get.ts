import type { Command } from 'commander'
import { parseKptAnnotations } from '../../package/kpt-annotation.ts'
import { listPackageRevisions, type PackageRevision } from '../../package/package-revision.ts'
import { worstRisk } from '../../plan/closed-episode.ts'
import type { RepositoryView } from '../../reconcile/repository-view.ts'
import { formatValue } from '../../record/format-value.ts'
import { API_VERSION, type Change, type DriftReport } from '../../record/schema.ts'
import { driftCount } from '../drift-count.ts'
import { packageLabel, readLedgerOf } from '../ledger-session.ts'
import { type CommonOptions, withOutputFlags, withRepositoryFlags } from '../options.ts'
import { timeOf } from '../print-diff.ts'
import { printDocument, reportList } from '../print-document.ts'
import { type Column, checkedColumns, formatTable } from '../table.ts'
import { Terminal } from '../terminal.ts'
import type { Run, World } from '../world.ts'

interface GetOptions extends CommonOptions {
  readonly risk?: string
}

export function addGetCommand(program: Command, world: World, run: Run): void {
  const get = program.command('get').description('lists, from git alone')
  const packages = get
    .command('packages')
    .description('package revisions as porchctl lists them, with their drift')
    .argument('[packages...]', 'only these')
  withOutputFlags(withRepositoryFlags(packages)).option('--cluster <name>', 'only this cluster')
  packages.action((names: string[], options: GetOptions) => run(() => getPackages(names, options, world)))
  const drifts = get.command('drifts').description('one row for each field or object that differs').argument('[packages...]', 'only these')
  withOutputFlags(withRepositoryFlags(drifts)).option('--cluster <name>', 'only this cluster').option('--risk <level>', 'only this risk')
  drifts.action((names: string[], options: GetOptions) => run(() => getDrifts(names, options, world)))
}

interface PackageRow {
  readonly revision: PackageRevision
  readonly reports: readonly DriftReport[]
}

async function getPackages(names: readonly string[], options: GetOptions, world: World): Promise<number> {
  const { view, ledger } = await readLedgerOf(world, options)
  const { revisions, unlistable, problems } = listPackageRevisions({
    repository: view.name,
    branch: view.baseBranch,
    directory: '',
    refs: view.refs,
    packages: view.packages.map(({ path }) => path),
    annotations: await annotationsOf(view, world.signal),
  })
  const reports = ledger.reports.filter(({ spec }) => options.cluster === undefined || spec.unit.cluster === options.cluster)
  const rows = revisions
    .filter(({ packagePath }) => names.length === 0 || names.map((name) => name.replace(/\/+$/, '')).includes(packagePath))
    .map((revision) => ({ revision, reports: reports.filter(({ spec }) => spec.unit.package === revision.packagePath) }))
  if (options.output === 'json' || options.output === 'yaml') {
    const items = rows.map(({ revision, reports: own }) => ({
      ...revision,
      drift: own.map(({ spec, status }) => ({ cluster: spec.unit.cluster, state: status.state, changes: spec.changes.length })),
    }))
    printDocument({ apiVersion: API_VERSION, kind: 'PackageRevisionList', items }, options.output, world)
  } else if (options.output === 'name') world.stdout.write(rows.map(({ revision }) => `${revision.name}\n`).join(''))
  else
    world.stdout.write(
      formatTable(rows, PACKAGE_COLUMNS, {
        headers: options.headers,
        wide: options.output === 'wide',
        columns: checkedColumns(options.columns, PACKAGE_COLUMNS),
      }),
    )
  if (options.quiet !== true) {
    if (unlistable !== undefined) world.stderr.write(`note: a Porch server cannot list this repository: ${unlistable}\n`)
    for (const problem of problems) world.stderr.write(`note: ${problem}\n`)
  }
  return 0
}

const PACKAGE_COLUMNS: readonly Column<PackageRow>[] = [
  { name: 'NAME', value: ({ revision }) => revision.name },
  { name: 'PACKAGE', value: ({ revision }) => packageLabel(revision.packageName) },
  { name: 'WORKSPACENAME', value: ({ revision }) => revision.workspace },
  { name: 'REVISION', value: ({ revision }) => String(revision.revision) },
  { name: 'LATEST', value: ({ revision }) => String(revision.latest) },
  { name: 'LIFECYCLE', value: ({ revision }) => revision.lifecycle },
  { name: 'REPOSITORY', value: ({ revision }) => revision.name.slice(0, revision.name.indexOf('.')) },
  { name: 'DRIFT', value: driftOf },
  { name: 'RISK', value: (row) => (hasDrift(row) ? (worstRisk(row.reports.flatMap(({ spec }) => spec.changes)) ?? '-') : '-') },
  { name: 'PR', value: ({ revision }) => (revision.lifecycle === 'Proposed' ? revision.workspace : '-') },
]

/** Drift belongs to what runs (the latest published revision, or the branch before the first one) and to the episode's own branch. */
function hasDrift({ revision, reports }: PackageRow): boolean {
  const published = revision.lifecycle === 'Published' && (revision.latest || revision.revision === -1)
  return published || reports.some(({ status }) => revision.workspace === `drift-${status.episode}`)
}

function driftOf(row: PackageRow): string {
  if (!hasDrift(row) || row.reports.length === 0) return '-'
  return row.reports.length === 1 && row.reports[0] !== undefined
    ? driftCount(row.reports[0])
    : `${row.reports.filter(({ spec }) => spec.changes.length > 0).length} clusters`
}

async function annotationsOf(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<Map<RepositoryView['base'], ReturnType<typeof parseKptAnnotations>['annotations']>> {
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

async function getDrifts(names: readonly string[], options: GetOptions, world: World): Promise<number> {
  const { ledger } = await readLedgerOf(world, options)
  const wanted = names.map((name) => name.replace(/\/+$/, ''))
  const reports = ledger.reports.filter(
    ({ spec }) =>
      (wanted.length === 0 || wanted.includes(spec.unit.package)) &&
      (options.cluster === undefined || spec.unit.cluster === options.cluster),
  )
  const now = world.clock.now()
  if (options.output === 'json' || options.output === 'yaml') {
    printDocument(reportList(reports, `${now.toISOString().slice(0, 19)}Z`, []), options.output, world)
    return 0
  }
  const rows = reports.flatMap((report) => report.spec.changes.map((change, index) => ({ report, change, number: index + 1 })))
  const shown = rows.filter(({ change }) => options.risk === undefined || change.risk === options.risk)
  const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
  const columns: Column<DriftRow>[] = [
    { name: 'CLUSTER', value: ({ report }) => report.spec.unit.cluster },
    { name: 'PACKAGE', value: ({ report }) => packageLabel(report.spec.unit.package) },
    { name: '#', value: ({ number }) => String(number) },
    { name: 'OBJECT', value: ({ change: { ref } }) => `${ref.kind}/${ref.name}` },
    { name: 'CHANGE', value: ({ change }) => change.change },
    { name: 'FIELD', value: ({ change }) => change.path ?? '-' },
    { name: 'GIT', value: ({ change }) => (change.path === undefined ? '-' : formatValue(change.git, 40)) },
    { name: 'LIVE', value: ({ change }) => (change.path === undefined ? '-' : formatValue(change.live, 40)) },
    { name: 'BY', value: ({ change: { actor } }) => actor.manager },
    { name: 'AT', value: ({ change: { actor } }) => timeOf(actor.at, { now: now.getTime() }, terminal) },
    { name: 'RISK', value: ({ change }) => change.risk },
    { name: 'REASON', wide: true, value: ({ change }) => change.reason },
    { name: 'NAMESPACE', wide: true, value: ({ change }) => change.ref.namespace },
  ]
  if (options.output === 'name') world.stdout.write(shown.map(({ change: { ref } }) => `${ref.kind.toLowerCase()}/${ref.name}\n`).join(''))
  else
    world.stdout.write(
      formatTable(shown, columns, {
        headers: options.headers,
        wide: options.output === 'wide',
        columns: checkedColumns(options.columns, columns),
      }),
    )
  return 0
}
