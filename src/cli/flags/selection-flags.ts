/** Flags that select what is listed, as kubectl has them; each command offers those that mean something to it. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type LabelSelector, parseLabelSelector } from '../../krm/label-selector.ts'
import { secondsOf } from '../../policy/duration.ts'
import type { Change, UnitState } from '../../record/schema.ts'

export const RISKS = ['critical', 'high', 'medium', 'low'] as const satisfies readonly Change['risk'][]
export const STATES = [
  'InSync',
  'Drifted',
  'Applying',
  'Silenced',
  'Behind',
  'Reconciling',
  'Suspended',
  'Unknown',
  'Off',
] as const satisfies readonly UnitState[]

/** A moment, or how long before now. */
export type Since = { readonly at: string } | { readonly secondsAgo: number }

export interface SelectionOptions {
  readonly namespace?: string | undefined
  readonly selector?: LabelSelector
  readonly package?: readonly string[]
  /** Only in commands that look at no cluster: there it selects. */
  readonly cluster?: string
  readonly risk?: readonly Change['risk'][]
  readonly state?: readonly UnitState[]
  readonly since?: Since
}

/** What each flag means in one command; a flag without a sentence is not offered. */
export interface SelectionHelp {
  readonly namespace?: string
  readonly cluster?: string
  readonly risk?: string
  readonly state?: string
  readonly since?: string
}

/** Adds `--package` and `-l` always, the others where they have a meaning. */
export function withSelectionFlags(command: Command, help: SelectionHelp = {}): Command {
  if (help.namespace !== undefined) {
    command
      .addOption(new Option('-n, --namespace <name>', help.namespace))
      .addOption(new Option('-A, --all-namespaces', 'all namespaces (default)').conflicts('namespace'))
  }
  command
    .addOption(
      new Option('-l, --selector <labels>', 'only packages with these labels in their Kptfile: team=shop,!legacy').argParser(selector),
    )
    .option('--package <path>', 'same as the argument (repeatable)', (path: string, before: string[] | undefined) => [
      ...(before ?? []),
      path,
    ])
  if (help.cluster !== undefined) command.option('--cluster <name>', help.cluster)
  if (help.risk !== undefined) command.addOption(listOption('--risk <levels>', help.risk, RISKS))
  if (help.state !== undefined) command.addOption(listOption('--state <states>', help.state, STATES))
  if (help.since !== undefined) {
    command.addOption(new Option('--since <when>', `${help.since}: 2026-11-01, 2026-11-01T14:00:00Z, 7d or 24h`).argParser(since))
  }
  return command
}

/** Packages that the arguments and `--package` name together. */
export function packagesNamed(named: readonly string[], options: SelectionOptions): readonly string[] {
  return [...named, ...(options.package ?? [])]
}

/** The moment of `--since` in milliseconds since 1970. */
export function sinceTime(wanted: Since, now: Date): number {
  return 'at' in wanted ? Date.parse(wanted.at) : now.getTime() - wanted.secondsAgo * 1000
}

/** Whether a time (RFC 3339) is not before `since`; what has no time is never taken for old. */
export function isNotBefore(at: string, since: number | undefined): boolean {
  return since === undefined || !(Date.parse(at) < since)
}

/** A comma list of some of these words, in any case; the words are in the help and in the completion. */
function listOption<Word extends string>(flags: string, description: string, words: readonly Word[]): Option {
  const option = new Option(flags, description).argParser((text) => {
    const wanted = text.split(',').filter((word) => word !== '')
    const found = wanted.map((word) => words.find((known) => known.toLowerCase() === word.toLowerCase()))
    const wrong = wanted.find((_word, index) => found[index] === undefined)
    if (wrong !== undefined || wanted.length === 0) {
      throw new InvalidArgumentError(
        `there is no ${JSON.stringify(wrong ?? '')}\nit takes some of ${words.join(', ')}, with commas between`,
      )
    }
    return found
  })
  option.argChoices = [...words]
  return option
}

/** As kubectl, an empty selector selects everything. */
function selector(text: string): LabelSelector {
  const parsed = parseLabelSelector(text)
  if ('selector' in parsed) return parsed.selector
  throw new InvalidArgumentError(
    `${parsed.problem}\nit takes conditions like team=shop, tier!=test, tier in (a,b), team or !legacy, with commas between`,
  )
}

/** Longest --since: what is older than this was never written by us. */
const LONGEST_DAYS = 36_500

function since(text: string): Since {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && isMoment(`${text}T00:00:00Z`)) return { at: `${text}T00:00:00Z` }
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.test(text) && isMoment(text)) return { at: text }
  if (/^[1-9][0-9]{0,4}[smhd]$/.test(text)) {
    const seconds = text.endsWith('s') ? Number(text.slice(0, -1)) : secondsOf(text)
    if (seconds <= LONGEST_DAYS * 86_400) return { secondsAgo: seconds }
  }
  throw new InvalidArgumentError(
    'that is no moment\nit takes a day (2026-11-01), a time (2026-11-01T14:00:00Z) or a duration before now (7d, 24h, 30m)',
  )
}

/** JavaScript takes 31 February for 3 March. */
function isMoment(text: string): boolean {
  const time = Date.parse(text)
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`)
  return !Number.isNaN(time) && !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10))
}
