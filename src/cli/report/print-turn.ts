import { Failure } from '@backporch/kyaml/failure'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { formatSettled } from '../../controller/transitions.ts'
import { createVisibility } from '../../drift/noise/visibility.ts'
import type { Observation, Unit } from '../../plan/observation/observation.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import { createStaleNotes } from '../../plan/turn/forge/listed-rules.ts'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import { dryRunLines, getWrittenWord } from '../../plan/turn/turn-words.ts'
import { listUnitFailures } from '../../plan/unit/unit-result.ts'
import { createLastGoodNotes } from '../../policy/last-good-policy.ts'
import { listSourceNotes } from '../../reconcile/repository/sources/discover-sources.ts'
import type { TurnResult } from '../../reconcile/turn/run-turn.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { restoreLosses } from '../../record/restore-losses.ts'
import { redactShownText, type VisibilityFor } from '../../record/shown-text.ts'
import { countResolutions } from '../../record/subject.ts'
import type { Terminal } from '../context/terminal.ts'
import type { DIFF_FLAGS, DryRunOption } from '../flags/command-flags.ts'
import type { Optional, RepositoryOptions, ValuesOf } from '../flags/options.ts'
import { changeOrigins } from '../print/change-origins.ts'
import {
  type EditedFile,
  formatEditedLocations,
  listEditedFiles,
} from '../print/edited-locations.ts'
import { formatDiff } from '../print/print-diff.ts'
import { printFailures } from '../print/print-failures.ts'
import { buildNotesPart, noteLines, printNotes } from '../print/print-notes.ts'
import { buildUnmanagedPart, formatUnmanaged } from '../print/print-unmanaged.ts'
import type { Printer } from '../print/printer.ts'
import { formatShellWord, printPublished } from '../print/published-lines.ts'
import { formatObjectWord, printNames } from '../print/table.ts'
import { formatUnifiedDiff } from '../print/unified-diff.ts'
import { describeHeld } from '../print/unit-cells.ts'
import { formatActions } from './plan-actions.ts'
import {
  listIncompleteOfClusters,
  listIncompleteOfUnits,
  printReports,
  reportList,
} from './print-document.ts'
import { printYamlDiff } from './print-yaml-diff.ts'

type TurnPrintOptions = Optional<
  Pick<ValuesOf<typeof DIFF_FLAGS>, 'showIgnored' | 'yaml'> & DryRunOption
> & {
  /** In the whole list, if only a part is shown. */
  readonly numbers?: ReadonlyMap<Change, number>
  /** Also if only some units are printed. */
  readonly hasSeveral?: boolean
}

/** @returns whether it printed text for people */
export function printTurn(
  result: TurnResult,
  options: TurnPrintOptions,
  printer: Printer,
): boolean {
  const { cli, terminal } = printer
  let message = false
  const say = (text: string): void => {
    message ||= text !== ''
    printer.write(text)
  }
  const planned = result.units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const reports = planned.map(({ plan }) => plan.report)
  const notes = [
    ...createLastGoodNotes(result.view.policies),
    ...listSourceNotes(result.view),
    ...planned.flatMap((unit) => unit.notes),
  ]
  const proposals = [...result.proposals].map(([branch, { label, url }]) => ({
    branch,
    label,
    url,
  }))
  const list = {
    ...reportList(reports, [
      ...listIncompleteOfUnits(result.units),
      ...listIncompleteOfClusters(result.notObserved),
    ]),
    ...(proposals.length === 0 ? {} : { proposals }),
    ...(options.dryRun === true
      ? {
          wouldWrite: [...result.written],
          actions: [...formatActions(result, createVisibilityLookup)],
        }
      : {}),
    // Only the whole ledger shows which rules match nothing.
    ...buildNotesPart(
      [
        ...notes,
        ...(result.observedAt === undefined
          ? []
          : createStaleNotes(result.view.policies, [], result.observedAt.slice(0, 10))),
      ],
      printer,
    ),
    ...(result.unmanaged.length === 0 ? {} : { unmanaged: buildUnmanagedPart(result.unmanaged) }),
  }
  const now = cli.clock.now().getTime()
  if (options.yaml === true) printYamlDiff(result, printer)
  else if (printer.output === 'name')
    printNames(
      [
        ...new Set(
          planned.flatMap(({ plan }) =>
            plan.report.spec.changes.map(({ ref }) => formatObjectWord(ref)),
          ),
        ),
      ],
      printer,
    )
  else if (!printReports(list, printer, options.numbers)) {
    const wide = printer.output === 'wide'
    for (const { unit, plan, observation } of planned) {
      const { packageName, appliedBy, cluster } = unit
      const { verdicts, health } = observation
      const origins = wide ? changeOrigins(observation) : undefined
      const { numbers, showIgnored = false, hasSeveral = result.units.length > 1 } = options
      const view = {
        packageName,
        appliedBy,
        cluster,
        plan,
        verdicts,
        showIgnored,
        health,
        now,
        wide,
        origins,
        numbers,
      }
      say(formatDiff({ ...view, isOneOfSeveral: hasSeveral }, terminal))
    }
  }
  if (options.yaml === true || printer.isTable)
    say(formatUnmanaged(result.unmanaged, now, terminal))
  // A turn that writes has the failure too.
  printNotes(
    notes.filter(({ cause }) => cause !== 'policy-not-used' || result.reported.length === 0),
    printer,
  )
  const failures = [
    ...result.notObserved.flatMap(createNotObservedFailures),
    ...result.units.flatMap(listUnitFailures),
    ...result.reported,
  ]
  printFailures(failures, cli, printer)
  return message || failures.length > 0
}

/** A connection failure may lack the cluster's name. */
function createNotObservedFailures({ cluster, failures }: NotObserved): readonly Failure[] {
  return failures.map(({ code, what, where, why, remedy, retry }) => {
    return new Failure({
      code,
      what: `${cluster}: ${what}`,
      ...(where === undefined ? {} : { where }),
      why,
      remedy,
      retry,
    })
  })
}

/** With `dryRun`, the writes that a real run would make. */
export async function printWrites(
  result: TurnResult,
  { repo, dryRun }: Pick<RepositoryOptions, 'repo'> & DryRunOption,
  printer: Printer,
): Promise<void> {
  printWritten(result, dryRun === true, printer)
  if (dryRun === true && !printer.quiet)
    for (const line of dryRunLines(result.written)) printer.write(`${line}\n`)
  await printPublished(result.updates, result.view.baseBranch, { repo }, printer)
}

function printWritten(result: TurnResult, dryRun: boolean, printer: Printer): void {
  const { terminal } = printer
  const several =
    new Set(result.units.flatMap((unit) => (unit.state === 'failed' ? [] : [unit.unit.cluster])))
      .size > 1
  for (const { plan } of result.plan.decided)
    for (const line of noteLines(plan.notes, printer))
      printer.write(`  ${convertToOneLine(line, 2_000)}\n`)
  for (const unit of result.units) {
    if (unit.state === 'failed' || unit.refused !== undefined) continue
    const { outcome, branch, notes, report } = unit.plan
    for (const line of noteLines(notes, printer))
      printer.write(`  ${convertToOneLine(line, 2_000)}\n`)
    for (const line of formatSettledLines(unit.plan, unit.unit, dryRun, terminal))
      printer.write(`${line}\n`)
    const word = getWrittenWord(unit)
    if (word === undefined || branch === '') continue
    const isDry = dryRun && outcome !== 'unchanged'
    const { packageName, cluster } = unit.unit
    const label = result.proposals.get(branch)?.label ?? branch
    const name = result.units.length > 1 && !label.includes(packageName) ? ` (${packageName})` : ''
    const [where, context] = several
      ? [` (${packageName} in ${cluster})`, ` --context ${formatShellWord(cluster)}`]
      : [name, '']
    printer.write(
      `${printer.ok} ${isDry ? 'would be ' : ''}${word}: ${label}${convertToOneLine(where)}\n`,
    )
    const files = listEditedFiles(unit.observation, unit.plan)
    const locations = formatEditedLocations(files)
    if (locations.length > 0)
      printer.write(
        `  ${isDry ? 'would edit' : 'edits'} ${convertToOneLine(locations.join(', '), 1_000)}\n`,
      )
    if (report.status.held !== undefined) printer.write(`  ${describeHeld(report.status.held)}\n`)
    if (report.status.lifecycle === 'Proposed' && outcome !== 'healed')
      printer.write(formatLossLines(unit.plan.record))
    if (isDry) {
      if (report.status.lifecycle === 'Proposed' && outcome !== 'healed')
        printer.write(`  plan: ${planText(report)}\n`)
      printer.write(
        files
          .map((file) =>
            formatEdit(
              { ...file, visibilityFor: createVisibilityLookup(unit.observation) },
              unit.observation.key,
              printer,
            ),
          )
          .join(''),
      )
      continue
    }
    // Nothing is decided while an earlier policy is in use.
    if (unit.observation.policy.lastGood !== undefined) continue
    if (outcome !== 'healed' && report.status.lifecycle === 'Draft') {
      const now = report.status.held === undefined ? '' : ' now'
      printer.write(
        `  next: backporch restore ${packageName}${context} (or adopt, or release) proposes it${now}\n`,
      )
    }
    if (outcome !== 'healed' && report.status.lifecycle === 'Proposed') {
      printer.write(
        `  next: backporch approve ${packageName}${context} (or reject) decides (plan: ${planText(report)})\n`,
      )
    }
  }
}

export function printSettled(settled: TurnResult['settled'], printer: Printer): void {
  if (printer.isTable)
    for (const one of settled) printer.write(`${printer.ok} ${formatSettled(one)}\n`)
}

export function formatLossLines(record: DriftRecord | undefined): string {
  return (record === undefined ? [] : restoreLosses(record))
    .map((loss) => `  ${convertToOneLine(loss, 2_000)}\n`)
    .join('')
}

function formatSettledLines(
  { outcomes }: UnitPlan,
  { packageName, cluster }: Unit,
  dryRun: boolean,
  terminal: Terminal,
): string[] {
  return outcomes.flatMap(({ episode: { spec, status } }) => {
    const name = convertToOneLine(`drift-${spec.episode} of ${packageName}`, 300)
    if (status.verifiedAt !== undefined)
      return [
        `${terminal.style(terminal.getGlyph('ok'), 'green')} ${name} ${dryRun ? 'would be' : 'is'} verified: ${convertToOneLine(cluster)} agrees with the decision`,
      ]
    if (status.failedAt === undefined) return []
    return [
      `${terminal.style(terminal.getGlyph('warning'), 'yellow')} ${name} is not settled: ${convertToOneLine(cluster)} still differs from the decision`,
    ]
  })
}

function planText({ spec, status }: DriftReport): string {
  return status.plan === 'Mixed' ? countResolutions(spec.changes) : (status.plan ?? '')
}

function createVisibilityLookup({ verdicts, policy }: Observation): VisibilityFor {
  const known = new Map(verdicts.map(({ id, visibilityOf }) => [getResourceKey(id), visibilityOf]))
  return (id) =>
    known.get(getResourceKey(id)) ?? createVisibility(id, UNKNOWN_SCHEMA, policy.visibility)
}

/** Without hidden values. */
export function formatEdit(
  file: EditedFile & { readonly visibilityFor?: VisibilityFor },
  key: RedactionKey,
  { terminal, cli }: Printer,
): string {
  const { path, before, after, visibilityFor } = file
  const [was, is] = [before, after].map((text) =>
    text === undefined ? '' : redactShownText(text, key, visibilityFor),
  )
  const name = convertToOneLine(path, 400)
  if (was === undefined || is === undefined)
    return `  the lines of ${name} are not shown: it holds a Secret, or is not YAML\n`
  const [git, edited] = [
    { name: `git/${name}`, text: before === undefined ? undefined : was },
    { name: `edited/${name}`, text: after === undefined ? undefined : is },
  ]
  return formatUnifiedDiff(git, edited, terminal, cli.env['GITHUB_ACTIONS'] === 'true')
}
