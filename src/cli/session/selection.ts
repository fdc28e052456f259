/**
 * A flag hides only what is known not to match: unreadable objects and changes without a time stay
 * visible.
 */
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import { readNamespaces } from '../../reconcile/repository/ledger-namespaces.ts'
import { choosePackages } from '../../reconcile/repository/manifest-folders.ts'
import { selectByLabels } from '../../reconcile/repository/package-labels.ts'
import type { TurnResult } from '../../reconcile/turn/run-turn.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { Optional, RepositoryOptions } from '../flags/options.ts'
import {
  computeSinceTime,
  isNotBefore,
  listNamedPackages,
  type SelectionOptions,
} from '../flags/selection-flags.ts'
import type { Printer } from '../print/printer.ts'
import type { LedgerReading } from './ledger-session.ts'

interface ChangeFilter {
  shows(change: Change): boolean
  readonly flags: readonly string[]
}

/** A change without a time never counts as old. */
export function changeFilter(options: Optional<SelectionOptions>, now: Date): ChangeFilter {
  const { namespace, risk } = options
  const since = options.since === undefined ? undefined : computeSinceTime(options.since, now)
  return {
    shows: (change) =>
      (namespace === undefined || change.ref.namespace === namespace) &&
      (risk === undefined || risk.includes(change.risk)) &&
      isNotBefore(change.actor.at, since),
    flags: listGivenFlags(options, ['namespace', 'risk', 'since']),
  }
}

export function listGivenFlags<Name extends keyof SelectionOptions>(
  options: Optional<Pick<SelectionOptions, Name>>,
  names: readonly Name[],
): string[] {
  return names.flatMap((name) =>
    options[name] === undefined ? [] : [name === 'namespace' ? '-n' : `--${name}`],
  )
}

/** Numbers are those of the whole list, which `adopt apps/web 3` refers to. */
interface NarrowedTurn {
  readonly result: TurnResult
  readonly numbers: ReadonlyMap<Change, number>
  readonly hidden: number
}

export function narrowTurn(
  result: TurnResult,
  options: Optional<SelectionOptions>,
  now: Date,
): NarrowedTurn {
  const filter = changeFilter(options, now)
  const numbers = new Map<Change, number>()
  let hidden = 0
  const units = result.units.map((unit): UnitResult => {
    if (unit.state === 'failed') return unit
    for (const [index, change] of unit.plan.report.spec.changes.entries())
      numbers.set(change, index + 1)
    const report = narrowReport(unit.plan.report, filter)
    hidden += unit.plan.report.spec.changes.length - report.spec.changes.length
    if (options.namespace === undefined) return { ...unit, plan: { ...unit.plan, report } }
    const here = ({ namespace }: { readonly namespace: string }): boolean =>
      namespace === options.namespace
    const observation = {
      ...unit.observation,
      verdicts: unit.observation.verdicts.filter(({ id }) => here(id)),
      incomplete: unit.observation.incomplete.filter(({ ref }) => ref === undefined || here(ref)),
    }
    const incomplete = report.status.incomplete?.filter(({ ref }) => ref === undefined || here(ref))
    const status = { ...report.status, ...(incomplete === undefined ? {} : { incomplete }) }
    return { ...unit, observation, plan: { ...unit.plan, report: { ...report, status } } }
  })
  return { result: { ...result, units }, numbers, hidden }
}

export function narrowReport(report: DriftReport, filter: ChangeFilter): DriftReport {
  if (filter.flags.length === 0) return report
  return {
    ...report,
    spec: { ...report.spec, changes: report.spec.changes.filter((change) => filter.shows(change)) },
  }
}

interface UnitSelection {
  takesPackage(path: string): boolean
  takesCluster(name: string): boolean
  inNamespace(report: DriftReport): boolean | undefined
}

interface SelectedNames {
  readonly named: readonly string[]
  /** In neither the base branch's packages nor the ledger. */
  readonly alsoKnown?: readonly string[]
}

/**
 * @throws Failure BP1001 for an unknown cluster, BP1004 for an unknown package, BP1011 for labels
 * that select nothing
 */
export async function selectUnits(
  { view, ledger }: LedgerReading,
  { named, alsoKnown = [] }: SelectedNames,
  options: Optional<SelectionOptions> & Pick<RepositoryOptions, 'path'>,
  signal: AbortSignal,
): Promise<UnitSelection> {
  assertKnownCluster(options.cluster, view, ledger)
  const names = [...listNamedPackages(named, options), ...(options.path ?? [])]
  // A package that left the repository still has a history.
  const past = new Set([
    ...[...ledger.reports, ...ledger.closed].map(({ spec }) => spec.unit.package),
    ...alsoKnown,
  ])
  const paths: string[] = []
  for (const name of names) {
    const path = name.replace(/^(\.\/)+|^\.$/, '').replace(/\/+$/, '')
    paths.push(
      ...(past.has(path)
        ? [path]
        : (await choosePackages(view, [name], signal)).map((found) => found.path)),
    )
  }
  const byName = names.length === 0 ? undefined : new Set(paths)
  const labelled =
    options.selector === undefined
      ? undefined
      : await selectByLabels(view, view.packages, options.selector, signal)
  const byLabel = labelled === undefined ? undefined : new Set(labelled.map(({ path }) => path))
  const namespaces =
    options.namespace === undefined ? new Map<string, never>() : await readNamespaces(view, signal)
  return {
    takesPackage: (path) => byName?.has(path) !== false && byLabel?.has(path) !== false,
    takesCluster: (name) => options.cluster === undefined || options.cluster === name,
    inNamespace: (report) => {
      const { namespace } = options
      if (
        namespace === undefined ||
        report.spec.changes.some(({ ref }) => ref.namespace === namespace)
      )
        return true
      return namespaces.get(ledger.folders.get(report) ?? '')?.has(namespace)
    },
  }
}

/**
 * A misspelt cluster must not look like one without drift. If no cluster is known, the name may be
 * right.
 */
function assertKnownCluster(
  cluster: string | undefined,
  view: LedgerReading['view'],
  ledger: LedgerReading['ledger'],
): void {
  const units = [...ledger.reports, ...ledger.closed].map(({ spec }) => spec.unit.cluster)
  const known = [...new Set([...units, ...view.clusters.keys()])].sort()
  if (cluster === undefined || known.length === 0 || known.includes(cluster)) return
  throw new Failure({
    code: 'BP1001',
    what: `there is no cluster ${JSON.stringify(cluster.slice(0, 300))}`,
    where: view.repository.remote,
    why: 'neither the ledger nor a Placement names it',
    remedy: `name one of them with --cluster: ${known.slice(0, 8).join(', ')}`,
  })
}

/** An empty list must not look like "nothing there". */
export function printHidden(
  count: number,
  noun: string,
  flags: readonly string[],
  printer: Printer,
): void {
  if (count > 0)
    printer.hint(
      `${count} ${noun}${count === 1 ? ' is' : 's are'} hidden by ${flags.join(' and ')}`,
    )
}

export function changeKey(
  unit: { readonly cluster: string; readonly package: string },
  change: Change,
): string {
  return [
    unit.cluster,
    unit.package,
    getResourceKey(change.ref),
    change.path ?? change.change,
  ].join(' ')
}
