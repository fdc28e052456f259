/**
 * The first screen shows what changed, who did it, since when, and what merging and closing do. The
 * same input gives the same bytes. Text from a cluster, from git or from a person goes through
 * src/kyaml/text/markdown-text.ts.
 */
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { formatSubject } from '../../record/subject.ts'
import { EVERYWHERE } from '../../sources/locate/candidate.ts'
import {
  changeTable,
  formatKindTable,
  formatObjectDiff,
  formatObjectList,
  hasDiff,
  planCounts,
} from './change-table.ts'
import { formatDecisionTable, planBoxes, planRefusals, settleNotes } from './decision-table.ts'
import { formatMoreLink, formatProposalFooter } from './proposal-footer.ts'
import { formatProposalHead, planLine } from './proposal-head.ts'
import { createLabels } from './proposal-labels.ts'
import {
  hasNoApplier,
  type ObjectChanges,
  type ProposalSubject,
  type ProposalText,
  rankChanges,
  rankObjects,
} from './proposal-subject.ts'
import { count, findFirstFitting, formatClusterCell, formatFolded, formatList } from './words.ts'

export function formatProposalText(subject: ProposalSubject): ProposalText {
  return {
    title: formatSubject(subject.record, 'Proposed'),
    body: formatProposalBody(subject),
    ...createLabels(
      { ...subject.record.spec, states: subject.states },
      hasNoApplier(subject) ? ['drift-state/no-applier'] : [],
    ),
  }
}

interface Amount {
  readonly rows: number
  readonly diffs: number
  readonly diffChanges: number
  readonly lists: boolean
  readonly links: boolean
  readonly extras: boolean
}

const ROWS = 30
const FEW_ROWS = 6
const OPEN_DIFFS = 3
const SOME_OBJECTS = 25
const MANY_OBJECTS = 200

function listAmounts(objects: number): readonly Amount[] {
  const many = objects > MANY_OBJECTS
  const diffs = many ? 0 : objects > SOME_OBJECTS ? 10 : objects
  const whole: Amount = {
    rows: ROWS,
    diffs,
    diffChanges: 50,
    lists: !many && objects > SOME_OBJECTS,
    links: true,
    extras: true,
  }
  return [
    whole,
    { ...whole, lists: false },
    { ...whole, lists: false, diffs: Math.min(diffs, 10), diffChanges: 10 },
    { ...whole, lists: false, diffs: Math.min(diffs, OPEN_DIFFS), diffChanges: 3 },
    { ...whole, lists: false, diffs: 0 },
    { ...whole, lists: false, diffs: 0, rows: 10 },
    { ...whole, lists: false, diffs: 0, rows: 3 },
    { ...whole, lists: false, diffs: 0, rows: 1, links: false },
    { ...whole, lists: false, diffs: 0, rows: 1, links: false, extras: false },
  ]
}

function formatProposalBody(subject: ProposalSubject): string {
  const objects = rankObjects(subject.record.spec.changes)
  const { bodyLimit } = subject.dialect
  return (
    findFirstFitting(
      listAmounts(objects.length),
      (amount) => formatBody(subject, objects, amount),
      bodyLimit,
    ) ?? formatBareBody(subject)
  )
}

function formatBody(
  subject: ProposalSubject,
  objects: readonly ObjectChanges[],
  amount: Amount,
): string {
  const { record, base, dialect } = subject
  const { changes } = record.spec
  const rows = rankChanges(changes).slice(0, amount.rows)
  const changed = changeTable(rows, amount.links ? { base, dialect } : undefined)
  const counts = rows.length < changes.length && objects.length > 1 ? formatKindTable(objects) : []
  const decision = [planLine(subject), '', ...formatDecisionTable(subject)]
  const few = changes.length <= FEW_ROWS
  return joinLines([
    ...formatProposalHead(subject, rows.length, formatMoreLink(subject, amount.links)),
    ...(few ? [...changed, ...decision] : [...decision, ...counts, ...changed]),
    ...settleNotes(subject),
    ...(amount.extras ? [...adoptPart(subject), ...planBoxes(subject, objects)] : []),
    ...diffPart(subject, objects, amount),
    ...(amount.lists ? listPart(subject, objects.slice(amount.diffs)) : []),
    ...(amount.extras
      ? [...notePart(subject), ...formatHealthPart(subject), ...formatCommandPart(subject)]
      : []),
    ...formatProposalFooter(subject, amount.links),
  ])
}

function formatBareBody(subject: ProposalSubject): string {
  const { changes, plan } = subject.record.spec
  return joinLines([
    `**${count(changes.length, 'difference')} between git and cluster ${formatClusterCell(subject.unit.cluster)}**: ${planCounts(changes)}.`,
    '',
    `Merging does what the plan (${plan}) says; closing changes nothing in the cluster. Full text: ${formatMoreLink(subject, false)}.`,
    '',
    ...formatProposalFooter(subject, false),
  ])
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

function adoptPart(subject: ProposalSubject): string[] {
  const refusals = planRefusals(subject)
  return refusals.length === 0 ? [] : [...refusals, '']
}

function diffPart(
  { dialect }: ProposalSubject,
  objects: readonly ObjectChanges[],
  amount: Amount,
): string[] {
  const shown = objects.slice(0, amount.diffs).filter(hasDiff)
  if (objects.length <= OPEN_DIFFS) {
    return shown.flatMap((object) => [
      objects.length > 1
        ? `${formatMarkdownCell(describeResourceId(object.ref))}, git (−) and the cluster (+):`
        : 'Git (−) and the cluster (+):',
      '',
      formatObjectDiff(object, amount.diffChanges),
      '',
    ])
  }
  return shown.flatMap((object) =>
    formatFolded(
      dialect,
      `Diff, risk ${object.risk}, ${count(object.changes.length, 'change')}:`,
      describeResourceId(object.ref),
      [formatObjectDiff(object, amount.diffChanges)],
    ),
  )
}

function listPart({ dialect }: ProposalSubject, objects: readonly ObjectChanges[]): string[] {
  const kinds = [...Map.groupBy(objects, ({ ref }) => ref.kind)].sort(([left], [right]) =>
    left < right ? -1 : 1,
  )
  return kinds.flatMap(([kind, own]) =>
    formatFolded(
      dialect,
      `${count(own.length, 'more object')} of kind`,
      kind,
      formatObjectList(own),
    ),
  )
}

const NOTES_SHOWN = 10
const MOVES_OTHERS =
  'adopted everywhere: the edited file is read by other units too, which change with it'

function notePart({ record, dialect }: ProposalSubject): string[] {
  const { changes } = record.spec
  const single = changes.length === 1
  const own = changes.flatMap(({ notes = [] }, index) =>
    notes.map(
      (note) => `${single ? '' : `change ${index + 1}: `}Note: ${formatMarkdownProse(note, 300)}`,
    ),
  )
  const notes = [...own, ...formatSharedNotes(record)]
  if (notes.length === 0) return []
  const listed = formatList(notes, NOTES_SHOWN, 'note')
  return notes.length <= 2
    ? [...listed, '']
    : formatFolded(dialect, count(notes.length, 'note'), undefined, listed)
}

function formatSharedNotes({
  spec: { changes, notes: shared = [] },
}: DriftRecord): readonly string[] {
  const edited = changes.filter(({ resolution }) => resolution !== 'Restore')
  const all = edited.filter(({ via }) => via === EVERYWHERE)
  // A record of an earlier version has no notes.
  const told = shared.length === 0 && all.length > 0 ? [MOVES_OTHERS] : shared
  if (told.length === 0) return []
  const verb = edited.some(({ resolution }) => resolution === 'Adopt') ? '/adopt' : '/release'
  const other =
    all.length === edited.length
      ? `\`${verb} NUMBERS\` edits it here only`
      : `\`${verb} NUMBERS --via everywhere\` edits it for all of them`
  return [
    ...told.map((note) => `Note: ${formatMarkdownProse(note, 400)}`),
    `Another choice: ${other}`,
  ]
}

const MEMBERS_SHOWN = 10

function formatHealthPart({ health, dialect }: ProposalSubject): string[] {
  if (health.length === 0) return []
  const current = health.filter(({ status }) => status === 'Current').length
  const others = health.filter(({ status }) => status !== 'Current')
  const words = `Health: ${current} of ${count(health.length, 'object')} Current`
  if (others.length === 0) return [`${words}.`, '']
  const lines = others.map(
    ({ id, status, health: message }) =>
      `${formatMarkdownCell(describeResourceId(id))}: ${status}${message === undefined ? '' : `, ${formatMarkdownCell(message, 200)}`}`,
  )
  return formatFolded(dialect, words, undefined, formatList(lines, MEMBERS_SHOWN, 'object'))
}

function formatCommandPart({ record, dialect }: ProposalSubject): string[] {
  const several = record.spec.changes.length > 1
  const number = several ? '2' : '1'
  return formatFolded(dialect, 'Commands', undefined, [
    'Write a command at the start of a line in a comment. Everyone with write access to the repository can use commands.',
    '',
    ...(several
      ? [
          '- `/adopt 1,3` · `/restore 2` · `/release 4` change the plan for these numbers; without numbers, for all changes',
        ]
      : ['- `/adopt` · `/restore` · `/release` change the plan']),
    `- \`/ignore ${number} --for 30d -- reason\` proposes a rule for the policy`,
    '- `/snooze 7d` stops reminders · `/recheck` checks the cluster again · `/recreate` rebuilds this branch',
    `- \`/explain ${number}\` explains the plan · \`/help\` lists all commands`,
  ])
}
