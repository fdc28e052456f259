import {
  formatMarkdownCell,
  formatMarkdownLink,
  formatMarkdownProse,
} from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import { recordPath } from '../../record/record-paths.ts'
import { fitSubject, isCritical } from '../../record/subject.ts'
import type { Applier } from '../../status/applier.ts'
import {
  changeTable,
  formatLastWritten,
  formatObjectDiff,
  formatWriters,
  planCounts,
} from './change-table.ts'
import { formatDecisionRows, silence, stays } from './decision-table.ts'
import { phraseMarkdown } from './phrase-markdown.ts'
import { formatMarker, formatPolicyPart, formatWriterNote } from './proposal-footer.ts'
import { formatRiskReasons, PLAN_SENTENCES, stateLine } from './proposal-head.ts'
import { createLabels } from './proposal-labels.ts'
import {
  explainNotAdoptable,
  getWorstRisk,
  type ProposalFrame,
  type ProposalText,
  rankChanges,
  rankObjects,
} from './proposal-subject.ts'
import { getDriftKey, tickBox } from './ticks.ts'
import {
  capitalizeFirst,
  count,
  findFirstFitting,
  formatBox,
  formatClusterCell,
  formatTableOfRows,
  planWord,
  time,
} from './words.ts'

export interface MassRow {
  readonly cluster: string
  readonly slug: string
  /** RFC 3339 UTC: first observed there. */
  readonly since: string
  readonly state: 'drifted' | 'healed' | 'not observed' | 'excluded'
  readonly plan: Plan
  /** Of the cluster's own record. */
  readonly episode: string
}

export interface MassSubject extends ProposalFrame {
  /** Over all clusters' fingerprints. */
  readonly fingerprint: string
  readonly episode: string
  readonly packageName: string
  /** All clusters have equal changes. */
  readonly changes: readonly Change[]
  readonly plan: Plan
  readonly settle: 'syncer' | 'backporch'
  readonly rows: readonly MassRow[]
  /** What a Restore deletes in any cluster. */
  readonly losses: readonly string[]
  readonly appliers: readonly { readonly applier: Applier; readonly clusters: number }[]
  readonly notAdoptable: ReadonlyMap<string, string>
  /** Reasons by fingerprint. */
  readonly notReleasable: ReadonlyMap<string, string>
}

const AMOUNTS = [
  [200, 10, true],
  [200, 10, false],
  [50, 3, false],
  [10, 1, false],
  [0, 1, false],
  [0, 0, false],
] as const

export function formatMassText(subject: MassSubject): ProposalText {
  const { changes, plan, rows } = subject
  const [first] = changes
  const verb = plan === 'Mixed' ? 'settle' : plan.toLowerCase()
  const what =
    changes.length === 1 && first !== undefined
      ? `${first.ref.kind}/${first.ref.name}`
      : `${changes.length} changes of ${subject.packageName}`
  return {
    title: fitSubject(
      plan === 'Restore' ? 'chore' : 'fix',
      `${verb} ${what} in ${count(rows.length, 'cluster')}`,
      ' (one cause)',
      isCritical(changes),
    ),
    body: formatMassBody(subject),
    ...createLabels(subject),
  }
}

function formatMassBody(subject: MassSubject): string {
  const body = findFirstFitting(
    AMOUNTS,
    ([rows, changes, links]) => formatBody(subject, rows, changes, links),
    subject.dialect.bodyLimit,
  )
  if (body !== undefined) return body
  return `**${count(subject.changes.length, 'change')} in ${count(subject.rows.length, 'cluster')}, one cause.** Merging does what the title says; closing changes nothing in the clusters.\n${formatMarker(subject.episode, subject.fingerprint)}\n`
}

function formatBody(subject: MassSubject, rows: number, most: number, links: boolean): string {
  const { changes, dialect, base, fingerprint, episode } = subject
  const risk = getWorstRisk(changes)
  const ranked = rankChanges(changes).slice(0, most)
  const at = formatLastWritten(changes)
  const began = subject.rows.map(({ since }) => since).sort()[0] ?? ''
  const [object] = rankObjects(changes)
  const lines = [
    ...formatBox(dialect, risk === 'critical' ? 'caution' : risk === 'low' ? 'note' : 'warning', [
      `**One cause, ${count(subject.rows.length, 'cluster')}: ${describeDifference(subject)}.**`,
      `Changed by ${formatWriters(changes, 2)}${at === undefined ? '' : `, ${at}`} ¹ · first seen ${time(began)} · risk ${formatRiskReasons(changes)}`,
      ...formatRollbackLines(changes),
      ...(ranked.length < changes.length
        ? [
            `**The table shows ${ranked.length} of ${count(changes.length, 'change')}**, highest risk first.`,
          ]
        : []),
      ...subject.states.map(stateLine),
    ]),
    ...(ranked.length === 0 ? [] : changeTable(ranked, links ? { base, dialect } : undefined)),
    `**Plan: ${planWord(subject.plan)}.** ${planSentence(subject)}.`,
    '',
    ...formatDecision(subject),
    ...formatLosses(subject),
    ...(object === undefined || changes.length > 1 || most === 0
      ? []
      : ['Git (−) and the clusters (+):', '', formatObjectDiff(object, 3), '']),
    ...formatBoxes(subject),
    ...formatMatrix(subject, rows, links),
    `<sub>${formatWriterNote(changes)}</sub>`,
    '',
    `<sub>backporch ${formatMarkdownCell(subject.version, 30)} · package ${formatMarkdownCell(subject.packageName)} · ${formatPolicyPart(subject, links)}</sub>`,
    formatMarker(episode, fingerprint),
  ]
  return `${lines.join('\n')}\n`
}

/** Clusters may have lost different commits at different times, which each record names. */
function formatRollbackLines(changes: readonly Change[]): string[] {
  const back = changes.flatMap(({ rolledBack }) => rolledBack ?? [])
  const commits = [
    ...new Set(
      back.map(({ commit }) =>
        commit === ''
          ? 'to before the package was in git'
          : `to ${formatMarkdownCell(commit.slice(0, 7))}`,
      ),
    ),
  ]
  if (commits.length === 0) return []
  const which =
    back.length === changes.length ? '' : ` (${back.length} of ${count(changes.length, 'change')})`
  return [
    `**Rolled back ${commits.slice(0, 3).join(' and ')}**${which}: the cluster ran newer content of the package before.`,
  ]
}

function describeDifference({ changes, packageName }: MassSubject): string {
  const [first] = changes
  if (changes.length !== 1 || first === undefined)
    return `the same ${count(changes.length, 'difference')} of package ${formatMarkdownCell(packageName)} to git in each of them`
  const field = first.path === undefined ? '' : `${formatMarkdownCell(first.path, 120)} of `
  const words = {
    missing: 'is missing',
    unexpected: 'is there and not in git',
    added: 'was added',
    removed: 'was removed',
    modified: 'differs from git',
  }
  return `${field}${formatMarkdownCell(describeResourceId(first.ref), 120)} ${words[first.change]} in each of them, in the same way`
}

function planSentence({ plan, changes }: MassSubject): string {
  const sentence =
    plan === 'Mixed'
      ? planCounts(changes)
      : PLAN_SENTENCES[plan]
          .replace('the cluster is', 'the clusters are')
          .replace('the cluster goes', 'the clusters go')
  return capitalizeFirst(sentence)
}

function formatDecision(subject: MassSubject): string[] {
  const { plan, changes, rows, notAdoptable, notReleasable, closeSilence } = subject
  const possible = {
    Restore: true,
    Adopt: changes.every((change) => explainNotAdoptable(change, notAdoptable) === undefined),
    Release: changes.every(({ fingerprint }) => !notReleasable.has(fingerprint)),
  }
  const exclude = formatMarkdownCell(`/exclude ${rows[0]?.cluster ?? ''}`, 60)
  return formatDecisionRows({
    plan,
    changes,
    cluster: `The ${count(rows.length, 'cluster')}`,
    isPossible: (other) => possible[other],
    clusterAfter: (other) => describeClustersAfter(subject, other),
    more: [
      [
        `comment ${exclude}`,
        'no record for that cluster',
        'that cluster gets its own pull request; `*` matches any name',
      ],
    ],
    afterClose: `${stays(changes)}; ${silence(changes, closeSilence)}`,
  })
}

const LOSSES_SHOWN = 10

function formatLosses({ losses: all }: MassSubject): string[] {
  if (all.length === 0) return []
  const shown = all.slice(0, LOSSES_SHOWN).map((loss) => `- ${formatMarkdownProse(loss, 600)}`)
  return [
    ...shown,
    ...(all.length > LOSSES_SHOWN
      ? [`- and ${count(all.length - LOSSES_SHOWN, 'more note')}, see the records`]
      : []),
    '',
  ]
}

const APPLIERS_SHOWN = 3

function describeClustersAfter(
  { changes, appliers, settle, rows }: MassSubject,
  plan: Plan,
): string {
  if (plan === 'Adopt') return stays(changes)
  if (plan === 'Release') return `${stays(changes)}; other writers may manage it`
  if (settle === 'backporch')
    return 'after the merge, backporch applies exactly these changes and nothing else'
  const text = appliers.slice(0, APPLIERS_SHOWN).map(({ applier, clusters }) => {
    const warning =
      applier.warning === undefined ? '' : ` (note: ${phraseMarkdown(applier.phrases.warning)})`
    const where = clusters === rows.length && appliers.length === 1 ? '' : `in ${clusters}: `
    return `${where}${phraseMarkdown(applier.phrases.sentence)}${warning}`
  })
  const more =
    appliers.length > APPLIERS_SHOWN
      ? ` (and ${count(appliers.length - APPLIERS_SHOWN, 'other applier')})`
      : ''
  return `${text.join('; ')}${more}`
}

function formatBoxes({ changes, plan, notAdoptable, fingerprint }: MassSubject): string[] {
  const drift = getDriftKey(fingerprint)
  const numbers = changes.map((_change, index) => index + 1)
  const adoptable =
    plan !== 'Adopt' &&
    changes.every((change) => explainNotAdoptable(change, notAdoptable) === undefined)
  return [
    ...(adoptable
      ? [
          tickBox(
            { verb: 'adopt', drift, changes: numbers },
            'Change the plan to Adopt (git adopts the live values)',
          ),
        ]
      : []),
    ...(plan === 'Adopt'
      ? [
          tickBox(
            { verb: 'restore', drift, changes: numbers },
            'Change the plan to Restore (the clusters are restored to git)',
          ),
        ]
      : []),
    tickBox({ verb: 'recheck', drift, changes: [] }, 'Check the clusters again now'),
    '',
  ]
}

function formatMatrix(
  { rows, dialect, headBranch }: MassSubject,
  most: number,
  links: boolean,
): string[] {
  if (most === 0)
    return [
      `The ${count(rows.length, 'cluster')} are in the records on this branch, under \`.drift/\`.`,
      '',
    ]
  const shown = rows.slice(0, most)
  const cut =
    shown.length < rows.length
      ? [
          `Shown are ${shown.length} of ${count(rows.length, 'cluster')}; each has its record under \`.drift/\` on this branch.`,
          '',
        ]
      : []
  const matrixRows = formatTableOfRows(shown, {
    Cluster: ({ cluster, slug, since, episode }) =>
      formatMarkdownLink(
        formatClusterCell(cluster),
        links ? dialect.branchFileUrl(headBranch, recordPath(cluster, slug, since, episode)) : '',
      ),
    Plan: ({ plan }) => planWord(plan),
    'First seen': ({ since }) => time(since),
    State: ({ state }) => state,
  })
  return [...cut, ...matrixRows]
}
