import {
  formatMarkdownBlock,
  formatMarkdownCell,
  formatMarkdownProse,
} from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { isRemovedByApply } from '../../drift/compare/last-applied.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import { restoreLosses } from '../../record/restore-losses.ts'
import { phraseMarkdown } from './phrase-markdown.ts'
import {
  explainNotAdoptable,
  getWorstRisk,
  hasNoApplier,
  type ObjectChanges,
  type ProposalSubject,
} from './proposal-subject.ts'
import { formatNumbers, getDriftKey, tickBox } from './ticks.ts'
import {
  count,
  formatClusterCell,
  formatDuration,
  formatList,
  formatMarkdownTable,
  formatShortSides,
  planWord,
} from './words.ts'

const CRITICAL_SILENCE = 86_400
const COMMAND_LIMIT = 1_000

export function formatDecisionTable(subject: ProposalSubject): string[] {
  const { record, unit } = subject
  return formatDecisionRows({
    ...record.spec,
    cluster: `Cluster ${formatClusterCell(unit.cluster)}`,
    isPossible: (plan) => isPossible(subject, plan),
    clusterAfter: (plan) => describeClusterAfter(subject, plan),
    more: [],
    afterClose: `${describeLeftAlone(subject)}; ${silence(record.spec.changes, subject.closeSilence)}`,
  })
}

interface DecisionRows {
  readonly plan: Plan
  readonly changes: readonly Change[]
  readonly cluster: string
  readonly isPossible: (plan: Exclude<Plan, 'Mixed'>) => boolean
  readonly clusterAfter: (plan: Plan) => string
  readonly more: readonly (readonly string[])[]
  readonly afterClose: string
}

export function formatDecisionRows({
  plan,
  changes,
  cluster,
  isPossible,
  clusterAfter,
  more,
  afterClose,
}: DecisionRows): string[] {
  const others = (['Restore', 'Adopt', 'Release'] as const).filter(
    (other) => other !== plan && isPossible(other),
  )
  return formatMarkdownTable(
    ['You', 'Git', cluster],
    [
      [`**merge** (plan: ${planWord(plan)})`, describeGitAfter(changes, plan), clusterAfter(plan)],
      ...others.map((other) => [
        `comment \`/${other.toLowerCase()}\`, then merge`,
        describeGitAfter(changes, other),
        clusterAfter(other),
      ]),
      ...more,
      ['**close**', 'unchanged', afterClose],
    ],
  )
}

function isPossible(
  { record, notAdoptable, notReleasable }: ProposalSubject,
  plan: Exclude<Plan, 'Mixed'>,
): boolean {
  const { changes } = record.spec
  if (plan === 'Adopt')
    return changes.every((change) => explainNotAdoptable(change, notAdoptable) === undefined)
  if (plan === 'Restore') return true
  // For a missing object, Release equals Adopt.
  return (
    changes.some(({ change }) => change !== 'missing') &&
    changes.every(({ fingerprint }) => !notReleasable.has(fingerprint))
  )
}

function getOnlyChange(changes: readonly Change[]): Change | undefined {
  return changes.length === 1 ? changes[0] : undefined
}

function describeGitAfter(changes: readonly Change[], plan: Plan): string {
  const change = getOnlyChange(changes)
  if (plan === 'Mixed') return 'each change as in the column Plan, in one commit'
  const short = change === undefined ? undefined : formatShortSides(change)
  if (plan === 'Restore')
    return `${change?.change === 'modified' && short !== undefined ? `stays ${short.git}` : 'unchanged'}; a record is added`
  if (change === undefined)
    return plan === 'Adopt' ? 'adopts the live values' : 'stops managing these fields'
  if (change.change === 'unexpected')
    return plan === 'Adopt' ? 'declares the object as it is live' : 'unchanged; a record is added'
  if (change.change === 'missing') return 'the object is removed'
  if (plan === 'Release') return 'stops managing the field'
  if (change.change === 'removed') return 'the field is removed'
  if (short === undefined) return 'adopts the live values'
  return change.change === 'added'
    ? `gets the field: ${short.live}`
    : `${short.git} becomes ${short.live}`
}

function describeClusterAfter(subject: ProposalSubject, plan: Plan): string {
  const { changes, settle } = subject.record.spec
  const change = getOnlyChange(changes)
  if (plan === 'Adopt') {
    const reverted =
      subject.applier.revertsUnasked === 'yes'
        ? '; if the syncer reverts it before the merge, the merge undoes the revert'
        : ''
    return `${stays(changes)}${reverted}`
  }
  if (plan === 'Release') return `${stays(changes)}; other writers may manage it`
  const what = plan === 'Mixed' ? 'what is restored: ' : ''
  if (settle === 'backporch')
    return `${what}after the merge, backporch applies exactly these changes and nothing else`
  const sentence = phraseMarkdown(subject.applier.phrases.sentence)
  const applies =
    subject.applier.restores === 'at-once' || subject.applier.restores === 'at-interval'
  if (
    change === undefined ||
    !applies ||
    change.change === 'added' ||
    change.change === 'unexpected'
  )
    return what + sentence
  if (change.change === 'missing') return `the object is created again: ${sentence}`
  const short = formatShortSides(change)
  return short === undefined
    ? `is restored to git: ${sentence}`
    : `${short.live} becomes ${short.git}: ${sentence}`
}

function describeLeftAlone({ record, applier }: ProposalSubject): string {
  if (applier.revertsUnasked !== 'yes') return stays(record.spec.changes)
  return 'backporch changes nothing; the syncer reverts it without a merge'
}

export function stays(changes: readonly Change[]): string {
  const change = getOnlyChange(changes)
  if (change === undefined || change.path === undefined) return 'unchanged'
  if (change.live === undefined) return 'stays without the field'
  const live = formatShortSides(change)?.live
  return live === undefined ? 'unchanged' : `stays ${live}`
}

/** @param closeSilence seconds */
export function silence(changes: readonly Change[], closeSilence: number): string {
  const seconds =
    getWorstRisk(changes) === 'critical' ? Math.min(closeSilence, CRITICAL_SILENCE) : closeSilence
  return `this drift is silenced for ${formatDuration(seconds)}; new drift is still reported`
}

export function settleNotes(subject: ProposalSubject): string[] {
  const { record, reapplyFails } = subject
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore')
  if (restored.length === 0) return []
  const added = restored.filter(
    ({ change, notes = [] }) => change === 'added' && !notes.some(isRemovedByApply),
  ).length
  const fails = reapplyFails.map(
    ({ ref, why }) =>
      `Applying ${formatMarkdownCell(describeResourceId(ref))} fails: ${formatMarkdownCell(why, 300)}`,
  )
  const notes = formatList(fails, REASONS_SHOWN, 'object')
  if (added > 0 && record.spec.settle === 'syncer') {
    const which = added === 1 ? 'One field is' : `${added} fields are`
    notes.push(
      `- ${which} not declared in git. An apply does not remove such a field: remove it by hand, or set \`settle: backporch\` in the policy.`,
    )
  }
  notes.push(...restoreLosses(record).map((loss) => `- ${formatMarkdownProse(loss, 600)}`))
  return [...formatCommandPart(subject), ...(notes.length === 0 ? [] : [...notes, ''])]
}

function formatCommandPart(subject: ProposalSubject): string[] {
  const { applier, record } = subject
  if (record.spec.settle === 'backporch') return []
  if (applier.command === undefined)
    return hasNoApplier(subject)
      ? ['**Merging alone does not restore the cluster**: no syncer applies this package.', '']
      : []
  const leads = {
    never: '**Merging alone does not restore the cluster.** After the merge, run:',
    'when-told': '**Apply the package after the merge**, for example with:',
    unknown: 'If no syncer applies it after the merge, run:',
    'at-once': 'To apply it by hand after the merge:',
    'at-interval': 'To apply it without waiting for the syncer, run after the merge:',
  }
  const lead = leads[applier.restores]
  return [
    lead,
    '',
    formatMarkdownBlock(convertToOneLine(applier.command, COMMAND_LIMIT), 'sh', COMMAND_LIMIT),
    '',
  ]
}

const REASONS_SHOWN = 3
const OBJECT_BOXES = 10

/** A tick changes only the branch, which must still be merged. */
export function planBoxes(subject: ProposalSubject, objects: readonly ObjectChanges[]): string[] {
  const drift = getDriftKey(subject.record.spec.fingerprint)
  const boxes =
    objects.length > OBJECT_BOXES
      ? []
      : objects.flatMap((object) => formatBox(subject, object, objects.length === 1))
  return [
    ...boxes,
    tickBox({ verb: 'recheck', drift, changes: [] }, 'Check the cluster again now'),
    '',
  ]
}

function formatBox(
  { record, notAdoptable }: ProposalSubject,
  { ref, changes }: ObjectChanges,
  single: boolean,
): string[] {
  const drift = getDriftKey(record.spec.fingerprint)
  const adopted = changes.every(({ change }) => change.resolution === 'Adopt')
  const adoptable = changes.every(
    ({ change }) => explainNotAdoptable(change, notAdoptable) === undefined,
  )
  if (!adopted && !adoptable) return []
  const verb = adopted ? ('restore' as const) : ('adopt' as const)
  const numbers = changes.map(({ number }) => number)
  const plan =
    verb === 'adopt'
      ? 'Adopt (git adopts the live values)'
      : 'Restore (the cluster is restored to git)'
  const which = single
    ? ''
    : ` for ${formatNumbers(numbers)}, ${formatMarkdownCell(describeResourceId(ref), 80)}`
  return [tickBox({ verb, drift, changes: numbers }, `Change the plan to ${plan}${which}`)]
}

export function planRefusals({ record, notAdoptable, notReleasable }: ProposalSubject): string[] {
  const { changes } = record.spec
  return [
    ...formatRefusalLines('Adopt', changes, (change) => explainNotAdoptable(change, notAdoptable)),
    ...formatRefusalLines('Release', changes, ({ fingerprint }) => notReleasable.get(fingerprint)),
  ]
}

function formatRefusalLines(
  plan: string,
  changes: readonly Change[],
  whyNot: (change: Change) => string | undefined,
): string[] {
  const reasons = new Map<string, number[]>()
  changes.forEach((change, index) => {
    const why = whyNot(change)
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), index + 1])
  })
  return [...reasons].slice(0, REASONS_SHOWN).map(([why, numbers]) => {
    const listed = numbers.length > 20 ? count(numbers.length, 'change') : formatNumbers(numbers)
    return `- ${plan} is not possible${changes.length === 1 ? '' : ` for ${listed}`}: ${formatMarkdownProse(why)}.`
  })
}
