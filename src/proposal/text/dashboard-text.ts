/**
 * The dashboard: one issue that lists what waits for whom (docs/guides/limits.md). Rendered from values alone, with no time in it but those of
 * events, so that nothing new is the same text. Boxes are requests for a proposal, never a decision.
 */
import type { ForgeDialect } from '../../ports/hosted-forge.ts'
import type { Change, Plan } from '../../record/schema.ts'
import { markdownCell, markdownLink, markdownProse } from '../../text/markdown-text.ts'
import { dashboardBox } from './dashboard-ticks.ts'
import type { IssueText } from './storm-text.ts'
import { box, count, duration, planWord, riskWord, table, time } from './words.ts'

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

/** What a proposal is called, and its address; both empty where the forge has none yet. */
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
  /** Seconds without a decision, in whole steps of what the policy takes for too long; absent where it is not. */
  readonly overdue?: number
}

export interface DashboardSubject {
  /** Packages that the ledger knows, each in one cluster. */
  readonly packages: number
  /** Clusters that the ledger knows. */
  readonly clusters: number
  /** RFC 3339 UTC: when the ledger last had news. */
  readonly newsAt: string
  readonly drifted: number
  /** In their order, those first that wait too long. */
  readonly undecided: readonly UndecidedUnit[]
  /** `id` binds the box to the drift. */
  readonly held: readonly (DashboardUnit & { readonly id: string; readonly why: string; readonly until: string })[]
  readonly snoozed: readonly (DashboardUnit & { readonly proposal: DashboardProposal; readonly until: string })[]
  readonly silenced: readonly (DashboardUnit & {
    readonly id: string
    readonly by: string
    readonly at: string
    readonly until: string
  })[]
  /** Mode Warn. */
  readonly recorded: readonly DashboardUnit[]
  readonly failed: readonly (DashboardUnit & { readonly mergedAt: string; readonly revision: string })[]
  /** Their syncers did not apply in time what git has; `stuckSince` is RFC 3339 UTC, empty where it is unknown. */
  readonly stuck: readonly (DashboardUnit & { readonly stuckSince: string; readonly why: string })[]
  readonly notAdoptable: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly object: string
    readonly field: string
    readonly why: string
  }[]
  /** `packageName` is empty where the whole cluster could not be read; `since` where the ledger has no news of it. */
  readonly notObserved: readonly { readonly cluster: string; readonly packageName: string; readonly since: string; readonly why: string }[]
  readonly ignores: readonly { readonly about: string; readonly where: string; readonly reason: string; readonly expires: string }[]
  /** Ignore rules that have ended or match nothing any more: sentences with their places. */
  readonly staleRules: readonly string[]
  readonly limits: { readonly hourly: number; readonly concurrent: number }
  readonly dialect: ForgeDialect
  readonly version: string
}

const TITLE = 'Drift dashboard'
/** Rows of a section, fewer where the body gets too long. */
const ROWS: readonly number[] = [30, 10, 3, 0]

/** Whether there is anything that a person may want to act on. */
export function isQuiet(subject: DashboardSubject): boolean {
  const { undecided, held, snoozed, silenced, recorded, failed, stuck, notObserved } = subject
  return [undecided, held, snoozed, silenced, recorded, failed, stuck, notObserved].every(({ length }) => length === 0)
}

export function dashboardText(subject: DashboardSubject): IssueText {
  const bodies = ROWS.map((rows) => dashboardBody(subject, rows))
  const short = `${headline(subject)}\n`
  return { title: TITLE, labels: ['drift'], body: bodies.find((body) => body.length <= subject.dialect.bodyLimit) ?? short }
}

function headline({ drifted, packages, clusters, newsAt, notObserved }: DashboardSubject): string {
  const lost = notObserved.filter(({ packageName }) => packageName === '').length
  return [
    `**${drifted} of ${count(packages, 'package')} ${drifted === 1 ? 'differs' : 'differ'} from git** in ${count(clusters, 'cluster')}${clusters > 1 ? ', counted in each cluster that runs them' : ''}`,
    `last update ${time(newsAt)}`,
    ...(lost === 0 ? [] : [`**${count(lost, 'cluster')} not observed**`]),
  ].join(' · ')
}

/** Clusters that one proposal decides about, together; the order is that of the first of each. */
function decisions<Unit extends DashboardSubject['undecided'][number]>(units: readonly Unit[]): readonly (readonly [Unit, ...Unit[]])[] {
  const groups = Map.groupBy(units, (unit) => (unit.proposal.label === '' ? unit : `${unit.proposal.label} ${unit.proposal.url}`))
  return [...groups.values()].flatMap(([first, ...rest]) => (first === undefined ? [] : [[first, ...rest] as const]))
}

function dashboardBody(subject: DashboardSubject, rows: number): string {
  const { dialect, failed, stuck, undecided, held, snoozed, silenced, recorded, notAdoptable, notObserved, ignores, staleRules } = subject
  const urgent = failed.length > 0 || undecided.some(({ risk }) => risk === 'critical')
  const nothing = staleRules.length === 0 ? 'Nothing needs attention.' : 'No drift needs attention. Some ignore rules do.'
  const quiet = isQuiet(subject) ? [`${nothing} This issue is updated when that changes.`, ''] : []
  const lines = [
    ...box(dialect, urgent ? 'caution' : isQuiet(subject) ? 'note' : 'warning', [headline(subject)]),
    ...quiet,
    ...section('Restore failed', failed, rows, (shown) =>
      table(
        ['Package', 'Cluster', 'Merged', 'Still differs'],
        shown.map((unit) => [
          name(unit),
          markdownCell(unit.cluster, 60),
          `${time(unit.mergedAt)}${unit.revision === '' ? '' : ` as ${markdownCell(unit.revision, 20)}`}`,
          changes(unit),
        ]),
      ),
    ),
    ...section(
      'Stuck',
      stuck,
      rows,
      (shown) =>
        table(
          ['Package', 'Cluster', 'Stuck since', 'Why'],
          shown.map((unit) => [
            name(unit),
            markdownCell(unit.cluster, 60),
            unit.stuckSince === '' ? 'not known' : time(unit.stuckSince),
            markdownProse(unit.why),
          ]),
        ),
      'The syncer did not apply the revision of git in time. This is not drift, and no pull request is opened. Check the syncer.',
    ),
    ...section('Needs a decision', decisions(undecided), rows, (shown) =>
      table(
        ['Pull request', 'Package', 'Cluster', 'Risk', 'Changes', 'Since', 'Plan'],
        shown.map(([unit, ...more]) => [
          proposal(unit.proposal),
          name(unit),
          more.length === 0 ? markdownCell(unit.cluster, 60) : `${count(more.length + 1, 'cluster')}`,
          riskWord(unit.risk),
          String(unit.changes),
          `${time(unit.since)}${waiting(unit)}`,
          planWord(unit.plan),
        ]),
      ),
    ),
    ...section(
      'Held back',
      held,
      rows,
      (shown) =>
        boxes(
          shown.map((unit) => {
            const until = unit.until === '' ? '' : `, until ${time(unit.until)}`
            return dashboardBox('open', unit.id, `${about(unit)}: ${markdownProse(unit.why)}${until}`)
          }),
        ),
      `${limits(subject)} **Tick a box to open its pull request now.** The others follow in this order.`,
    ),
    ...section('Snoozed', snoozed, rows, (shown) =>
      table(
        ['Pull request', 'Package', 'Cluster', 'Risk', 'Until'],
        shown.map((unit) => [proposal(unit.proposal), name(unit), markdownCell(unit.cluster, 60), riskWord(unit.risk), time(unit.until)]),
      ),
    ),
    ...section(
      'Silenced by close',
      silenced,
      rows,
      (shown) =>
        boxes(
          shown.map((unit) => {
            const by = unit.by === '' ? '' : ` by ${markdownCell(unit.by, 60)}`
            return dashboardBox('raise', unit.id, `${about(unit)}: closed${by} ${time(unit.at)}, silenced until ${time(unit.until)}`)
          }),
        ),
      'Their pull requests were closed, and the clusters still have the same drift. **Tick a box to open the pull request again.**',
    ),
    ...section(
      'Recorded only',
      recorded,
      rows,
      (shown) =>
        table(
          ['Package', 'Cluster', 'Risk', 'Changes', 'Since'],
          shown.map((unit) => [name(unit), markdownCell(unit.cluster, 60), riskWord(unit.risk), String(unit.changes), time(unit.since)]),
        ),
      `The policy has mode ${markdownCell('Warn')} for these packages: drift is recorded, and no pull request is opened.`,
    ),
    ...section('Cannot adopt', notAdoptable, rows, (shown) =>
      table(
        ['Object', 'Field', 'Package', 'Cluster', 'Why'],
        shown.map((one) => [
          markdownCell(one.object),
          one.field === '' ? 'the whole object' : markdownCell(one.field),
          markdownCell(one.packageName),
          markdownCell(one.cluster, 60),
          markdownProse(one.why),
        ]),
      ),
    ),
    ...section(
      'Not observed',
      notObserved,
      rows,
      (shown) =>
        table(
          ['Cluster', 'Package', 'Last observed', 'Why'],
          shown.map(({ cluster, packageName, since, why }) => [
            markdownCell(cluster, 60),
            packageName === '' ? 'all of them' : markdownCell(packageName),
            since === '' ? 'none yet' : time(since),
            markdownProse(why),
          ]),
        ),
      'Their state is unknown. Open pull requests for them are not changed.',
    ),
    ...section('Active ignore rules', ignores, rows, (shown) =>
      table(
        ['What', 'Reason', 'Until', 'Where'],
        shown.map(({ about: what, reason, expires, where }) => [
          markdownCell(what),
          markdownCell(reason),
          expires === '' ? '**no end**' : markdownCell(expires, 20),
          markdownCell(where),
        ]),
      ),
    ),
    ...section(
      'Ignore rules that match nothing',
      staleRules,
      rows,
      (shown) => [...shown.map((rule) => `- ${markdownProse(rule)}`), ''],
      'Remove them from the policy, or change their end date.',
    ),
    `<sub>backporch ${markdownCell(subject.version, 30)} overwrites this issue. Edits are lost, except ticked boxes.</sub>`,
    '<!-- backporch:v1 dashboard -->',
  ]
  return `${lines.join('\n')}\n`
}

/** Nothing where there is nothing. At least the count where there is no room. */
function section<Row>(
  title: string,
  all: readonly Row[],
  rows: number,
  draw: (shown: readonly Row[]) => readonly string[],
  explanation = '',
): readonly string[] {
  if (all.length === 0) return []
  const shown = all.slice(0, rows)
  const hidden = all.length - shown.length
  return [
    `**${title}** (${all.length})`,
    '',
    ...(explanation === '' ? [] : [explanation, '']),
    ...(shown.length === 0 ? [] : draw(shown)),
    ...(hidden === 0 ? [] : [`And ${hidden} more: ${markdownCell('backporch status')} lists them.`, '']),
  ]
}

function waiting({ waits, overdue }: UndecidedUnit): string {
  if (overdue !== undefined) return `, **no decision for ${duration(overdue)}**`
  return waits ? ', **waits long**' : ''
}

function boxes(lines: readonly string[]): readonly string[] {
  return [...lines, '']
}

function limits({ limits: { hourly, concurrent } }: DashboardSubject): string {
  const parts = [
    ...(hourly === 0 ? [] : [`${count(hourly, 'new pull request')} in an hour`]),
    ...(concurrent === 0 ? [] : [`${concurrent} open at once`]),
  ]
  return parts.length === 0 ? 'Drift that is recorded and not proposed yet.' : `The policy allows ${parts.join(', ')}.`
}

function name({ packageName, url }: DashboardUnit): string {
  return markdownLink(markdownCell(packageName), url)
}

function about(unit: DashboardUnit): string {
  return `${name(unit)} in ${markdownCell(unit.cluster, 60)}, ${riskWord(unit.risk)}, ${changes(unit)} since ${time(unit.since)}`
}

function changes({ changes: number }: DashboardUnit): string {
  return count(number, 'change')
}

function proposal({ label, url }: DashboardProposal): string {
  if (label === '') return 'being opened'
  return markdownLink(markdownCell(label, 40), url)
}
