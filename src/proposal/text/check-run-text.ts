/**
 * The text of a check run: differences at the lines that declare them, and three buttons
 * (docs/adr/0017-check-run-buttons.md). It contains no time, so the same state is the same text and
 * is not resent. It agrees with the statuses.
 */
import { createHash } from 'node:crypto'
import type { CheckAnnotation, CheckRun } from '@backporch/forge/check-run'
import type { CommitStatus, ForgeDialect } from '@backporch/forge/hosted-forge'
import { formatMarkdownProse } from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { isKnownWriter } from '../../drift/attribute/actor.ts'
import { computeActorLimit, formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import { formatSides } from '../../record/format-value.ts'
import { changeTable, planCounts } from './change-table.ts'
import { checkButtons } from './check-run-buttons.ts'
import type { MassSubject } from './mass-text.ts'
import { formatWriterNote } from './proposal-footer.ts'
import { PLAN_SENTENCES } from './proposal-head.ts'
import { FRESH } from './proposal-statuses.ts'
import {
  explainNotAdoptable,
  getWorstRisk,
  type NumberedChange,
  type ProposalSubject,
  rankChanges,
} from './proposal-subject.ts'
import { capitalizeFirst, count, planWord } from './words.ts'

/** Four requests of fifty annotations. */
const ANNOTATED = 200
const TITLE = 200
const MESSAGE = 2_000
const VALUE = 500
/** Bytes. GitHub documents 65,535 characters here and bytes elsewhere; this is below both. */
const SUMMARY = 60_000
/** Distinguishes several states that are neutral on a forge. */
const UNKNOWN = 'live state unknown'
const LEVELS = { critical: 'failure', high: 'failure', medium: 'warning', low: 'notice' } as const

interface Facts
  extends Pick<
    MassSubject,
    'headBranch' | 'changes' | 'plan' | 'base' | 'dialect' | 'ledgerUrl' | 'notAdoptable'
  > {
  readonly where: string
}

export function checkRun(subject: ProposalSubject, statuses: readonly CommitStatus[]): CheckRun {
  return buildCheckRun(
    { ...subject.record.spec, ...subject, where: `cluster ${subject.unit.cluster}` },
    statuses,
  )
}

export function createMassCheckRun(
  subject: MassSubject,
  statuses: readonly CommitStatus[],
): CheckRun {
  return buildCheckRun({ ...subject, where: count(subject.rows.length, 'cluster') }, statuses)
}

export function createNotObservedCheckRun(
  ref: string,
  status: CommitStatus,
  dialect: ForgeDialect,
): CheckRun {
  return {
    ...createBareCheckRun(
      ref,
      'unsure',
      `${UNKNOWN}: ${status.description}`,
      status.url || dialect.branchFileUrl('drift-ledger', 'clusters'),
    ),
    summary: `${formatMarkdownProse(status.description)}. The pull request stays open, and the cluster is checked again.\n`,
    buttons: checkButtons(false),
  }
}

/** @param why the beginning of a sentence */
export function createForeignCheckRun(ref: string, why: string, dialect: ForgeDialect): CheckRun {
  return {
    ...createBareCheckRun(ref, 'failed', why, dialect.branchFileUrl('drift-ledger', 'clusters')),
    summary: `${formatMarkdownProse(why)}. Backporch does not change the branch and makes no statement about it.\n`,
  }
}

function createBareCheckRun(
  ref: string,
  state: CheckRun['state'],
  title: string,
  url: string,
): CheckRun {
  return {
    key: checkKey(ref),
    state,
    title: convertToOneLine(title, TITLE),
    summary: `${capitalizeFirst(title)}.\n`,
    url,
    annotations: [],
    buttons: [],
  }
}

const DECIDED: { readonly [kind: string]: readonly [CheckRun['state'], string] } = {
  merged: ['merged', 'merged: the change is not applied to the cluster yet'],
  verified: ['merged', 'merged, and the cluster agrees'],
  'not-restored': ['failed', 'merged, and the cluster does not agree'],
  declined: ['closed', 'closed: nothing changes in the cluster'],
  'rejected-in-porch': ['closed', 'rejected: nothing changes in the cluster'],
  published: ['closed', 'published as a draft: nothing is decided'],
  healed: ['closed', 'no decision needed: the cluster matches git again'],
  'resolved-by-git': ['closed', 'no decision needed: git matches the cluster'],
  'moved-to-mass': ['closed', 'closed: decided together with other clusters'],
}

/** Undefined if `kind` is not a decision. */
export function createDecidedCheckRun(
  ref: string,
  kind: string,
  url: string,
): CheckRun | undefined {
  const [state, title] = DECIDED[kind] ?? []
  if (state === undefined || title === undefined) return undefined
  return createBareCheckRun(ref, state, title, url)
}

export function checkKey(ref: string): string {
  return createHash('sha256').update(ref).digest('hex').slice(0, 16)
}

function buildCheckRun(facts: Facts, statuses: readonly CommitStatus[]): CheckRun {
  const { headBranch, where, changes, plan, notAdoptable, ledgerUrl } = facts
  const fresh = statuses.find(({ context }) => context === FRESH)
  const unseen =
    fresh?.state === 'success'
      ? undefined
      : (fresh?.description ?? 'the state of the cluster is unknown')
  const ranked = rankChanges(changes)
  const annotations = ranked.flatMap((one) => createAnnotation(one, where) ?? [])
  const adoptable =
    changes.some(({ resolution }) => resolution !== 'Adopt') &&
    changes.every((change) => explainNotAdoptable(change, notAdoptable) === undefined)
  const what = `${count(changes.length, 'change')} in ${where}, ${plan === 'Mixed' ? planCounts(changes) : planWord(plan)} planned`
  return {
    key: checkKey(`refs/heads/${headBranch}`),
    state: unseen === undefined ? 'undecided' : 'unsure',
    title: convertToOneLine(
      unseen === undefined
        ? `decision needed: ${what}, risk ${getWorstRisk(changes)}`
        : `${UNKNOWN}: ${what}; ${unseen}`,
      TITLE,
    ),
    summary: formatSummary(facts, { ranked, unseen, annotated: annotations.length, adoptable }),
    url: ledgerUrl,
    annotations: annotations.slice(0, ANNOTATED),
    buttons: checkButtons(adoptable),
  }
}

interface Shown {
  readonly ranked: readonly NumberedChange[]
  /** Why live may no longer be the reviewed state; undefined if it is. */
  readonly unseen: string | undefined
  readonly annotated: number
  readonly adoptable: boolean
}

function formatSummary(facts: Facts, shown: Shown): string {
  for (const [rows, links] of [
    [50, true],
    [20, true],
    [20, false],
    [5, false],
  ] as const) {
    const summary = formatSummaryWith(facts, shown, rows, links)
    if (new TextEncoder().encode(summary).length <= SUMMARY) return summary
  }
  return formatSummaryWith(facts, shown, 0, false)
}

function formatSummaryWith(
  { changes, plan, base, dialect }: Facts,
  { ranked, unseen, annotated, adoptable }: Shown,
  rows: number,
  linked: boolean,
): string {
  const sentence = plan === 'Mixed' ? planCounts(changes) : PLAN_SENTENCES[plan]
  const table = ranked.slice(0, rows)
  return [
    `**Plan: ${planWord(plan)}.** ${capitalizeFirst(sentence)}. Merging the pull request does that. Closing it changes nothing.`,
    '',
    ...(unseen === undefined ? [] : [`**Note:** ${formatMarkdownProse(unseen)}.`, '']),
    ...(table.length === 0 ? [] : changeTable(table, linked ? { base, dialect } : undefined)),
    ...(table.length < changes.length
      ? [
          `The table shows ${table.length} of ${count(changes.length, 'change')}, highest risk first.`,
          '',
        ]
      : []),
    ...formatAnnotationNote(annotated, changes.length),
    adoptable
      ? '**Switch to adopt** does what `/adopt` in a comment does, **Snooze 7d** what `/snooze 7d`, **Re-check** what `/recheck`.'
      : '**Snooze 7d** does what `/snooze 7d` in a comment does, **Re-check** what `/recheck`.',
    'A comment shows the result. Nothing is written to a cluster before a merge.',
    '',
    ...(table.length === 0 ? [] : [`<sub>${formatWriterNote(changes)}</sub>`, '']),
  ].join('\n')
}

function formatAnnotationNote(annotated: number, all: number): string[] {
  if (annotated <= ANNOTATED)
    return annotated === all
      ? []
      : [
          `Annotated are ${annotated} of ${count(all, 'change')}; the others are not declared in git.`,
          '',
        ]
  return [`Annotated are ${ANNOTATED} of ${count(all, 'change')}, highest risk first.`, '']
}

function createAnnotation(
  { change, number }: NumberedChange,
  where: string,
): CheckAnnotation | undefined {
  const [, path, line] = /^(.+):(\d{1,9})$/s.exec(change.source ?? '') ?? []
  if (path === undefined || !(Number(line) > 0)) return undefined
  const field = change.path === undefined ? '' : ` ${change.path}`
  return {
    path,
    line: Number(line),
    level: LEVELS[change.risk],
    title: convertToOneLine(`${number}. ${describeResourceId(change.ref)}${field}`, TITLE),
    message: convertToOneLine(
      `${describeDifference(change, where)}; ${describeWriter(change)}. Risk ${change.risk} (${change.reason}), plan ${change.resolution}.`,
      MESSAGE,
    ),
  }
}

const WORDS = {
  missing: 'git declares it, and it is missing in the cluster',
  unexpected: 'it is in the cluster, and git does not declare it',
}

function describeDifference(change: Change, where: string): string {
  if (change.change === 'missing' || change.change === 'unexpected')
    return `${where}: ${WORDS[change.change]}`
  const { git, live } = formatSides(change, VALUE)
  return `git declares ${change.git === undefined ? 'nothing' : git}, ${where} has ${change.live === undefined ? 'nothing' : live}`
}

function describeWriter({ actor }: Change): string {
  if (actor.confidence === 'none') return 'the writer is unknown'
  const how = isKnownWriter(actor) ? 'written by' : 'perhaps written by'
  return `${how} ${convertToOneLine(formatActorName(actor), computeActorLimit(actor, 100))}${actor.at === '' ? '' : `, ${convertToOneLine(actor.at, 40)}`}`
}
