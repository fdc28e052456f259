import { Failure } from '@backporch/kyaml/failure'
import { formatJson, type Json } from '@backporch/kyaml/json'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import type { UnmanagedObjects } from '../../reconcile/observe/read-unmanaged.ts'
import { runTurn } from '../../reconcile/turn/run-turn.ts'
import type { CliContext, TurnContext } from '../context/cli-context.ts'
import type { DIFF_FLAGS } from '../flags/command-flags.ts'
import { computeExitStatus } from '../flags/exit-status.ts'
import type { AuditOptions, ExitOptions, ValuesOf, WatchOptions } from '../flags/options.ts'
import type { PackageOptions, SelectionOptions } from '../flags/selection-flags.ts'
import { printWorkTree } from '../print/print-notes.ts'
import type { Printer } from '../print/printer.ts'
import { count } from '../print/ranked-changes.ts'
import { printTurn } from '../report/print-turn.ts'
import { parseExternalDiffProgram } from '../report/print-yaml-diff.ts'
import { changeFilter, narrowTurn, printHidden } from '../session/selection.ts'
import { runWithSession, type SessionOptions } from '../session/turn-session.ts'
import { showOrWatch } from '../session/watch.ts'

type DiffOptions = ValuesOf<typeof DIFF_FLAGS> &
  SessionOptions &
  AuditOptions &
  WatchOptions &
  ExitOptions &
  DiffSelection
type DiffSelection = PackageOptions & Pick<SelectionOptions, 'namespace' | 'risk' | 'since'>

export async function diff(
  packages: readonly string[],
  options: DiffOptions,
  cli: TurnContext,
): Promise<number> {
  const started = cli.clock.now()
  checkYaml(options, cli)
  const { flags } = changeFilter(options, started)
  return runWithSession(
    cli,
    options,
    { packages, gitAlone: true, readOnly: true },
    async ({ ports, request, progress, printer }) => {
      await printWorkTree('compared', options.repo, printer)
      let hiddenBefore = 0
      const observe = {
        ...request,
        cluster: { ...request.cluster, unmanaged: options.unmanaged === true },
      }
      let requested = observe
      return showOrWatch(cli, options, async () => {
        const turn = await runTurn(ports, { ...requested, mode: 'read' }, cli.signal)
        progress.end()
        if (options.verbose !== true) requested = { ...observe, onProgress: () => undefined }
        const { result, numbers, hidden } = narrowTurn(
          { ...turn, unmanaged: filterByNamespace(turn.unmanaged, options.namespace) },
          options,
          started,
        )
        return {
          rows: new Map(result.units.map((unit) => [getName(unit), formatUnit(unit)])),
          print: (names) => {
            const units = result.units.filter(
              (unit) => names === undefined || names.has(getName(unit)),
            )
            const text = printTurn(
              { ...result, units },
              { ...options, numbers, hasSeveral: result.units.length > 1 },
              printer,
            )
            if (!text && hidden === 0 && names === undefined) printInSync(units, options, printer)
            if (names !== undefined && printer.isTable && options.yaml !== true)
              reportAgreement(units, printer)
            if (names === undefined || hidden !== hiddenBefore)
              printHidden(hidden, 'change', flags, printer)
            hiddenBefore = hidden
          },
          exit: computeExitStatus(result.units, options, true),
        }
      })
    },
  )
}

function checkYaml({ yaml, output }: DiffOptions, cli: Pick<CliContext, 'env'>): void {
  if (yaml !== true) return
  parseExternalDiffProgram(cli.env['BACKPORCH_EXTERNAL_DIFF'])
  if (output === 'table') return
  throw new Failure({
    code: 'BP1001',
    what: '--yaml and -o are both set',
    why: '--yaml prints unified diffs of the objects, and -o another format',
    remedy: 'remove one of them; -o yaml prints the drift reports as a YAML document',
  })
}

function filterByNamespace(
  found: readonly UnmanagedObjects[],
  namespace: string | undefined,
): readonly UnmanagedObjects[] {
  if (namespace === undefined) return found
  return found.map((one) => ({
    ...one,
    namespaces: one.namespaces.filter((name) => name === namespace),
    objects: one.objects.filter(({ id }) => id.namespace === namespace),
  }))
}

function getName(unit: UnitResult): string {
  return unit.state === 'failed' ? unit.packagePath : unit.unit.packagePath
}

/** Without anything that only time changes. */
function formatUnit(unit: UnitResult): string {
  if (unit.state === 'failed')
    return unit.failures.map(({ code, message }) => `${code} ${message}`).join('\n')
  const { spec, status } = unit.plan.report
  return formatJson(
    { changes: spec.changes, incomplete: status.incomplete ?? [] } as unknown as Json,
    0,
  )
}

function printInSync(units: readonly UnitResult[], { yaml }: DiffOptions, printer: Printer): void {
  const [first] = units
  if (
    first === undefined ||
    !printer.terminal.isTTY ||
    printer.quiet ||
    !printer.isTable ||
    yaml === true
  )
    return
  const objects = units.reduce(
    (sum, unit) => sum + (unit.state === 'planned' ? unit.observation.verdicts.length : 0),
    0,
  )
  const where =
    units.length > 1 ? `${units.length} packages` : convertToOneLine(getName(first), 300)
  const compared = `${count(objects, 'object')} of ${where}`
  printer.write(`${printer.ok} nothing differs: ${compared}\n`)
}

function reportAgreement(units: readonly UnitResult[], printer: Printer): void {
  for (const unit of units) {
    if (unit.state === 'failed' || unit.observation.incomplete.length > 0) continue
    const { spec, status } = unit.plan.report
    if (spec.changes.length > 0 || status.stuckSince !== undefined) continue
    const { packageName, cluster } = unit.unit
    printer.write(`${printer.ok} ${packageName} in ${cluster}: nothing to show\n`)
  }
}
