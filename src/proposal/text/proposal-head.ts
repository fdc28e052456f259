import { formatMarkdownCell } from '@backporch/kyaml/markdown'
import { describeResourceId, getResourceKey } from '@backporch/kyaml/resource'
import { RISK_RULES } from '../../drift/risk/risk.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import { formatLastWritten, formatWriters, planCounts } from './change-table.ts'
import { phraseMarkdown } from './phrase-markdown.ts'
import { getWorstRisk, type ProposalState, type ProposalSubject } from './proposal-subject.ts'
import {
  capitalizeFirst,
  count,
  formatBox,
  formatClusterCell,
  formatDuration,
  formatFieldName,
  formatRiskWord,
  formatShortSides,
  formatWriter,
  formatWrittenAt,
  planWord,
  time,
} from './words.ts'

/**
 * @param shown changes in the table
 * @param more encoded text that names the file with the rest
 */
export function formatProposalHead(
  subject: ProposalSubject,
  shown: number,
  more: string,
): string[] {
  const { record, dialect, applier, alsoIn } = subject
  const { changes, plan, settle } = record.spec
  const risk = getWorstRisk(changes)
  const kind = risk === 'critical' ? 'caution' : risk === 'low' ? 'note' : 'warning'
  const restores = changes.some(({ resolution }) => resolution === 'Restore')
  return formatBox(dialect, kind, [
    `**${describeDifferences(subject)}.**`,
    describeWhoAndWhen(subject),
    ...(shown < changes.length
      ? [
          `**The table shows ${shown} of ${count(changes.length, 'change')}**, highest risk first. All changes: ${more}.`,
        ]
      : []),
    ...(applier.warning !== undefined && restores && settle === 'syncer'
      ? [`**Note:** ${phraseMarkdown(applier.phrases.warning)}`]
      : []),
    ...(alsoIn.length > 0 ? [describeAlsoFeeds(alsoIn, plan)] : []),
    ...subject.states.map(stateLine),
  ])
}

function describeDifferences({ record, unit }: ProposalSubject): string {
  const { changes } = record.spec
  const cluster = `cluster ${formatClusterCell(unit.cluster)}`
  const [first] = changes
  if (changes.length === 1 && first !== undefined) return describeSingleDifference(first, cluster)
  const objects = new Set(changes.map(({ ref }) => getResourceKey(ref))).size
  return `${count(changes.length, 'difference')} in ${count(objects, 'object')} of package ${formatMarkdownCell(unit.packageName)} between git and ${cluster}`
}

function describeSingleDifference(change: Change, cluster: string): string {
  const object = formatMarkdownCell(describeResourceId(change.ref), 120)
  if (change.change === 'missing') return `${object} is declared in git and missing in ${cluster}`
  if (change.change === 'unexpected')
    return `${object} belongs to this package in ${cluster} and is not declared in git`
  const field = `${formatFieldName(change)} of ${object}`
  if (change.redacted === true)
    return `${field} in ${cluster} differs from git (the values are hidden)`
  const short = formatShortSides(change)
  if (short === undefined) {
    if (change.change === 'removed') return `${field} is declared in git and removed in ${cluster}`
    return change.change === 'added'
      ? `${field} in ${cluster} is not declared in git`
      : `${field} in ${cluster} differs from git`
  }
  const { git, live } = short
  if (change.change === 'added') return `${field} in ${cluster} is ${live}; git does not declare it`
  if (change.change === 'removed') return `${field} is gone in ${cluster}; git declares ${git}`
  return `${field} in ${cluster} is ${live}; git declares ${git}`
}

function describeWhoAndWhen({ record }: ProposalSubject): string {
  const { changes, began } = record.spec
  const [first] = changes
  const single = changes.length === 1 && first !== undefined
  const who = single
    ? first.actor.confidence === 'none'
      ? 'an unknown writer'
      : formatWriter(first)
    : formatWriters(changes, 2)
  const at = single ? formatWrittenAt(first) : formatLastWritten(changes)
  return [
    `Changed by ${who}${at === undefined ? '' : `${single ? ', ' : ', last '}${at}`} ¹`,
    `first seen ${time(began)}`,
    `${single ? '' : 'highest '}risk ${formatRiskReasons(changes)}`,
  ].join(' · ')
}

export function formatRiskReasons(changes: readonly Change[]): string {
  const risk = getWorstRisk(changes)
  const reasons = [
    ...new Set(changes.filter((change) => change.risk === risk).map(({ reason }) => reason)),
  ]
  const more = reasons.length > 2 ? ` and ${count(reasons.length - 2, 'more reason')}` : ''
  return `${formatRiskWord(risk)}: ${reasons.slice(0, 2).map(formatRiskReason).join('; ')}${more}`
}

/** Only the code if this version lacks the rule. */
function formatRiskReason(code: string): string {
  const rule = RISK_RULES.find((candidate) => candidate.code === code)
  return rule === undefined
    ? formatMarkdownCell(code, 40)
    : `${rule.why} (${formatMarkdownCell(code, 40)})`
}

const CLUSTERS_SHOWN = 5

function describeAlsoFeeds(clusters: readonly string[], plan: Plan): string {
  const names = clusters.slice(0, CLUSTERS_SHOWN).map((name) => formatMarkdownCell(name, 60))
  const more =
    clusters.length > CLUSTERS_SHOWN ? ` and ${clusters.length - CLUSTERS_SHOWN} more` : ''
  const verb = plan === 'Restore' ? 'Adopt or Release would change' : 'merging changes'
  return `**The same package also runs in ${names.join(', ')}${more}**: ${verb} it there too.`
}

export const DRAFT_LINE = '**Draft:**'

export function stateLine(state: ProposalState): string {
  switch (state.kind) {
    case 'changing':
      return `${DRAFT_LINE} the cluster is still changing. The pull request becomes ready for review when the changes stop.`
    case 'render-failed':
      return `${DRAFT_LINE} the package on this branch does not render: ${formatMarkdownCell(state.why, 300)}`
    case 'storm':
      return `${DRAFT_LINE} many packages drift at the same time. A common cause is likely.`
    case 'edited':
      return '**Edited:** another author pushed to this branch, so backporch does not update it. `/recreate` discards those commits.'
    case 'stale':
      return `**Waiting** for a decision since ${time(state.since)}.`
    case 'overdue':
      return `**Overdue:** no decision for ${formatDuration(state.after)}. A comment mentions the owners from CODEOWNERS.`
    case 'not-restored':
      return `**Restore failed:** ${formatMarkdownCell(`drift-${state.after}`, 40)} restored the same fields and was merged, but the cluster still differs. Check the syncer before you merge again.`
    case 'snoozed':
      return `**Snoozed** until ${time(state.until)}: no reminders until then.`
    case 'not-checked':
      return `**Not checked by a server:** ${formatNames(state.objects)} with the adopted values (${formatMarkdownCell(state.why, 300)}). Check the branch with \`kubectl apply --dry-run=server\` before the merge.`
    case 'refused':
      return `**The server refuses** ${formatNames(state.objects)} with the adopted values: ${formatMarkdownCell(state.why, 300)}`
    case 'not-observed':
      return `**The cluster could not be observed since ${time(state.since)}.** This description may be out of date.`
  }
}

export const PLAN_SENTENCES = {
  Restore: 'git is right; the cluster is restored to it',
  Adopt: 'the cluster is right; git adopts its values',
  Release: 'git stops managing the fields that differ',
} as const

export function planLine({ record, previousPlan }: ProposalSubject): string {
  const { plan, changes, message } = record.spec
  const what =
    plan === 'Mixed' ? `${planCounts(changes)}, see the column Plan` : PLAN_SENTENCES[plan]
  const before =
    previousPlan === undefined
      ? ''
      : ` It was ${planWord(previousPlan.plan)} before${formatChangedBy(previousPlan.by)}.`
  const why =
    message === undefined || message.trim() === ''
      ? ''
      : ` Reason given: ${formatMarkdownCell(message, 300)}`
  return `**Plan: ${planWord(plan)}.** ${capitalizeFirst(what)}.${before}${why}`
}

function formatChangedBy(login: string | undefined): string {
  return login === undefined ? '' : `, changed by ${formatMarkdownCell(login, 60)}`
}

function formatNames(objects: readonly string[]): string {
  const [first = ''] = objects
  return objects.length === 1 ? formatMarkdownCell(first, 100) : count(objects.length, 'object')
}
