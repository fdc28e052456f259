import { type Command, Option } from 'commander'
import { selectPackages } from '../../package/find-packages.ts'
import { worstRisk } from '../../plan/closed-episode.ts'
import type { DriftReport } from '../../record/schema.ts'
import { driftCount } from '../drift-count.ts'
import { packageLabel, readLedgerOf } from '../ledger-session.ts'
import { type CommonOptions, withExitFlags, withOutputFlags, withRepositoryFlags } from '../options.ts'
import { formatAge } from '../print-diff.ts'
import { printDocument, reportList } from '../print-document.ts'
import { type Column, checkedColumns, formatTable } from '../table.ts'
import { Terminal } from '../terminal.ts'
import type { Run, World } from '../world.ts'

interface StatusOptions extends CommonOptions {
  readonly risk?: string
  readonly state?: string
}

export function addStatusCommand(program: Command, world: World, run: Run): void {
  const command = program
    .command('status')
    .description('state of every package in every cluster, from git alone')
    .argument('[packages...]', 'paths of packages; all of them otherwise')
    .option('--cluster <name>', 'only this cluster')
    .addOption(new Option('--risk <level>', 'only packages whose worst open risk is this').choices(['critical', 'high', 'medium', 'low']))
    .addOption(
      new Option('--state <state>', 'only packages in this state').choices(['InSync', 'Drifted', 'Applying', 'Silenced', 'Unknown']),
    )
  withExitFlags(withOutputFlags(withRepositoryFlags(command)))
  command.action((packages: string[], options: StatusOptions) => run(() => status(packages, options, world)))
}

const STATE_GLYPH = { InSync: 'ok', Drifted: 'changed', Applying: 'changed', Silenced: 'ok', Unknown: 'unknown', Off: 'ok' } as const

async function status(packages: readonly string[], options: StatusOptions, world: World): Promise<number> {
  const { view, ledger } = await readLedgerOf(world, options)
  const wanted = packages.length === 0 ? undefined : new Set(selectPackages(view.packages, packages).map(({ path }) => path))
  const reports = ledger.reports.filter(
    ({ spec, status: { state } }) =>
      (wanted === undefined || wanted.has(spec.unit.package)) &&
      (options.cluster === undefined || spec.unit.cluster === options.cluster) &&
      (options.risk === undefined || worstRisk(spec.changes) === options.risk) &&
      (options.state === undefined || state === options.state),
  )
  const now = world.clock.now()
  if (options.output === 'json' || options.output === 'yaml') {
    const incomplete = reports.flatMap((report) =>
      (report.status.incomplete ?? []).map((entry) => ({ package: report.spec.unit.package, ...entry })),
    )
    printDocument(reportList(reports, `${now.toISOString().slice(0, 19)}Z`, incomplete), options.output, world)
  } else if (options.output === 'name') world.stdout.write(reports.map(({ spec }) => `${packageLabel(spec.unit.package)}\n`).join(''))
  else {
    const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
    const table = {
      headers: options.headers,
      wide: options.output === 'wide',
      columns: checkedColumns(options.columns, statusColumns(terminal, now)),
    }
    world.stdout.write(formatTable(reports, statusColumns(terminal, now), table))
    if (options.quiet !== true) world.stderr.write(summary(reports, view.packages.length))
  }
  const unknown = reports.some((report) => report.status.state === 'Unknown')
  if (unknown && options.partial !== 'ok') return 3
  return options.exitCode !== false && reports.some((report) => report.status.state === 'Drifted' || report.status.state === 'Applying')
    ? 1
    : 0
}

function statusColumns(terminal: Terminal, now: Date): Column<DriftReport>[] {
  const age = (at: string): string => (at === '' ? '-' : terminal.isTTY ? formatAge(now.getTime() - Date.parse(at)) : at)
  return [
    { name: 'CLUSTER', value: ({ spec }) => spec.unit.cluster },
    { name: 'PACKAGE', value: ({ spec }) => packageLabel(spec.unit.package) },
    { name: 'REVISION', value: ({ spec }) => spec.unit.revision ?? '-' },
    { name: 'STATE', value: ({ status: { state } }) => `${terminal.glyph(STATE_GLYPH[state])} ${state}` },
    { name: 'DRIFT', value: driftCount },
    { name: 'RISK', value: ({ spec }) => worstRisk(spec.changes) ?? '-' },
    { name: 'SINCE', value: ({ status: { since, state } }) => (state === 'InSync' ? '-' : age(since)) },
    { name: 'PLAN', value: ({ status: { plan, lifecycle } }) => (plan === '' || lifecycle === 'Draft' ? '-' : plan.toLowerCase()) },
    { name: 'PR', value: ({ status: { lifecycle, episode } }) => (lifecycle === 'Proposed' ? `drift-${episode}` : '-') },
    { name: 'OBSERVED', value: ({ spec }) => age(spec.observed.at) },
    { name: 'SYNCER', wide: true, value: ({ spec }) => spec.observed.syncer || '-' },
    { name: 'COMMIT', wide: true, value: ({ spec }) => spec.unit.commit.slice(0, 7) },
  ]
}

function summary(reports: readonly DriftReport[], packages: number): string {
  if (reports.length === 0)
    return `nothing is recorded yet for ${packages} ${packages === 1 ? 'package' : 'packages'}: backporch scan looks at a cluster\n`
  const count = (state: string): number => reports.filter((report) => report.status.state === state).length
  const parts = [
    `${count('InSync')} in sync`,
    `${count('Drifted')} drifted`,
    ...(['Applying', 'Silenced', 'Unknown'] as const).flatMap((state) =>
      count(state) === 0 ? [] : [`${count(state)} ${state.toLowerCase()}`],
    ),
  ]
  return `${reports.length} observed: ${parts.join(', ')}. Observed is when the ledger last had news.\n`
}
