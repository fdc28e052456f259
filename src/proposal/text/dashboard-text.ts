/**
 * The dashboard: one issue that lists what waits for whom (docs/guides/limits.md). Its only times are those of events, so that the same
 * state is the same text. Boxes request a proposal. They are never a decision.
 */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { markdownCell, markdownLink, markdownProse } from '@backporch/kyaml/markdown'
import { compareText } from '@backporch/kyaml/text'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import { dashboardBox } from './dashboard-ticks.ts'
import type { PolicyProblem } from './proposal-subject.ts'
import type { IssueText } from './storm-text.ts'
import {
  box,
  capitalised,
  clusterCell,
  count,
  duration,
  firstFitting,
  planWord,
  riskWord,
  tableOf,
  time,
} from './words.ts'

/** A package in one cluster that differs. */
export interface DashboardUnit {
  readonly cluster: string
  readonly packageName: string
  readonly changes: number
  readonly risk: Change['risk']
  /** RFC 3339 UTC: first observed. */
  readonly since: string
  /** Address of its status; empty where there is no page. */
  readonly url: string
}

/** Both are empty where the forge has no proposal yet. */
export interface DashboardProposal {
  readonly label: string
  readonly url: string
  /** RFC 3339 UTC; absent where unknown. */
  readonly openedAt?: string
}

/** An open proposal that waits for a decision. */
export interface UndecidedUnit extends DashboardUnit {
  readonly proposal: DashboardProposal
  readonly plan: Plan
  readonly waits: boolean
  /** Seconds without a decision, in whole steps of the policy's limit; absent below the limit. */
  readonly overdue?: number
}

/** Units are in the order of their risk, then of their age. */
export interface DashboardSubject {
  /** Where the policy of the base branch cannot be used: its first problem, and the commit whose policy decides. */
  readonly policyProblem?: PolicyProblem & { readonly commit: string }
  /** Packages that the ledger knows, each in one cluster. */
  readonly packages: number
  /** Clusters that the ledger knows. */
  readonly clusters: number
  /** RFC 3339 UTC: when the ledger last had news. */
  readonly newsAt: string
  readonly drifted: number
  readonly undecided: readonly UndecidedUnit[]
  /** `id` binds the box to the drift. */
  readonly held: readonly (DashboardUnit & {
    readonly id: string
    readonly why: string
    readonly until: string
  })[]
  readonly snoozed: readonly (DashboardUnit & {
    readonly proposal: DashboardProposal
    readonly until: string
  })[]
  readonly silenced: readonly (DashboardUnit & {
    readonly id: string
    readonly by: string
    readonly at: string
    readonly until: string
  })[]
  /** Mode Warn. */
  readonly recorded: readonly DashboardUnit[]
  readonly failed: readonly (DashboardUnit & {
    readonly mergedAt: string
    readonly revision: string
  })[]
  /** Units whose syncer did not apply git's revision in time. `stuckSince` is RFC 3339 UTC, empty where it is unknown. */
  readonly stuck: readonly (DashboardUnit & { readonly stuckSince: string; readonly why: string })[]
  readonly notAdoptable: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly object: string
    readonly field: string
    readonly why: string
  }[]
  /** `packageName` is empty where the whole cluster could not be read; `since` is empty where the ledger has no update of it. */
  readonly notObserved: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly since: string
    readonly why: string
  }[]
  readonly ignores: readonly {
    readonly about: string
    readonly where: string
    readonly reason: string
    readonly expires: string
  }[]
  /** Sentences about ignore rules that have ended or match nothing, with their locations. */
  readonly staleRules: readonly string[]
  readonly limits: { readonly hourly: number; readonly concurrent: number }
  readonly dialect: ForgeDialect
  readonly version: string
}

const TITLE = 'Drift dashboard'
/** Rows of a section, from the longest body to the shortest. */
const ROWS: readonly number[] = [30, 10, 3, 0]

/** Whether nothing needs attention. */
export function isQuiet(subject: DashboardSubject): boolean {
  const {
    undecided,
    held,
    snoozed,
    silenced,
    recorded,
    failed,
    stuck,
    notObserved,
    policyProblem,
  } = subject
  if (policyProblem !== undefined) return false
  return [undecided, held, snoozed, silenced, recorded, failed, stuck, notObserved].every(
    ({ length }) => length === 0,
  )
}

export function dashboardText(subject: DashboardSubject): IssueText {
  const body = firstFitting(ROWS, (rows) => dashboardBody(subject, rows), subject.dialect.bodyLimit)
  return {
    title: TITLE,
    labels: ['drift'],
    body: body ?? `${[headline(subject), ...policyLines(subject)].join('\n\n')}\n`,
  }
}

function policyLines({ policyProblem }: DashboardSubject): readonly string[] {
  if (policyProblem === undefined) return []
  const { where, why, commit } = policyProblem
  return [
    `**The policy cannot be used:** ${markdownCell(where)}: ${markdownProse(why)}. The policy of commit ${markdownCell(commit.slice(0, 7))} decides until that is corrected, and nothing is opened, merged or settled.`,
  ]
}

function headline({ drifted, packages, clusters, newsAt, notObserved }: DashboardSubject): string {
  const lost = notObserved.filter(({ packageName }) => packageName === '').length
  return [
    `**${drifted} of ${count(packages, 'package')} ${drifted === 1 ? 'differs' : 'differ'} from git** in ${count(clusters, 'cluster')}${clusters > 1 ? ', counted in each cluster that runs them' : ''}`,
    `last update ${time(newsAt)}`,
    ...(lost === 0 ? [] : [`**${count(lost, 'cluster')} not observed**`]),
  ].join(' · ')
}

type Group<Row> = readonly [Row, ...Row[]]

/** The rows with one key together, in the order of the first of each. */
function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => unknown): readonly Group<Row>[] {
  return [...Map.groupBy(rows, keyOf).values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  )
}

/** The units that one proposal decides about. */
function decisions(units: DashboardSubject['undecided']): readonly Group<UndecidedUnit>[] {
  return grouped(units, (unit) =>
    unit.proposal.label === '' ? unit : `${unit.proposal.label} ${unit.proposal.url}`,
  )
}

/** Rows that say the same of several clusters. */
function sameButCluster<Row extends { readonly cluster: string }>(
  rows: readonly Row[],
  ...parts: readonly (keyof Row)[]
): readonly Group<Row>[] {
  return grouped(rows, (row) => JSON.stringify(parts.map((part) => row[part])))
}

function dashboardBody(subject: DashboardSubject, rows: number): string {
  const {
    dialect,
    failed,
    stuck,
    undecided,
    held,
    snoozed,
    silenced,
    recorded,
    notAdoptable,
    notObserved,
    ignores,
    staleRules,
  } = subject
  const urgent =
    subject.policyProblem !== undefined ||
    failed.length > 0 ||
    undecided.some(({ risk }) => risk === 'critical')
  const nothing =
    staleRules.length === 0
      ? 'Nothing needs attention.'
      : 'No drift needs attention. Some ignore rules do.'
  const quiet = isQuiet(subject) ? [`${nothing} This issue is updated when that changes.`, ''] : []
  const lines = [
    ...box(dialect, urgent ? 'caution' : isQuiet(subject) ? 'note' : 'warning', [
      headline(subject),
      ...policyLines(subject),
    ]),
    ...quiet,
    ...section({ title: 'Restore failed', all: failed, rows }, (shown) =>
      tableOf(shown, {
        Package: name,
        Cluster: cluster,
        Merged: ({ mergedAt, revision }) =>
          `${time(mergedAt)}${revision === '' ? '' : ` as ${markdownCell(revision, 20)}`}`,
        'Still differs': changes,
      }),
    ),
    ...section(
      {
        title: 'Stuck',
        all: sameButCluster(stuck, 'packageName', 'why'),
        sizeOf: sizeOfGroup,
        rows,
        explanation:
          'The syncer did not apply the revision of git in time. This is not drift, and no pull request is opened. Check the syncer.',
      },
      (shown) =>
        tableOf(shown, {
          Package: nameOfAll,
          Cluster: clusterNames,
          'Stuck since': (group) =>
            earliest(
              group.map(({ stuckSince }) => stuckSince),
              'not known',
            ),
          Why: ([{ why }]) => markdownProse(why),
        }),
    ),
    ...section({ title: 'Needs a decision', all: decisions(undecided), rows }, (shown) =>
      tableOf(shown, {
        'Pull request': ([unit]) => proposal(unit),
        Package: ([unit]) => name(unit),
        Cluster: (units) =>
          units.length === 1 ? clusterNames(units) : count(units.length, 'cluster'),
        Risk: ([unit]) => risk(unit),
        Changes: ([unit]) => String(unit.changes),
        Since: ([unit]) => `${time(unit.since)}${waiting(unit)}`,
        Plan: ([unit]) => planWord(unit.plan),
      }),
    ),
    ...section(
      {
        title: 'Held back',
        all: held,
        rows,
        explanation: held.some(({ id }) => id !== '')
          ? `${limits(subject)} **Tick a box to open its pull request now.** The others follow by risk, then age.`
          : limits(subject),
      },
      (shown) =>
        grouped(shown, ({ why }) => why).flatMap((units) => {
          const boxes = units.map((unit) => {
            const until = unit.until === '' ? '' : `, until ${time(unit.until)}`
            return dashboardBox('open', unit.id, `${about(unit)}${until}`)
          })
          return [`${capitalised(markdownProse(units[0].why))}:`, '', ...boxes, '']
        }),
    ),
    ...section({ title: 'Snoozed', all: snoozed, rows }, (shown) =>
      tableOf(shown, {
        'Pull request': proposal,
        Package: name,
        Cluster: cluster,
        Risk: risk,
        Until: ({ until }) => time(until),
      }),
    ),
    ...section(
      {
        title: 'Silenced by close',
        all: silenced,
        rows,
        explanation:
          'Their pull requests were closed, and the clusters still have the same drift. **Tick a box to open the pull request again.**',
      },
      (shown) => [
        ...shown.map((unit) => {
          const by = unit.by === '' ? '' : ` by ${markdownCell(unit.by, 60)}`
          return dashboardBox(
            'raise',
            unit.id,
            `${about(unit)}: closed${by} ${time(unit.at)}, silenced until ${time(unit.until)}`,
          )
        }),
        '',
      ],
    ),
    ...section(
      {
        title: 'Recorded only',
        all: sameButCluster(recorded, 'packageName', 'risk', 'changes'),
        sizeOf: sizeOfGroup,
        rows,
        explanation: `The policy has mode ${markdownCell('Warn')} for these packages: drift is recorded, and no pull request is opened.`,
      },
      (shown) =>
        tableOf(shown, {
          Package: nameOfAll,
          Cluster: clusterNames,
          Risk: ([unit]) => risk(unit),
          Changes: ([unit]) => String(unit.changes),
          Since: (units) => earliest(units.map(({ since }) => since)),
        }),
    ),
    ...section(
      {
        title: 'Cannot adopt',
        all: sameButCluster(notAdoptable, 'packageName', 'object', 'field', 'why'),
        sizeOf: sizeOfGroup,
        rows,
      },
      (shown) =>
        tableOf(shown, {
          Object: ([{ object }]) => markdownCell(object),
          Field: ([{ field }]) => (field === '' ? 'the whole object' : markdownCell(field)),
          Package: ([{ packageName }]) => markdownCell(packageName),
          Cluster: clusterNames,
          Why: ([{ why }]) => markdownProse(why),
        }),
    ),
    ...section(
      {
        title: 'Not observed',
        all: sameButCluster(notObserved, 'packageName', 'why'),
        sizeOf: sizeOfGroup,
        rows,
        explanation: 'Their state is unknown. Open pull requests for them are not changed.',
      },
      (shown) =>
        tableOf(shown, {
          Cluster: clusterNames,
          Package: ([{ packageName }]) =>
            packageName === '' ? 'all of them' : markdownCell(packageName),
          'Last observed': (group) =>
            earliest(
              group.map(({ since }) => since),
              'none yet',
            ),
          Why: ([{ why }]) => markdownProse(why),
        }),
    ),
    ...section({ title: 'Active ignore rules', all: ignores, rows }, (shown) =>
      tableOf(shown, {
        What: (rule) => markdownCell(rule.about),
        Reason: ({ reason }) => markdownCell(reason),
        Until: ({ expires }) => (expires === '' ? '**no end**' : markdownCell(expires, 20)),
        Where: ({ where }) => markdownCell(where),
      }),
    ),
    ...section(
      {
        title: 'Ignore rules that match nothing',
        all: staleRules,
        rows,
        explanation: 'Remove them from the policy, or change their end date.',
      },
      (shown) => [...shown.map((rule) => `- ${markdownProse(rule)}`), ''],
    ),
    `<sub>backporch ${markdownCell(subject.version, 30)} overwrites this issue. Edits are lost, except ticked boxes.</sub>`,
    '<!-- backporch:v1 dashboard -->',
  ]
  return `${lines.join('\n')}\n`
}

interface Section<Row> {
  readonly title: string
  readonly all: readonly Row[]
  /** How many entries a row stands for; one unless given. */
  readonly sizeOf?: (row: Row) => number
  /** How many of them are shown. */
  readonly rows: number
  readonly explanation?: string
}

/** Empty without rows. With `rows` 0, the count alone. */
function section<Row>(
  { title, all, sizeOf = () => 1, rows, explanation }: Section<Row>,
  draw: (shown: readonly Row[]) => readonly string[],
): readonly string[] {
  if (all.length === 0) return []
  const shown = all.slice(0, rows)
  const sizes = all.map(sizeOf)
  const sum = (numbers: readonly number[]): number =>
    numbers.reduce((total, size) => total + size, 0)
  const hidden = sum(sizes.slice(rows))
  return [
    `**${title}** (${sum(sizes)})`,
    '',
    ...(explanation === undefined ? [] : [explanation, '']),
    ...(shown.length === 0 ? [] : draw(shown)),
    ...(hidden === 0
      ? []
      : [`And ${hidden} more: ${markdownCell('backporch status')} lists them.`, '']),
  ]
}

function waiting({ waits, overdue }: UndecidedUnit): string {
  if (overdue !== undefined) return `, **no decision for ${duration(overdue)}**`
  return waits ? ', **waits long**' : ''
}

function limits({ limits: { hourly, concurrent } }: DashboardSubject): string {
  const parts = [
    ...(hourly === 0 ? [] : [`${count(hourly, 'new pull request')} in an hour`]),
    ...(concurrent === 0 ? [] : [`${concurrent} open at once`]),
  ]
  return parts.length === 0
    ? 'Drift that is recorded and not proposed yet.'
    : `The policy allows ${parts.join(', ')}.`
}

function name({ packageName, url }: DashboardUnit): string {
  return markdownLink(markdownCell(packageName), url)
}

function sizeOfGroup({ length }: Group<unknown>): number {
  return length
}

/** Without the link to a status where there are several. */
function nameOfAll([unit, ...more]: Group<DashboardUnit>): string {
  return more.length === 0 ? name(unit) : markdownCell(unit.packageName)
}

function cluster(unit: { readonly cluster: string }): string {
  return clusterCell(unit.cluster)
}

const CLUSTERS_NAMED = 3

function clusterNames(units: readonly { readonly cluster: string }[]): string {
  const more = units.length - CLUSTERS_NAMED
  return `${units.slice(0, CLUSTERS_NAMED).map(cluster).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** @param none where one of the times is unknown */
function earliest(times: readonly string[], none = ''): string {
  const [first = ''] = times.toSorted(compareText)
  return first === '' ? none : time(first)
}

function risk(unit: DashboardUnit): string {
  return riskWord(unit.risk)
}

function about(unit: DashboardUnit): string {
  return `${name(unit)} in ${cluster(unit)}, ${risk(unit)}, ${changes(unit)} since ${time(unit.since)}`
}

function changes({ changes: number }: DashboardUnit): string {
  return count(number, 'change')
}

function proposal({ proposal: { label, url } }: { readonly proposal: DashboardProposal }): string {
  if (label === '') return 'being opened'
  return markdownLink(markdownCell(label, 40), url)
}
