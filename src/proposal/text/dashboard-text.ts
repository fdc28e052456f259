/**
 * One issue that lists what waits for whom (docs/guides/limits.md). Its only times are those of
 * events, so that the same state is the same text. A box requests a proposal and is never a
 * decision.
 */
import { markdownCell, markdownProse } from '@backporch/kyaml/markdown'
import {
  about,
  changes,
  cluster,
  clusterNames,
  earliest,
  name,
  nameOfAll,
  proposal,
  risk,
  waiting,
} from './dashboard-cells.ts'
import { type DashboardSubject, isQuiet, type UndecidedUnit } from './dashboard-subject.ts'
import { dashboardBox } from './dashboard-ticks.ts'
import type { IssueText } from './storm-text.ts'
import { box, capitalised, count, firstFitting, planWord, tableOf, time } from './words.ts'

const TITLE = 'Drift dashboard'
/** Per section, longest body first. */
const ROWS: readonly number[] = [30, 10, 3, 0]

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

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => unknown): readonly Group<Row>[] {
  return [...Map.groupBy(rows, keyOf).values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  )
}

function decisions(units: DashboardSubject['undecided']): readonly Group<UndecidedUnit>[] {
  return grouped(units, (unit) =>
    unit.proposal.label === '' ? unit : `${unit.proposal.label} ${unit.proposal.url}`,
  )
}

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
  readonly sizeOf?: (row: Row) => number
  readonly rows: number
  readonly explanation?: string
}

/** Empty without rows. With `rows` 0, only the count. */
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

function limits({ limits: { hourly, concurrent } }: DashboardSubject): string {
  const parts = [
    ...(hourly === 0 ? [] : [`${count(hourly, 'new pull request')} in an hour`]),
    ...(concurrent === 0 ? [] : [`${concurrent} open at once`]),
  ]
  return parts.length === 0
    ? 'Drift that is recorded and not proposed yet.'
    : `The policy allows ${parts.join(', ')}.`
}

function sizeOfGroup({ length }: Group<unknown>): number {
  return length
}
