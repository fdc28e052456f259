import { formatJson, type Json } from '@backporch/kyaml/json'
import { findWorstRisk } from '../../plan/observation/closed-episode.ts'
import { createStaleNotes } from '../../plan/turn/forge/listed-rules.ts'
import { createLastGoodNotes } from '../../policy/last-good-policy.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { stateWord } from '../../record/stuck-lines.ts'
import { getUnitName } from '../../record/unit-name.ts'
import type { LedgerContext } from '../context/cli-context.ts'
import type { Terminal } from '../context/terminal.ts'
import type { ExitOptions, ListOptions, RepositoryOptions, WatchOptions } from '../flags/options.ts'
import { computeSinceTime, isNotBefore, type SelectionOptions } from '../flags/selection-flags.ts'
import { buildClusterParts, getSeenTime, isStale, listFreshnessNotes } from '../print/freshness.ts'
import { buildNotesPart, printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { formatProposalName } from '../print/pull-request.ts'
import { count } from '../print/ranked-changes.ts'
import { type Column, printRows } from '../print/table.ts'
import { describeStuckSince, formatAge } from '../print/time-text.ts'
import {
  formatDriftCount,
  formatHealthCell,
  formatHeldCell,
  formatUnhealthyCell,
  getUnitSource,
} from '../print/unit-cells.ts'
import { listIncompleteOfReports, printReports, reportList } from '../report/print-document.ts'
import { type LedgerReading, showLedger } from '../session/ledger-session.ts'
import { listGivenFlags, printHidden, selectUnits } from '../session/selection.ts'

type StatusOptions = RepositoryOptions & WatchOptions & ListOptions & ExitOptions & SelectionOptions

const STATE_GLYPH = {
  InSync: 'ok',
  Drifted: 'changed',
  Applying: 'changed',
  Silenced: 'ok',
  Behind: 'ok',
  SyncFailed: 'warning',
  Reconciling: 'ok',
  Suspended: 'ok',
  Unknown: 'unknown',
  Off: 'ok',
} as const

export async function showStatus(
  packages: readonly string[],
  options: StatusOptions,
  cli: LedgerContext,
): Promise<number> {
  const printer = new Printer(cli, options)
  const widths: number[] = []
  const matches = stateFilter(options, cli.clock.now())
  return showLedger(cli, options, async (reading) => {
    const selection = await selectUnits(reading, { named: packages }, options, cli.signal)
    const selected = reading.ledger.reports.filter(
      (report) =>
        selection.takesPackage(report.spec.unit.package) &&
        selection.takesCluster(report.spec.unit.cluster) &&
        selection.inNamespace(report) !== false,
    )
    const reports = selected.filter(matches)
    // People read status every day.
    const stale = createStaleNotes(
      reading.view.policies,
      reading.ledger.reports,
      cli.clock.now().toISOString().slice(0, 10),
    )
    return {
      rows: new Map(reports.map((report) => [getName(report), formatReport(report)])),
      print: (names) => {
        const shown = reports.filter((report) => names === undefined || names.has(getName(report)))
        const list = {
          ...reportList(shown, listIncompleteOfReports(shown)),
          ...buildClusterParts(shown, reading.ledger),
          ...buildNotesPart([...createLastGoodNotes(reading.view.policies), ...stale], printer),
        }
        if (!printReports(list, printer)) {
          const columns = createStatusColumns(printer.terminal, cli.clock.now(), reading.view)
          const nameOf = ({ spec }: DriftReport): string => getUnitName(spec.unit)
          printRows({ rows: shown, columns, nameOf, widths, headers: names === undefined }, printer)
        }
        if (names !== undefined || printer.quiet) return
        printHidden(
          selected.length - reports.length,
          'package',
          listGivenFlags(options, ['risk', 'state', 'since']),
          printer,
        )
        if (!printer.isTable) return
        cli.stderr.write(formatSummary(reports, selected.length, reading))
        printNotes(
          [
            ...listFreshnessNotes(selected, reading.ledger, reading.view, cli.clock.now()),
            ...stale,
          ],
          printer,
        )
      },
      exit:
        reading.view.ledger === null && options.partial !== 'ok'
          ? 3
          : computeExit(selected, reports, options),
    }
  })
}

/** Nothing differs, but an object is Failed. */
const UNHEALTHY = 5

/** An Unknown package may have any risk and newer changes. */
function stateFilter(
  { risk, state, since }: StatusOptions,
  now: Date,
): (report: DriftReport) => boolean {
  const after = since === undefined ? undefined : computeSinceTime(since, now)
  return (report) => {
    if (state?.includes(report.status.state) === false) return false
    if (report.status.state === 'Unknown') return true
    const worst = findWorstRisk(report.spec.changes)
    return (
      (risk === undefined || (worst !== undefined && risk.includes(worst))) &&
      isNotBefore(report.status.since, after)
    )
  }
}

/** Failed objects count only if nothing else does, with a separate code: health is not drift. */
function computeExit(
  selected: readonly DriftReport[],
  shown: readonly DriftReport[],
  options: StatusOptions,
): number {
  if (options.partial !== 'ok' && selected.some(({ status: { state } }) => state === 'Unknown'))
    return 3
  const drifted = shown.some(
    ({ status: { state, stuckSince } }) =>
      state === 'Drifted' || state === 'Applying' || stuckSince !== undefined,
  )
  if (options.exitCode === false) return 0
  return drifted
    ? 1
    : shown.some(({ status }) => status.health?.status === 'Failed')
      ? UNHEALTHY
      : 0
}

/** Without the observation time. */
function formatReport(report: DriftReport): string {
  const { seenAt: _seen, ...observed } = report.spec.observed
  return formatJson({ ...report, spec: { ...report.spec, observed } } as unknown as Json)
}

function getName({ spec: { unit } }: DriftReport): string {
  return `${unit.cluster} ${getUnitName(unit)}`
}

interface CellContext {
  readonly terminal: Terminal
  readonly now: Date
  readonly view: LedgerReading['view']
  /** RFC 3339 UTC. */
  readonly age: (at: string) => string
}

interface StatusColumn {
  readonly name: string
  /** Only with `-o wide`. */
  readonly wide?: boolean
  readonly about: string
  readonly value: (report: DriftReport, cell: CellContext) => string
}

/** In print order, as in docs/guides/selecting-and-watching.md. */
export const STATUS_COLUMNS: readonly StatusColumn[] = [
  { name: 'CLUSTER', about: 'name of the cluster', value: ({ spec }) => spec.unit.cluster },
  { name: 'PACKAGE', about: 'path of the package', value: ({ spec }) => getUnitName(spec.unit) },
  {
    name: 'REVISION',
    about: 'latest published package revision',
    value: ({ spec }) => spec.unit.revision ?? '-',
  },
  { name: 'STATE', about: 'state of the package ([states](states.md))', value: stateCell },
  {
    name: 'HEALTH',
    about: 'worst status of its objects, as kstatus defines it',
    value: ({ status: { health } }, { terminal }) => formatHealthCell(health?.status, terminal),
  },
  { name: 'DRIFT', about: 'number of differences', value: formatDriftCount },
  {
    name: 'RISK',
    about: 'highest risk of the differences ([risk](risk.md))',
    value: ({ spec }) => findWorstRisk(spec.changes) ?? '-',
  },
  {
    name: 'SINCE',
    about: 'first observation of the state',
    value: ({ status: { since, state } }, { age }) => (state === 'InSync' ? '-' : age(since)),
  },
  { name: 'PLAN', about: 'resolution that the open proposal would apply', value: planCell },
  {
    name: 'PR',
    about: 'pull request, or why there is none yet',
    value: (report) =>
      report.status.lifecycle === 'Proposed'
        ? formatProposalName(report)
        : formatHeld(report.status.held),
  },
  {
    name: 'OBSERVED',
    about: 'last recorded observation',
    value: (report, { age }) => age(getSeenTime(report)),
  },
  {
    name: 'UNHEALTHY',
    wide: true,
    about: 'objects that are not Current',
    value: ({ status: { health } }) => formatUnhealthyCell(health),
  },
  {
    name: 'HELD',
    wide: true,
    about: 'why the proposal is held back, and until when',
    value: ({ status }) => formatHeldCell(status.held),
  },
  {
    name: 'SOURCE',
    wide: true,
    about: 'what declares the package',
    value: ({ spec }, { view }) => getUnitSource(spec.unit, view.policies),
  },
  {
    name: 'SYNCER',
    wide: true,
    about: 'field manager that applies the package',
    value: ({ spec }) => spec.observed.syncer || '-',
  },
  {
    name: 'URL',
    wide: true,
    about: 'address of the pull request',
    value: ({ status }) => status.pullRequest?.url ?? '-',
  },
  {
    name: 'COMMIT',
    wide: true,
    about: 'commit that was compared',
    value: ({ spec }) => spec.unit.commit.slice(0, 7),
  },
]

function createStatusColumns(
  terminal: Terminal,
  now: Date,
  view: LedgerReading['view'],
): readonly Column<DriftReport>[] {
  const age = (at: string): string =>
    at === '' ? '-' : terminal.isTTY ? formatAge(now.getTime() - Date.parse(at)) : at
  const cell: CellContext = { terminal, now, view, age }
  return STATUS_COLUMNS.map((column) => ({
    ...column,
    value: (report) => column.value(report, cell),
  }))
}

function stateCell(report: DriftReport, { terminal, now, view, age }: CellContext): string {
  const { state, stuckSince } = report.status
  const stale = isStale(report, view, now)
  if (state === 'Behind' && stuckSince !== undefined)
    return `${terminal.getGlyph('warning')} ${state} (${describeStuckSince(stuckSince ? age(stuckSince) : undefined)})`
  return `${terminal.getGlyph(stale ? 'unknown' : STATE_GLYPH[state])} ${state}${stale ? ' (stale)' : ''}`
}

/** An earlier version wrote a plan for mode Off. */
function planCell({ status: { plan, lifecycle, state } }: DriftReport): string {
  return plan === '' || lifecycle === 'Draft' || state === 'Off' ? '-' : plan.toLowerCase()
}

function formatHeld(held: DriftReport['status']['held']): string {
  return held === undefined ? '-' : `held: ${held.reason}`
}

function formatSummary(
  reports: readonly DriftReport[],
  selected: number,
  { view, ledger }: LedgerReading,
): string {
  const known = ledger.reports.length
  if (known === 0) {
    const packages = view.packages.length
    return `nothing is recorded yet for ${count(packages, 'package')}: run backporch scan to observe a cluster\n`
  }
  if (selected === 0)
    return `no package matches the filters (${known} recorded): backporch status lists them\n`
  if (reports.length === 0) return ''
  const inState = (state: string): number =>
    reports.filter((report) => report.status.state === state).length
  const held = reports.filter(({ status }) => status.held !== undefined).length
  const stuck = reports.filter(
    ({ status }) => status.stuckSince !== undefined && status.state !== 'SyncFailed',
  ).length
  const failed = reports.filter(({ status }) => status.health?.status === 'Failed').length
  const parts = [
    `${inState('InSync')} in sync`,
    `${inState('Drifted')} drifted`,
    ...(
      [
        'Applying',
        'Silenced',
        'Behind',
        'SyncFailed',
        'Reconciling',
        'Suspended',
        'Unknown',
        'Off',
      ] as const
    ).flatMap((state) => (inState(state) === 0 ? [] : [`${inState(state)} ${stateWord(state)}`])),
    ...(stuck === 0 ? [] : [`${stuck} stuck (backporch diff says what the syncer did not apply)`]),
    ...(failed === 0 ? [] : [`${failed} failed (-o wide names the objects)`]),
    ...(held === 0 ? [] : [`${held} held back (-o wide says until when)`]),
  ]
  return `${reports.length} recorded: ${parts.join(', ')}\n`
}
