/** The text of the pull request of `init`: what its merge changes, by the current state. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { CONFIGURE_BRANCH } from '@backporch/git-store/ref-name'
import {
  formatMarkdownCell,
  formatMarkdownLink,
  formatMarkdownProse,
} from '@backporch/kyaml/markdown'
import { getResourceKey } from '@backporch/kyaml/resource'
import { convertToOneLine, type Phrase } from '@backporch/kyaml/text'
import { RISKS } from '../../drift/compare/drift.ts'
import type { Change } from '../../record/documents/change.ts'
import { formatWriters } from './change-table.ts'
import { phraseMarkdown } from './phrase-markdown.ts'
import { getWorstRisk, type ProposalText } from './proposal-subject.ts'
import {
  count,
  findFirstFitting,
  formatBox,
  formatClusterCell,
  formatFolded,
  formatMarkdownTable,
  formatRiskWord,
  formatTableOfRows,
} from './words.ts'

export interface ExpectedProposal {
  readonly packageName: string
  readonly cluster: string
  readonly changes: readonly Change[]
  readonly mode: string
}

/** With the present policy and with mode Propose everywhere. Nothing was written for it. */
export interface Expectation {
  readonly proposals: readonly ExpectedProposal[]
  /** Packages, each in one cluster. */
  readonly modes: { readonly Propose: number; readonly Warn: number; readonly Off: number }
  readonly muted: { readonly fields: number; readonly rules: number }
  readonly failed: readonly {
    readonly packageName: string
    readonly cluster: string
    readonly code: string
    readonly why: string
  }[]
  /** Partly observed packages. */
  readonly incomplete: number
  /** Declared in the observed packages, each in one cluster. */
  readonly objects: number
}

interface FoundSource {
  /** As `Flux Kustomization flux-system/apps`. */
  readonly title: string
  /** From the repository root. */
  readonly path: string
  readonly cluster: string
  readonly objects: number
  readonly differences: number
}

export interface OnboardingSubject {
  readonly dialect: ForgeDialect
  readonly version: string
  readonly baseBranch: string
  /** Sorted. */
  readonly clusters: readonly string[]
  readonly packages: number
  /** Packages that these clusters do not run. */
  readonly elsewhere: number
  /** Most packages first. */
  readonly syncers: readonly {
    readonly name: string
    readonly sentence: Phrase
    readonly units: number
  }[]
  readonly sources: readonly FoundSource[]
  readonly autoscalers: readonly { readonly word: string; readonly count: number }[]
  readonly imported: number
  readonly notImported: readonly {
    readonly source: string
    readonly rule: string
    readonly why: string
  }[]
  readonly notObserved: readonly string[]
  /** Undefined if the branch's policy is invalid; `policyProblem` has a line per problem. */
  readonly expected: Expectation | undefined
  readonly policyProblem: string
  /** 0 is no limit. */
  readonly limits: {
    readonly prHourlyLimit: number
    readonly prConcurrentLimit: number
    readonly stormThreshold: number
    readonly stormObjects: number
    readonly stormShare: number
    /** In UTC; low-risk drift waits for it. */
    readonly digest: string | undefined
  }
  readonly policyPath: string
  readonly files: readonly string[]
  readonly editedBy: string | undefined
  readonly rights: readonly { readonly name: string; readonly why: string }[]
}

export function splitByDigest(
  proposals: readonly ExpectedProposal[],
  { digest }: Pick<OnboardingSubject['limits'], 'digest'>,
): { readonly today: readonly ExpectedProposal[]; readonly waiting: readonly ExpectedProposal[] } {
  const waits = ({ changes }: ExpectedProposal): boolean =>
    digest !== undefined && getWorstRisk(changes) === 'low'
  return { today: proposals.filter((one) => !waits(one)), waiting: proposals.filter(waits) }
}

const TITLE = 'chore(drift): configure Backporch'
const BEFORE_MERGE = 'Before you merge: rights, reviewers and rules'

const AMOUNTS = [
  [20, 50],
  [20, 10],
  [5, 3],
  [0, 0],
] as const

function shortenNames(subject: OnboardingSubject): OnboardingSubject {
  return {
    ...subject,
    clusters: subject.clusters.map((name) => convertToOneLine(name, 30)),
    syncers: subject.syncers.slice(0, 2),
    notObserved: subject.notObserved.slice(0, 2).map((sentence) => convertToOneLine(sentence, 100)),
    policyProblem: subject.policyProblem
      .split('\n')
      .slice(0, 3)
      .map((line) => convertToOneLine(line, 100))
      .join('\n'),
    files: subject.files.map((path) => convertToOneLine(path, 40)),
  }
}

const SHORTEST = `**Nothing happens until this is merged.** Merging enrols the repository. Closing leaves nothing behind. ${formatMarkdownCell('backporch init --dry-run')} prints what to expect.

<sub>¹ The field manager: a name that the client chose.</sub>
<!-- backporch:v1 configure -->
`

export function formatOnboardingText(subject: OnboardingSubject): ProposalText {
  const body = findFirstFitting(
    AMOUNTS,
    ([proposals, rules]) =>
      formatBody(rules === 0 ? shortenNames(subject) : subject, proposals, rules),
    subject.dialect.bodyLimit,
  )
  return { title: TITLE, body: body ?? SHORTEST, labels: ['drift'], draft: false }
}

function formatBody(subject: OnboardingSubject, proposals: number, rules: number): string {
  const { dialect, expected, baseBranch, version } = subject
  const url = dialect.branchFileUrl(CONFIGURE_BRANCH, subject.policyPath)
  const policy = formatMarkdownLink('the policy', url)
  const lines = [
    ...formatBox(dialect, 'note', [
      `**Nothing happens until this is merged.** Backporch compares what clusters run with the packages of this repository, and writes the difference back into git for review. A user with push access ran ${formatMarkdownCell('backporch init')}.`,
      ...(subject.editedBy === undefined
        ? []
        : [
            `**Edited by ${formatMarkdownCell(subject.editedBy, 60)}**: Backporch no longer updates this branch, only this description.`,
          ]),
    ]),
    ...formatMarkdownTable(
      ['Decision', 'What happens'],
      [
        [
          '**merge**',
          `the repository is enrolled: the next scan records drift on the branch ${formatMarkdownCell('drift-ledger')}, and the policy decides which pull requests are opened`,
        ],
        [
          '**close**',
          'the repository is not enrolled. Nothing is left behind, and Backporch does not propose it again by itself',
        ],
        [
          '**edit**',
          `change ${policy} on this branch; the next ${formatMarkdownCell('backporch init')} counts again`,
        ],
      ],
    ),
    '**What to expect**',
    '',
    ...(expected === undefined
      ? formatInvalidPolicy(subject.policyProblem)
      : formatExpectation(subject, expected, proposals)),
    '**What was found**',
    '',
    ...formatFound(subject),
    ...formatNotImported(subject, rules),
    `**What this branch changes**: ${describeChangedFiles(subject)}`,
    '',
    ...formatFolded(dialect, BEFORE_MERGE, undefined, formatRights(subject)),
    `<sub>¹ The field manager: a name that the client chose. · backporch ${formatMarkdownCell(version, 30)} · into ${formatMarkdownCell(baseBranch, 60)}</sub>`,
    '<!-- backporch:v1 configure -->',
  ]
  return `${lines.join('\n')}\n`
}

function describeChangedFiles({ files, editedBy }: OnboardingSubject): string {
  const shown = files.slice(0, 6).map((path) => formatMarkdownCell(path))
  const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : ''
  return `${shown.length === 0 ? 'nothing' : shown.join(', ')}${more}.${editedBy === undefined ? ' No package and no cluster.' : ''}`
}

function formatInvalidPolicy(problem: string): string[] {
  const problems = problem.split('\n').map((line) => `- ${formatMarkdownCell(line.trim(), 300)}`)
  return [
    'The policy on this branch is not valid. Nothing can be counted, and after a merge Backporch does nothing until it is valid:',
    '',
    ...problems.slice(0, 10),
    '',
  ]
}

function formatExpectation(
  { limits, dialect }: OnboardingSubject,
  expected: Expectation,
  most: number,
): string[] {
  const { proposals, modes, muted, failed, incomplete, objects } = expected
  const now = proposals.filter(({ mode }) => mode === 'Propose')
  const units = modes.Propose + modes.Warn + modes.Off
  const parts = (['Propose', 'Warn', 'Off'] as const).flatMap((mode) =>
    modes[mode] === 0 ? [] : [`${modes[mode]} ${mode}`],
  )
  const shown = rankProposals(proposals).slice(0, most)
  return [
    `- With this policy (${units === 0 ? 'no package' : `${count(units, 'package')}: ${parts.join(', ')}`}): **${formatPullCount(now, limits)} today**${rate(now, limits, objects)}.`,
    `- With mode ${formatMarkdownCell('Propose')} everywhere: **${formatPullCount(proposals, limits)} today**${formatRisks(proposals)}${rate(proposals, limits, objects)}.`,
    `- ${muted.fields === 0 ? 'No difference is' : `**${count(muted.fields, 'difference')}** ${muted.fields === 1 ? 'is' : 'are'}`} muted by ${muted.rules === 0 ? 'a rule' : count(muted.rules, 'rule')}.`,
    ...(incomplete === 0
      ? []
      : [
          `- ${count(incomplete, 'package')} could be observed only in part, so there may be more drift.`,
        ]),
    '',
    ...(shown.length === 0
      ? []
      : [
          ...formatTableOfRows(shown, {
            Package: ({ packageName }) => formatMarkdownCell(packageName),
            Cluster: ({ cluster }) => formatClusterCell(cluster),
            Changes: ({ changes }) => String(changes.length),
            Risk: ({ changes }) => formatRiskWord(getWorstRisk(changes)),
            'Changed by ¹': ({ changes }) => formatWriters(changes, 2),
          }),
          ...(shown.length < proposals.length
            ? [`and ${proposals.length - shown.length} more, less risky.`, '']
            : []),
        ]),
    ...formatFailed(failed, most, dialect),
  ]
}

function formatPullCount(
  proposals: readonly ExpectedProposal[],
  limits: OnboardingSubject['limits'],
): string {
  return count(splitByDigest(proposals, limits).today.length, 'pull request')
}

function formatRisks(proposals: readonly ExpectedProposal[]): string {
  const of = (risk: Change['risk']): number =>
    proposals.filter(({ changes }) => getWorstRisk(changes) === risk).length
  return proposals.length === 0 ? '' : ` (${of('critical')} critical, ${of('high')} high)`
}

/** Critical drift is not held. */
function rate(
  proposals: readonly ExpectedProposal[],
  limits: OnboardingSubject['limits'],
  objects: number,
): string {
  const { prHourlyLimit, prConcurrentLimit } = limits
  const { today, waiting } = splitByDigest(proposals, limits)
  const held = today.filter(({ changes }) => getWorstRisk(changes) !== 'critical').length
  if (proposals.length === 0) return ''
  const storm = describeStorm(proposals, limits, objects)
  if (storm !== undefined)
    return `; ${storm} at once are a storm: one issue, and pull requests for critical drift only`
  const parts = [
    ...(prHourlyLimit > 0 && held > prHourlyLimit
      ? [`at most ${prHourlyLimit} new ones in an hour`]
      : []),
    ...(prConcurrentLimit > 0 && held > prConcurrentLimit
      ? [`at most ${prConcurrentLimit} open at once`]
      : []),
  ]
  const first = parts.length === 0 ? '' : `, ${parts.join(' and ')}`
  if (waiting.length === 0) return first
  return `${first}; **${waiting.length} more** of low risk ${waiting.length === 1 ? 'waits' : 'wait'} for the digest (${formatMarkdownCell(`${limits.digest} UTC`)})`
}

/** Undefined if they are not a storm. */
function describeStorm(
  proposals: readonly ExpectedProposal[],
  { stormThreshold, stormObjects, stormShare }: OnboardingSubject['limits'],
  objects: number,
): string | undefined {
  if (stormThreshold > 0 && proposals.length > stormThreshold) return `more than ${stormThreshold}`
  if (stormObjects === 0 || stormShare === 0 || proposals.length < 2) return undefined
  const differ = new Set(
    proposals.flatMap(({ packageName, changes }) =>
      changes.map(({ ref }) => `${packageName} ${getResourceKey(ref)}`),
    ),
  ).size
  if (differ <= stormObjects || differ * 100 <= objects * stormShare) return undefined
  return `more than ${count(stormObjects, 'object')} and ${stormShare} % of a cluster`
}

function rankProposals(proposals: readonly ExpectedProposal[]): readonly ExpectedProposal[] {
  const rank = ({ changes }: ExpectedProposal): number => RISKS.indexOf(getWorstRisk(changes))
  const name = ({ packageName, cluster }: ExpectedProposal): string => `${packageName}\0${cluster}`
  return [...proposals].sort(
    (left, right) => rank(left) - rank(right) || (name(left) < name(right) ? -1 : 1),
  )
}

function formatFailed(
  failed: Expectation['failed'],
  most: number,
  dialect: ForgeDialect,
): string[] {
  if (failed.length === 0) return []
  const shown = failed.slice(0, Math.max(1, most))
  const more = shown.length < failed.length ? [`and ${failed.length - shown.length} more.`, ''] : []
  const words = `${count(failed.length, 'package')} could not be observed`
  return formatFolded(dialect, words, undefined, [
    ...formatTableOfRows(shown, {
      Package: ({ packageName }) => formatMarkdownCell(packageName),
      Cluster: ({ cluster }) => formatClusterCell(cluster),
      Code: ({ code }) => formatMarkdownCell(code, 10),
      Why: ({ why }) => formatMarkdownCell(why, 200),
    }),
    ...more,
  ])
}

function formatFound({
  clusters,
  packages,
  elsewhere,
  syncers,
  autoscalers,
  imported,
  notImported,
  notObserved,
}: OnboardingSubject): string[] {
  const names = clusters.slice(0, 5).map((name) => formatMarkdownCell(name, 60))
  const scalers = autoscalers.map(({ word, count: number }) => count(number, word))
  return [
    `- ${count(packages, 'package')} in ${count(clusters.length, 'cluster')}: ${names.join(', ')}${clusters.length > 5 ? ` and ${clusters.length - 5} more` : ''}.${elsewhere === 0 ? '' : ` ${count(elsewhere, 'package')} of the repository ${elsewhere === 1 ? 'has' : 'have'} no object there.`}`,
    `- ${count(imported, 'ignore rule')} taken over, each with its source in the policy${notImported.length === 0 ? '' : `; ${notImported.length} not`}.${scalers.length === 0 ? '' : ` Autoscalers: ${scalers.join(', ')}.`}`,
    ...notObserved.slice(0, 10).map((one) => `- Not searched: ${formatMarkdownProse(one, 300)}`),
    '',
    ...(syncers.length === 0
      ? []
      : formatTableOfRows(syncers.slice(0, 10), {
          'Applied by': ({ name }) => formatMarkdownCell(name),
          Packages: ({ units }) => String(units),
          'After a Restore is merged': ({ sentence }) => phraseMarkdown(sentence, 120),
        })),
  ]
}

function formatNotImported({ notImported, dialect }: OnboardingSubject, most: number): string[] {
  if (notImported.length === 0) return []
  const shown = notImported.slice(0, most)
  const words = `${count(notImported.length, 'ignore rule')} not taken over`
  return formatFolded(dialect, words, undefined, [
    ...(shown.length === 0
      ? []
      : formatTableOfRows(shown, {
          Of: ({ source }) => formatMarkdownCell(source),
          Rule: ({ rule }) => formatMarkdownCell(rule),
          'Why not': ({ why }) => formatMarkdownCell(why, 200),
        })),
    ...(shown.length < notImported.length
      ? [
          `${shown.length === 0 ? '' : 'and '}${notImported.length - shown.length} more: ${formatMarkdownCell('backporch init --dry-run')} lists them.`,
        ]
      : []),
  ])
}

function formatRights({ rights }: OnboardingSubject): string[] {
  return [
    `The account of Backporch needs: ${rights.map(({ name, why }) => `${formatMarkdownCell(name)} (${why})`).join('; ')}.`,
    '',
    `The owners of the files review drift. Give ${formatMarkdownCell('/.drift/')} an owner in CODEOWNERS, so that policy changes are reviewed too.`,
    '',
    `${formatMarkdownCell('backporch init --print-ruleset')} prints branch protection rules that require reviews. Merge with a merge commit, or squash with the default message: the message is part of the audit trail.`,
  ]
}
