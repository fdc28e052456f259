/** The answer to a command. Names of people are formatted as code, so that nobody is mentioned. */
import type { Failure } from '@backporch/kyaml/failure'
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { isKnownWriter } from '../../drift/attribute/actor.ts'
import { computeActorLimit, formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { planCounts } from './change-table.ts'
import { COMMANDS, type CommentCommand } from './comment-command.ts'
import { PLAN_SENTENCES } from './proposal-head.ts'
import { count, formatMarkdownTable, formatTableOfRows, planWord } from './words.ts'

export interface CommandResult {
  /** Undefined for a ticked box. */
  readonly by: string | undefined
  readonly line: string
  readonly done: boolean
  /** Encoded Markdown. */
  readonly text: string
  readonly details?: string
}

export const SEE_BELOW = 'see below'

export function formatCommandLine({
  verb,
  selectors,
  via,
  duration,
  reason,
}: CommentCommand): string {
  const hours =
    duration === undefined
      ? ''
      : ` ${verb === 'snooze' ? '' : '--for '}${formatDurationWord(duration)}`
  const why = reason === undefined ? '' : ` -- ${reason}`
  const place = via === undefined ? '' : ` --via=${via}`
  return convertToOneLine([`/${verb}`, ...selectors].join(' ') + place + hours + why, 100)
}

function formatDurationWord(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400}d`
  return seconds % 3_600 === 0 ? `${seconds / 3_600}h` : `${seconds / 60}m`
}

export function formatFailureText({ what, why, remedy }: Failure): string {
  return `${formatMarkdownProse(`${what}: ${why}`, 500)} (${formatMarkdownProse(remedy, 300)})`
}

export function planText({ plan, changes }: Pick<DriftRecord['spec'], 'plan' | 'changes'>): string {
  const what = plan === 'Mixed' ? planCounts(changes) : PLAN_SENTENCES[plan]
  return `the plan is **${planWord(plan)}** (${what}); merging decides it`
}

export function helpText(): string {
  return [
    ...formatMarkdownTable(
      ['At the start of a line', 'Does'],
      Object.values(COMMANDS).map(({ example, does }) => [`\`${example}\``, does]),
    ),
    'A command takes a number of the table (`1,3`), a field of the object with that number (`2:spec.replicas`), an object (`deployment/web`), or nothing for all changes. ' +
      '`/adopt 1 --via everywhere` edits a file that other units read too. `/drift adopt 1` is the same as `/adopt 1`. Several plans in one comment are one plan. Nothing is written to a cluster before a merge.',
  ].join('\n')
}

/** @param tried each ignore rule, with why it does not hide the change */
export function explainText(
  change: Change,
  number: number,
  why: string | undefined,
  tried: readonly string[],
): string {
  const { ref, actor } = change
  const who =
    actor.confidence === 'none'
      ? 'the writer is unknown'
      : `${actor.confidence === 'field-manager' ? 'owned by' : isKnownWriter(actor) ? 'written by' : 'perhaps written by'} ${formatMarkdownCell(formatActorName(actor), computeActorLimit(actor, 60))}${actor.at === '' ? '' : `, whose last write was at ${formatMarkdownCell(actor.at, 40)}`}`
  const rules =
    tried.length === 0
      ? 'there is no ignore rule'
      : `not ignored by ${tried.map((rule) => formatMarkdownCell(rule, 160)).join(', ')}`
  return [
    `- **${number}** ${formatMarkdownCell(describeResourceId(ref))} ${change.path === undefined ? change.change : formatMarkdownCell(change.path, 200)}: planned ${planWord(change.resolution)}`,
    `  - risk ${change.risk}, ${formatMarkdownCell(change.reason, 40)}${why === undefined ? '' : ` (${why})`}`,
    `  - ${who}`,
    `  - ${rules}`,
    ...(change.notes ?? []).slice(0, 5).map((note) => `  - ${formatMarkdownProse(note, 300)}`),
  ].join('\n')
}

interface ShownRule {
  readonly number: number
  readonly where: string
  readonly about: string
  readonly reason: string
  /** Undefined for a rule without an end. */
  readonly expires: string | undefined
  readonly over: boolean
}

export function formatRulesText(rules: readonly ShownRule[]): string {
  const shown = formatTableOfRows(rules.slice(0, RULES_SHOWN), {
    '#': ({ number }) => String(number),
    'What is ignored': ({ about }) => formatMarkdownCell(about, 200),
    Why: ({ reason }) => formatMarkdownCell(reason, 200),
    'Last day': ({ expires, over }) =>
      expires === undefined
        ? 'does not end'
        : `${formatMarkdownCell(expires, 20)}${over ? ' (over)' : ''}`,
    Where: ({ where }) => formatMarkdownCell(where),
  })
  return [
    ...shown,
    ...(rules.length > RULES_SHOWN
      ? [`and ${count(rules.length - RULES_SHOWN, 'more rule')}`]
      : []),
  ]
    .join('\n')
    .trimEnd()
}

const RULES_SHOWN = 50
