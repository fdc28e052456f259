import { type LabelSelector, parseLabelSelector } from '@backporch/kyaml/resource'
import { convertDurationToSeconds, DURATION } from '@backporch/kyaml/text'
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import type { Change } from '../../record/documents/change.ts'
import type { UnitState } from '../../record/documents/drift-report.ts'
import { collect, type Flags, type Optional, type ValuesOf } from './options.ts'

export const RISKS = [
  'critical',
  'high',
  'medium',
  'low',
] as const satisfies readonly Change['risk'][]
export const STATES = [
  'InSync',
  'Drifted',
  'Applying',
  'Silenced',
  'Behind',
  'SyncFailed',
  'Reconciling',
  'Suspended',
  'Unknown',
  'Off',
] as const satisfies readonly UnitState[]

type Since = { readonly at: string } | { readonly secondsAgo: number }

/** A flag without help is not offered. */
interface SelectionHelp {
  readonly namespace?: string
  /** Only in commands that read no cluster. */
  readonly cluster?: string
  readonly risk?: string
  readonly state?: string
  readonly since?: string
}

function createEveryFlag({ namespace, cluster, risk, state, since }: SelectionHelp) {
  return new Command()
    .option('-n, --namespace <name>', namespace)
    .addOption(
      new Option('-A, --all-namespaces', 'all namespaces (default)').conflicts('namespace'),
    )
    .option(
      '-l, --selector <labels>',
      'only packages with these labels in their Kptfile: team=shop,!legacy',
      parseSelector,
    )
    .option('--package <path>', 'same as the argument (repeatable)', collect)
    .option('--cluster <name>', cluster)
    .addOption(listOption('--risk <levels>', risk, RISKS))
    .addOption(listOption('--state <states>', state, STATES))
    .option('--since <when>', `${since}: 2026-11-01, 2026-11-01T14:00:00Z, 7d or 24h`, parseSince)
}

export type SelectionOptions = Omit<ValuesOf<ReturnType<typeof createEveryFlag>>, 'allNamespaces'>
export type PackageOptions = Pick<SelectionOptions, 'selector' | 'package'>

export function createSelectionFlags<Help extends SelectionHelp>(
  help: Help & SelectionHelp,
): Flags<Pick<SelectionOptions, keyof PackageOptions | (keyof Help & keyof SelectionOptions)>> {
  const offered = new Set([
    'selector',
    'package',
    ...Object.keys(help),
    ...(help.namespace === undefined ? [] : ['allNamespaces']),
  ])
  const command = new Command()
  for (const option of createEveryFlag(help).options)
    if (offered.has(option.attributeName())) command.addOption(option)
  return command as unknown as Flags<
    Pick<SelectionOptions, keyof PackageOptions | (keyof Help & keyof SelectionOptions)>
  >
}

export function listNamedPackages(
  named: readonly string[],
  options: Optional<PackageOptions>,
): readonly string[] {
  return [...named, ...(options.package ?? [])]
}

/** Milliseconds since 1970. */
export function computeSinceTime(wanted: Since, now: Date): number {
  return 'at' in wanted ? Date.parse(wanted.at) : now.getTime() - wanted.secondsAgo * 1000
}

/** An item without a time never counts as old. */
export function isNotBefore(at: string, since: number | undefined): boolean {
  return since === undefined || !(Date.parse(at) < since)
}

/** Case-insensitive. */
function listOption<Name extends string, Word extends string>(
  flags: Name,
  description: string | undefined,
  words: readonly Word[],
) {
  const known = (word: string): Word | undefined =>
    words.find((one) => one.toLowerCase() === word.toLowerCase())
  const option = new Option(flags, description).argParser((text): readonly Word[] => {
    const wanted = text.split(',').filter((word) => word !== '')
    const wrong = wanted.find((word) => known(word) === undefined)
    if (wrong !== undefined || wanted.length === 0) {
      throw new InvalidArgumentError(
        `there is no ${JSON.stringify(wrong ?? '')}\nit takes a comma-separated list of ${words.join(', ')}`,
      )
    }
    return wanted.flatMap((word) => known(word) ?? [])
  })
  option.argChoices = [...words]
  return option
}

/** As in kubectl, an empty selector selects everything. */
function parseSelector(text: string): LabelSelector {
  const parsed = parseLabelSelector(text)
  if ('selector' in parsed) return parsed.selector
  throw new InvalidArgumentError(
    `${parsed.problem}\nit takes conditions like team=shop, tier!=test, tier in (a,b), team or !legacy, separated by commas`,
  )
}

/** No record is older. */
const LONGEST_DAYS = 36_500

function parseSince(text: string): Since {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && isMoment(`${text}T00:00:00Z`))
    return { at: `${text}T00:00:00Z` }
  if (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
    isMoment(text)
  )
    return { at: text }
  if (DURATION.test(text)) {
    const seconds = convertDurationToSeconds(text)
    if (seconds <= LONGEST_DAYS * 86_400) return { secondsAgo: seconds }
  }
  throw new InvalidArgumentError(
    'it is not a time\nit takes a day (2026-11-01), a time (2026-11-01T14:00:00Z) or a duration before now (7d, 24h, 30m)',
  )
}

/** JavaScript reads 31 February as 3 March. */
function isMoment(text: string): boolean {
  const time = Date.parse(text)
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`)
  return (
    !Number.isNaN(time) &&
    !Number.isNaN(day) &&
    new Date(day).toISOString().startsWith(text.slice(0, 10))
  )
}
