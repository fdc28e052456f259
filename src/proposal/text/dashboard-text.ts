/**
 * The dashboard is one issue that lists what waits for whom (docs/guides/limits.md). Its only times
 * are those of events, so that the same state is the same text. A box requests a proposal and is
 * never a decision.
 */
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import {
  describeDashboardUnit,
  formatChangeCount,
  formatCluster,
  formatClusterNames,
  formatEarliest,
  formatProposalLink,
  formatRisk,
  formatWaiting,
  name,
  nameOfAll,
} from './dashboard-cells.ts'
import { type DashboardSubject, isQuiet, type UndecidedUnit } from './dashboard-subject.ts'
import { formatDashboardBox } from './dashboard-ticks.ts'
import type { IssueText } from './storm-text.ts'
import {
  capitalizeFirst,
  count,
  findFirstFitting,
  formatBox,
  formatTableOfRows,
  planWord,
  time,
} from './words.ts'

const TITLE = 'Drift dashboard'
/** Per section, longest body first. */
const ROWS: readonly number[] = [30, 10, 3, 0]

export function formatDashboard(subject: DashboardSubject): IssueText {
  const body = findFirstFitting(
    ROWS,
    (rows) => formatDashboardBody(subject, rows),
    subject.dialect.bodyLimit,
  )
  return {
    title: TITLE,
    labels: ['drift'],
    body: body ?? `${[formatHeadline(subject), ...formatPolicyLines(subject)].join('\n\n')}\n`,
  }
}

function formatPolicyLines({ policyProblem }: DashboardSubject): readonly string[] {
  if (policyProblem === undefined) return []
  const { where, why, commit } = policyProblem
  return [
    `**The policy cannot be used:** ${formatMarkdownCell(where)}: ${formatMarkdownProse(why)}. The policy of commit ${formatMarkdownCell(commit.slice(0, 7))} decides until that is corrected, and nothing is opened, merged or settled.`,
  ]
}

function formatHeadline({
  drifted,
  packages,
  clusters,
  newsAt,
  notObserved,
}: DashboardSubject): string {
  const lost = notObserved.filter(({ packageName }) => packageName === undefined).length
  return [
    `**${drifted} of ${count(packages, 'package')} ${drifted === 1 ? 'differs' : 'differ'} from git** in ${count(clusters, 'cluster')}${clusters > 1 ? ', counted in each cluster that runs them' : ''}`,
    `last update ${time(newsAt)}`,
    ...(lost === 0 ? [] : [`**${count(lost, 'cluster')} not observed**`]),
  ].join(' · ')
}

type Group<Row> = readonly [Row, ...Row[]]

function groupRows<Row>(rows: readonly Row[], keyOf: (row: Row) => unknown): readonly Group<Row>[] {
  return [...Map.groupBy(rows, keyOf).values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  )
}

function groupDecisions(units: DashboardSubject['undecided']): readonly Group<UndecidedUnit>[] {
  return groupRows(units, (unit) =>
    unit.proposal.label === undefined ? unit : `${unit.proposal.label} ${unit.proposal.url}`,
  )
}

function groupAcrossClusters<Row extends { readonly cluster: string }>(
  rows: readonly Row[],
  ...parts: readonly (keyof Row)[]
): readonly Group<Row>[] {
  return groupRows(rows, (row) => JSON.stringify(parts.map((part) => row[part])))
}

function formatDashboardBody(subject: DashboardSubject, rows: number): string {
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
    ...formatBox(dialect, urgent ? 'caution' : isQuiet(subject) ? 'note' : 'warning', [
      formatHeadline(subject),
      ...formatPolicyLines(subject),
    ]),
    ...quiet,
    ...formatSection({ title: 'Restore failed', all: failed, rows }, (shown) =>
      formatTableOfRows(shown, {
        Package: name,
        Cluster: formatCluster,
        Merged: ({ mergedAt, revision }) =>
          `${time(mergedAt)}${revision === undefined ? '' : ` as ${formatMarkdownCell(revision, 20)}`}`,
        'Still differs': formatChangeCount,
      }),
    ),
    ...formatSection(
      {
        title: 'Stuck',
        all: groupAcrossClusters(stuck, 'packageName', 'why'),
        sizeOf: getGroupSize,
        rows,
        explanation:
          'The syncer did not apply the revision of git in time. This is not drift, and no pull request is opened. Check the syncer.',
      },
      (shown) =>
        formatTableOfRows(shown, {
          Package: nameOfAll,
          Cluster: formatClusterNames,
          'Stuck since': (group) =>
            formatEarliest(
              group.map(({ stuckSince }) => stuckSince),
              'not known',
            ),
          Why: ([{ why }]) => formatMarkdownProse(why),
        }),
    ),
    ...formatSection({ title: 'Needs a decision', all: groupDecisions(undecided), rows }, (shown) =>
      formatTableOfRows(shown, {
        'Pull request': ([unit]) => formatProposalLink(unit),
        Package: ([unit]) => name(unit),
        Cluster: (units) =>
          units.length === 1 ? formatClusterNames(units) : count(units.length, 'cluster'),
        Risk: ([unit]) => formatRisk(unit),
        Changes: ([unit]) => String(unit.changes),
        Since: ([unit]) => `${time(unit.since)}${formatWaiting(unit)}`,
        Plan: ([unit]) => planWord(unit.plan),
      }),
    ),
    ...formatSection(
      {
        title: 'Held back',
        all: held,
        rows,
        explanation: held.some(({ id }) => id !== undefined)
          ? `${formatLimits(subject)} **Tick a box to open its pull request now.** The others follow by risk, then age.`
          : formatLimits(subject),
      },
      (shown) =>
        groupRows(shown, ({ why }) => why).flatMap((units) => {
          const boxes = units.map((unit) => {
            const until = unit.until === undefined ? '' : `, until ${time(unit.until)}`
            return formatDashboardBox('open', unit.id, `${describeDashboardUnit(unit)}${until}`)
          })
          return [`${capitalizeFirst(formatMarkdownProse(units[0].why))}:`, '', ...boxes, '']
        }),
    ),
    ...formatSection({ title: 'Snoozed', all: snoozed, rows }, (shown) =>
      formatTableOfRows(shown, {
        'Pull request': formatProposalLink,
        Package: name,
        Cluster: formatCluster,
        Risk: formatRisk,
        Until: ({ until }) => time(until),
      }),
    ),
    ...formatSection(
      {
        title: 'Silenced by close',
        all: silenced,
        rows,
        explanation:
          'Their pull requests were closed, and the clusters still have the same drift. **Tick a box to open the pull request again.**',
      },
      (shown) => [
        ...shown.map((unit) => {
          const by = unit.by === undefined ? '' : ` by ${formatMarkdownCell(unit.by, 60)}`
          return formatDashboardBox(
            'raise',
            unit.id,
            `${describeDashboardUnit(unit)}: closed${by} ${time(unit.at)}, silenced until ${time(unit.until)}`,
          )
        }),
        '',
      ],
    ),
    ...formatSection(
      {
        title: 'Recorded only',
        all: groupAcrossClusters(recorded, 'packageName', 'risk', 'changes'),
        sizeOf: getGroupSize,
        rows,
        explanation: `The policy has mode ${formatMarkdownCell('Warn')} for these packages: drift is recorded, and no pull request is opened.`,
      },
      (shown) =>
        formatTableOfRows(shown, {
          Package: nameOfAll,
          Cluster: formatClusterNames,
          Risk: ([unit]) => formatRisk(unit),
          Changes: ([unit]) => String(unit.changes),
          Since: (units) => formatEarliest(units.map(({ since }) => since)),
        }),
    ),
    ...formatSection(
      {
        title: 'Cannot adopt',
        all: groupAcrossClusters(notAdoptable, 'packageName', 'object', 'field', 'why'),
        sizeOf: getGroupSize,
        rows,
      },
      (shown) =>
        formatTableOfRows(shown, {
          Object: ([{ object }]) => formatMarkdownCell(object),
          Field: ([{ field }]) =>
            field === undefined ? 'the whole object' : formatMarkdownCell(field),
          Package: ([{ packageName }]) => formatMarkdownCell(packageName),
          Cluster: formatClusterNames,
          Why: ([{ why }]) => formatMarkdownProse(why),
        }),
    ),
    ...formatSection(
      {
        title: 'Not observed',
        all: groupAcrossClusters(notObserved, 'packageName', 'why'),
        sizeOf: getGroupSize,
        rows,
        explanation: 'Their state is unknown. Open pull requests for them are not changed.',
      },
      (shown) =>
        formatTableOfRows(shown, {
          Cluster: formatClusterNames,
          Package: ([{ packageName }]) =>
            packageName === undefined ? 'all of them' : formatMarkdownCell(packageName),
          'Last observed': (group) =>
            formatEarliest(
              group.map(({ since }) => since),
              'none yet',
            ),
          Why: ([{ why }]) => formatMarkdownProse(why),
        }),
    ),
    ...formatSection({ title: 'Active ignore rules', all: ignores, rows }, (shown) =>
      formatTableOfRows(shown, {
        What: (rule) => formatMarkdownCell(rule.about),
        Reason: ({ reason }) => formatMarkdownCell(reason),
        Until: ({ expires }) =>
          expires === undefined ? '**no end**' : formatMarkdownCell(expires, 20),
        Where: ({ where }) => formatMarkdownCell(where),
      }),
    ),
    ...formatSection(
      {
        title: 'Ignore rules that match nothing',
        all: staleRules,
        rows,
        explanation: 'Remove them from the policy, or change their end date.',
      },
      (shown) => [...shown.map((rule) => `- ${formatMarkdownProse(rule)}`), ''],
    ),
    `<sub>backporch ${formatMarkdownCell(subject.version, 30)} overwrites this issue. Edits are lost, except ticked boxes.</sub>`,
    '<!-- backporch:v1 dashboard -->',
  ]
  return `${lines.join('\n')}\n`
}

interface Section<Row> {
  readonly title: string
  readonly all: readonly Row[]
  readonly sizeOf?: (row: Row) => number
  readonly rows: number
  readonly explanation?: string
}

/** Empty without rows. With `rows` 0, only the count. */
function formatSection<Row>(
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
      : [`And ${hidden} more: ${formatMarkdownCell('backporch status')} lists them.`, '']),
  ]
}

function formatLimits({ limits: { hourly, concurrent } }: DashboardSubject): string {
  const parts = [
    ...(hourly === 0 ? [] : [`${count(hourly, 'new pull request')} in an hour`]),
    ...(concurrent === 0 ? [] : [`${concurrent} open at once`]),
  ]
  return parts.length === 0
    ? 'Drift that is recorded and not proposed yet.'
    : `The policy allows ${parts.join(', ')}.`
}

function getGroupSize({ length }: Group<unknown>): number {
  return length
}
