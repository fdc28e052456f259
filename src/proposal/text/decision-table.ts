/** What each decision does to git and to the cluster, and the boxes and commands by which the plan is changed. */

import { restoreLosses } from '../../record/restore-losses.ts'
import type { Change, Plan } from '../../record/schema.ts'
import { markdownBlock, markdownCell, markdownProse } from '../../text/markdown-text.ts'
import { oneLine } from '../../text/one-line.ts'
import { nobodyApplies, type ObjectChanges, type ProposalSubject, whyNotAdoptable, worstRisk } from './proposal-subject.ts'
import { saidMarkdown } from './said-markdown.ts'
import { driftOf, formatNumbers, tickBox } from './ticks.ts'
import { count, duration, objectName, planWord, shortSides, table } from './words.ts'

const CRITICAL_SILENCE = 86_400
const COMMAND_LIMIT = 1_000

/** `| You | Git | Cluster |`: merge as planned, each other plan, close. */
export function decisionTable(subject: ProposalSubject): string[] {
  const { record, unit } = subject
  const { plan, changes } = record.spec
  const others = (['Restore', 'Adopt', 'Release'] as const).filter((other) => other !== plan && isPossible(subject, other))
  return table(
    ['You', 'Git', `Cluster ${markdownCell(unit.cluster, 60)}`],
    [
      [`**merge** (plan: ${planWord(plan)})`, gitAfter(changes, plan), clusterAfter(subject, plan)],
      ...others.map((other) => [`comment \`/${other.toLowerCase()}\`, then merge`, gitAfter(changes, other), clusterAfter(subject, other)]),
      ['**close**', 'stays as it is', `${leftAlone(subject)}; ${silence(changes, subject.closeSilence)}`],
    ],
  )
}

/** Whether commands that change the whole plan to this one can work. */
function isPossible({ record, notAdoptable, notReleasable }: ProposalSubject, plan: Exclude<Plan, 'Mixed'>): boolean {
  const { changes } = record.spec
  if (plan === 'Adopt') return changes.every((change) => whyNotAdoptable(change, notAdoptable) === undefined)
  if (plan === 'Restore') return true
  // Of an object that is gone, Release does what Adopt does.
  return changes.some(({ change }) => change !== 'missing') && changes.every(({ fingerprint }) => !notReleasable.has(fingerprint))
}

function only(changes: readonly Change[]): Change | undefined {
  return changes.length === 1 ? changes[0] : undefined
}

/** What merging with this plan does to git. */
export function gitAfter(changes: readonly Change[], plan: Plan): string {
  const change = only(changes)
  if (plan === 'Mixed') return 'each change as in the column Plan, in one commit'
  const short = change === undefined ? undefined : shortSides(change)
  if (plan === 'Restore') return `stays ${change?.change === 'modified' && short !== undefined ? short.git : 'as it is'}; a record is added`
  if (change === undefined) return plan === 'Adopt' ? 'takes over what the cluster has' : 'no longer says anything about these fields'
  if (change.change === 'unexpected') return 'stays as it is; a record is added'
  if (change.change === 'missing') return 'the object is removed'
  if (plan === 'Release') return 'no longer says anything about the field'
  if (change.change === 'removed') return 'the field is removed'
  if (short === undefined) return 'takes over what the cluster has'
  return change.change === 'added' ? `gets the field: ${short.live}` : `${short.git} becomes ${short.live}`
}

function clusterAfter(subject: ProposalSubject, plan: Plan): string {
  const { changes, settle } = subject.record.spec
  const change = only(changes)
  if (plan === 'Adopt') {
    const reverted = subject.applier.revertsUnasked === 'yes' ? '; if the syncer puts it back before the merge, the merge undoes that' : ''
    return `${stays(changes)}${reverted}`
  }
  if (plan === 'Release') return `${stays(changes)}, and belongs to whoever writes it`
  const what = plan === 'Mixed' ? 'what is restored: ' : ''
  if (settle === 'backporch') return `${what}backporch writes back exactly what git says, and nothing else, after the merge`
  const sentence = saidMarkdown(subject.applier.said.sentence)
  const applies = subject.applier.restores === 'at-once' || subject.applier.restores === 'at-interval'
  if (change === undefined || !applies || change.change === 'added' || change.change === 'unexpected') return what + sentence
  if (change.change === 'missing') return `the object comes back: ${sentence}`
  const short = shortSides(change)
  return short === undefined ? `goes back to what git says: ${sentence}` : `${short.live} becomes ${short.git}: ${sentence}`
}

/** A syncer that reverts without a merge does so whatever is decided here. */
function leftAlone({ record, applier }: ProposalSubject): string {
  if (applier.revertsUnasked !== 'yes') return stays(record.spec.changes)
  return 'backporch leaves it as it is, and who applies the package reverts it without a merge'
}

/** What the cluster is like where nothing is done to it. */
export function stays(changes: readonly Change[]): string {
  const change = only(changes)
  if (change === undefined || change.path === undefined) return 'stays as it is'
  if (change.live === undefined) return 'stays without the field'
  return `stays ${shortSides(change)?.live ?? 'as it is'}`
}

/** What a close silences, and for how long; `closeSilence` in seconds. */
export function silence(changes: readonly Change[], closeSilence: number): string {
  const seconds = worstRisk(changes) === 'critical' ? Math.min(closeSilence, CRITICAL_SILENCE) : closeSilence
  return `exactly this drift is not raised again for ${duration(seconds)}, any other is`
}

/** What a reader must know of the merge beyond the table: who applies, and what an apply cannot do. */
export function settleNotes(subject: ProposalSubject): string[] {
  const { record, reapplyFails } = subject
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore')
  if (restored.length === 0) return []
  const added = restored.filter(({ change }) => change === 'added').length
  const notes = reapplyFails
    .slice(0, REASONS_SHOWN)
    .map(({ ref, why }) => `- A plain apply of ${markdownCell(objectName(ref))} fails: ${markdownCell(why, 300)}`)
  if (reapplyFails.length > REASONS_SHOWN) notes.push(`- and of ${count(reapplyFails.length - REASONS_SHOWN, 'more object')}`)
  if (added > 0 && record.spec.settle === 'syncer') {
    const which = added === 1 ? 'One field is' : `${added} fields are`
    notes.push(`- ${which} not in git at all: no apply removes such a field. It goes by hand, or with \`settle: backporch\` in the policy.`)
  }
  notes.push(...restoreLosses(record).map((loss) => `- ${markdownProse(loss, 600)}`))
  return [...commandPart(subject), ...(notes.length === 0 ? [] : [...notes, ''])]
}

function commandPart(subject: ProposalSubject): string[] {
  const { applier, record } = subject
  if (record.spec.settle === 'backporch') return []
  if (applier.command === undefined)
    return nobodyApplies(subject) ? ['**Merging alone does not bring the cluster back**: nobody applies this by itself.', ''] : []
  const leads = {
    never: '**Merging alone does not bring the cluster back.** Run after the merge:',
    'when-told': '**Somebody has to apply it after the merge**, for example with:',
    unknown: 'If nobody applies it after the merge, run:',
    'at-once': 'To have it applied by hand after the merge:',
    'at-interval': 'To have it applied without waiting, run after the merge:',
  }
  const lead = leads[applier.restores]
  return [lead, '', markdownBlock(oneLine(applier.command, COMMAND_LIMIT), 'sh', COMMAND_LIMIT), '']
}

const REASONS_SHOWN = 3
const OBJECT_BOXES = 10

/** Boxes where a plan may be changed by ticking: each changes the branch only, which still has to be merged. */
export function planBoxes(subject: ProposalSubject, objects: readonly ObjectChanges[]): string[] {
  const drift = driftOf(subject.record.spec.fingerprint)
  const boxes = objects.length > OBJECT_BOXES ? [] : objects.flatMap((object) => boxOf(subject, object, objects.length === 1))
  return [...boxes, tickBox({ verb: 'recheck', drift, changes: [] }, 'Look at the cluster again now'), '']
}

function boxOf({ record, notAdoptable }: ProposalSubject, { ref, changes }: ObjectChanges, single: boolean): string[] {
  const drift = driftOf(record.spec.fingerprint)
  const adopted = changes.every(({ change }) => change.resolution === 'Adopt')
  const adoptable = changes.every(({ change }) => whyNotAdoptable(change, notAdoptable) === undefined)
  if (!adopted && !adoptable) return []
  const verb = adopted ? ('restore' as const) : ('adopt' as const)
  const numbers = changes.map(({ number }) => number)
  const plan = verb === 'adopt' ? 'Adopt (git takes over what the cluster has)' : 'Restore (the cluster goes back to git)'
  const which = single ? '' : ` for ${formatNumbers(numbers)}, ${markdownCell(objectName(ref), 80)}`
  return [tickBox({ verb, drift, changes: numbers }, `Change the plan to ${plan}${which}`)]
}

/** Why something cannot be adopted or released, so that what is not offered is no riddle. */
export function planRefusals({ record, notAdoptable, notReleasable }: ProposalSubject): string[] {
  const { changes } = record.spec
  return [
    ...refusalLines('Adopt', changes, (change) => whyNotAdoptable(change, notAdoptable)),
    ...refusalLines('Release', changes, ({ fingerprint }) => notReleasable.get(fingerprint)),
  ]
}

function refusalLines(plan: string, changes: readonly Change[], whyNot: (change: Change) => string | undefined): string[] {
  const reasons = new Map<string, number[]>()
  changes.forEach((change, index) => {
    const why = whyNot(change)
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), index + 1])
  })
  return [...reasons].slice(0, REASONS_SHOWN).map(([why, numbers]) => {
    const listed = numbers.length > 20 ? count(numbers.length, 'change') : formatNumbers(numbers)
    return `- ${plan} is not possible${changes.length === 1 ? '' : ` for ${listed}`}: ${markdownProse(why)}.`
  })
}
