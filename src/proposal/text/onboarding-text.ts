/** What its merge would result in, counted on the clusters' present state. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { CONFIGURE_BRANCH } from '@backporch/git-store/ref-name'
import { markdownCell, markdownLink, markdownProse } from '@backporch/kyaml/markdown'
import { resourceKey } from '@backporch/kyaml/resource'
import { oneLine, type Phrase } from '@backporch/kyaml/text'
import { RISKS } from '../../drift/compare/drift.ts'
import type { Change } from '../../record/documents/change.ts'
import { writers } from './change-table.ts'
import { phraseMarkdown } from './phrase-markdown.ts'
import { type ProposalText, worstRisk } from './proposal-subject.ts'
import { box, clusterCell, count, firstFitting, folded, riskWord, table, tableOf } from './words.ts'

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
  /** Rules from syncers. */
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

export function byDigest(
  proposals: readonly ExpectedProposal[],
  { digest }: Pick<OnboardingSubject['limits'], 'digest'>,
): { readonly today: readonly ExpectedProposal[]; readonly waiting: readonly ExpectedProposal[] } {
  const waits = ({ changes }: ExpectedProposal): boolean =>
    digest !== undefined && worstRisk(changes) === 'low'
  return { today: proposals.filter((one) => !waits(one)), waiting: proposals.filter(waits) }
}

const TITLE = 'chore(drift): configure Backporch'

const AMOUNTS = [
  [20, 50],
  [20, 10],
  [5, 3],
  [0, 0],
] as const

function shortened(subject: OnboardingSubject): OnboardingSubject {
  return {
    ...subject,
    clusters: subject.clusters.map((name) => oneLine(name, 30)),
    syncers: subject.syncers.slice(0, 2),
    notObserved: subject.notObserved.slice(0, 2).map((sentence) => oneLine(sentence, 100)),
    policyProblem: subject.policyProblem
      .split('\n')
      .slice(0, 3)
      .map((line) => oneLine(line, 100))
      .join('\n'),
    files: subject.files.map((path) => oneLine(path, 40)),
  }
}

const SHORTEST = `**Nothing happens until this is merged.** Merging enrols the repository. Closing leaves nothing behind. ${markdownCell('backporch init --dry-run')} prints what to expect.

<sub>¹ The field manager: a name that the client chose.</sub>
<!-- backporch:v1 configure -->
`

export function onboardingText(subject: OnboardingSubject): ProposalText {
  const body = firstFitting(
    AMOUNTS,
    ([proposals, rules]) =>
      onboardingBody(rules === 0 ? shortened(subject) : subject, proposals, rules),
    subject.dialect.bodyLimit,
  )
  return { title: TITLE, body: body ?? SHORTEST, labels: ['drift'], draft: false }
}

function onboardingBody(subject: OnboardingSubject, proposals: number, rules: number): string {
  const { dialect, expected, baseBranch, version } = subject
  const policy = markdownLink(
    'the policy',
    dialect.branchFileUrl(CONFIGURE_BRANCH, subject.policyPath),
  )
  const lines = [
    ...box(dialect, 'note', [
      `**Nothing happens until this is merged.** Backporch compares what clusters run with the packages of this repository, and writes the difference back into git for review. A user with push access ran ${markdownCell('backporch init')}.`,
      ...(subject.editedBy === undefined
        ? []
        : [
            `**Edited by ${markdownCell(subject.editedBy, 60)}**: Backporch no longer updates this branch, only this description.`,
          ]),
    ]),
    ...table(
      ['Decision', 'What happens'],
      [
        [
          '**merge**',
          `the repository is enrolled: the next scan records drift on the branch ${markdownCell('drift-ledger')}, and the policy decides which pull requests are opened`,
        ],
        [
          '**close**',
          'the repository is not enrolled. Nothing is left behind, and Backporch does not propose it again by itself',
        ],
        [
          '**edit**',
          `change ${policy} on this branch; the next ${markdownCell('backporch init')} counts again`,
        ],
      ],
    ),
    '**What to expect**',
    '',
    ...(expected === undefined
      ? invalid(subject.policyProblem)
      : expectation(subject, expected, proposals)),
    '**What was found**',
    '',
    ...found(subject),
    ...notImportedTable(subject, rules),
    `**What this branch changes**: ${changed(subject)}`,
    '',
    ...folded(dialect, 'Before you merge: rights, reviewers and rules', '', before(subject)),
    `<sub>¹ The field manager: a name that the client chose. · backporch ${markdownCell(version, 30)} · into ${markdownCell(baseBranch, 60)}</sub>`,
    '<!-- backporch:v1 configure -->',
  ]
  return `${lines.join('\n')}\n`
}

function changed({ files, editedBy }: OnboardingSubject): string {
  const shown = files.slice(0, 6).map((path) => markdownCell(path))
  const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : ''
  return `${shown.length === 0 ? 'nothing' : shown.join(', ')}${more}.${editedBy === undefined ? ' No package and no cluster.' : ''}`
}

function invalid(problem: string): string[] {
  const problems = problem.split('\n').map((line) => `- ${markdownCell(line.trim(), 300)}`)
  return [
    'The policy on this branch is not valid. Nothing can be counted, and after a merge Backporch does nothing until it is valid:',
    '',
    ...problems.slice(0, 10),
    '',
  ]
}

function expectation(
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
  const shown = ranked(proposals).slice(0, most)
  return [
    `- As the policy stands (${units === 0 ? 'no package' : `${count(units, 'package')}: ${parts.join(', ')}`}): **${pulls(now, limits)} today**${rate(now, limits, objects)}.`,
    `- With mode ${markdownCell('Propose')} everywhere: **${pulls(proposals, limits)} today**${risks(proposals)}${rate(proposals, limits, objects)}.`,
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
          ...tableOf(shown, {
            Package: ({ packageName }) => markdownCell(packageName),
            Cluster: ({ cluster }) => clusterCell(cluster),
            Changes: ({ changes }) => String(changes.length),
            Risk: ({ changes }) => riskWord(worstRisk(changes)),
            'Changed by ¹': ({ changes }) => writers(changes, 2),
          }),
          ...(shown.length < proposals.length
            ? [`and ${proposals.length - shown.length} more, less risky.`, '']
            : []),
        ]),
    ...failures(failed, most, dialect),
  ]
}

function pulls(
  proposals: readonly ExpectedProposal[],
  limits: OnboardingSubject['limits'],
): string {
  return count(byDigest(proposals, limits).today.length, 'pull request')
}

function risks(proposals: readonly ExpectedProposal[]): string {
  const of = (risk: Change['risk']): number =>
    proposals.filter(({ changes }) => worstRisk(changes) === risk).length
  return proposals.length === 0 ? '' : ` (${of('critical')} critical, ${of('high')} high)`
}

/** Critical drift is not held. */
function rate(
  proposals: readonly ExpectedProposal[],
  limits: OnboardingSubject['limits'],
  objects: number,
): string {
  const { prHourlyLimit, prConcurrentLimit } = limits
  const { today, waiting } = byDigest(proposals, limits)
  const held = today.filter(({ changes }) => worstRisk(changes) !== 'critical').length
  if (proposals.length === 0) return ''
  const storm = stormSentence(proposals, limits, objects)
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
  return `${first}; **${waiting.length} more** of low risk ${waiting.length === 1 ? 'waits' : 'wait'} for the digest (${markdownCell(`${limits.digest} UTC`)})`
}

/** Undefined if they are not a storm. */
function stormSentence(
  proposals: readonly ExpectedProposal[],
  { stormThreshold, stormObjects, stormShare }: OnboardingSubject['limits'],
  objects: number,
): string | undefined {
  if (stormThreshold > 0 && proposals.length > stormThreshold) return `more than ${stormThreshold}`
  if (stormObjects === 0 || stormShare === 0 || proposals.length < 2) return undefined
  const differ = new Set(
    proposals.flatMap(({ packageName, changes }) =>
      changes.map(({ ref }) => `${packageName} ${resourceKey(ref)}`),
    ),
  ).size
  if (differ <= stormObjects || differ * 100 <= objects * stormShare) return undefined
  return `more than ${count(stormObjects, 'object')} and ${stormShare} % of a cluster`
}

function ranked(proposals: readonly ExpectedProposal[]): readonly ExpectedProposal[] {
  const rank = ({ changes }: ExpectedProposal): number => RISKS.indexOf(worstRisk(changes))
  const name = ({ packageName, cluster }: ExpectedProposal): string => `${packageName}\0${cluster}`
  return [...proposals].sort(
    (left, right) => rank(left) - rank(right) || (name(left) < name(right) ? -1 : 1),
  )
}

function failures(failed: Expectation['failed'], most: number, dialect: ForgeDialect): string[] {
  if (failed.length === 0) return []
  const shown = failed.slice(0, Math.max(1, most))
  const more = shown.length < failed.length ? [`and ${failed.length - shown.length} more.`, ''] : []
  return folded(dialect, `${count(failed.length, 'package')} could not be observed`, '', [
    ...tableOf(shown, {
      Package: ({ packageName }) => markdownCell(packageName),
      Cluster: ({ cluster }) => clusterCell(cluster),
      Code: ({ code }) => markdownCell(code, 10),
      Why: ({ why }) => markdownCell(why, 200),
    }),
    ...more,
  ])
}

function found({
  clusters,
  packages,
  elsewhere,
  syncers,
  autoscalers,
  imported,
  notImported,
  notObserved,
}: OnboardingSubject): string[] {
  const names = clusters.slice(0, 5).map((name) => markdownCell(name, 60))
  const scalers = autoscalers.map(({ word, count: number }) => count(number, word))
  return [
    `- ${count(packages, 'package')} in ${count(clusters.length, 'cluster')}: ${names.join(', ')}${clusters.length > 5 ? ` and ${clusters.length - 5} more` : ''}.${elsewhere === 0 ? '' : ` ${count(elsewhere, 'package')} of the repository ${elsewhere === 1 ? 'has' : 'have'} no object there.`}`,
    `- ${count(imported, 'ignore rule')} taken over, each with its source in the policy${notImported.length === 0 ? '' : `; ${notImported.length} not`}.${scalers.length === 0 ? '' : ` Autoscalers: ${scalers.join(', ')}.`}`,
    ...notObserved
      .slice(0, 10)
      .map((sentence) => `- Not looked for: ${markdownProse(sentence, 300)}`),
    '',
    ...(syncers.length === 0
      ? []
      : tableOf(syncers.slice(0, 10), {
          'Applied by': ({ name }) => markdownCell(name),
          Packages: ({ units }) => String(units),
          'After a Restore is merged': ({ sentence }) => phraseMarkdown(sentence, 120),
        })),
  ]
}

function notImportedTable({ notImported, dialect }: OnboardingSubject, most: number): string[] {
  if (notImported.length === 0) return []
  const shown = notImported.slice(0, most)
  return folded(dialect, `${count(notImported.length, 'ignore rule')} not taken over`, '', [
    ...(shown.length === 0
      ? []
      : tableOf(shown, {
          Of: ({ source }) => markdownCell(source),
          Rule: ({ rule }) => markdownCell(rule),
          'Why not': ({ why }) => markdownCell(why, 200),
        })),
    ...(shown.length < notImported.length
      ? [
          `${shown.length === 0 ? '' : 'and '}${notImported.length - shown.length} more: ${markdownCell('backporch init --dry-run')} lists them.`,
        ]
      : []),
  ])
}

function before({ rights }: OnboardingSubject): string[] {
  return [
    `The account of Backporch needs: ${rights.map(({ name, why }) => `${markdownCell(name)} (${why})`).join('; ')}.`,
    '',
    `The owners of the files review drift. Give ${markdownCell('/.drift/')} an owner in CODEOWNERS, so that policy changes are reviewed too.`,
    '',
    `${markdownCell('backporch init --print-ruleset')} prints branch protection rules that require reviews. Merge with a merge commit, or squash with the default message: the message is part of the audit trail.`,
  ]
}
