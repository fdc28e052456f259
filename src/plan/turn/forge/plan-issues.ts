/**
 * The two issues of a repository: the dashboard, and a storm while it lasts. Written only where something is or was there; the same
 * state is the same text, and is not sent again.
 */
import type { OpenedProposal } from '@backporch/forge/hosted-forge'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import type { Failure } from '@backporch/kyaml/failure'
import { repositoryLimits } from '../../../policy/effective-policy.ts'
import {
  type DashboardProposal,
  type DashboardSubject,
  isQuiet,
} from '../../../proposal/text/dashboard-subject.ts'
import { dashboardText } from '../../../proposal/text/dashboard-text.ts'
import { stormText } from '../../../proposal/text/storm-text.ts'
import { unitName } from '../../../record/unit-name.ts'
import type { LedgerWrites } from '../../observation/action.ts'
import { type LedgerContent, ledgerAfter } from '../../observation/ledger-after.ts'
import type { ForgeView, TurnView } from '../../observation/turn-view.ts'
import type { UnitResult } from '../../unit/unit-result.ts'
import type { DecidedUnit } from '../../unit/unobserved-decisions.ts'
import { newlyDrifting, type Storm, stormSubject } from '../limits/storm.ts'
import type { ForgeAction } from './forge-action.ts'
import { dashboardOf, episodeOfBranch } from './plan-dashboard.ts'

export const DASHBOARD = 'dashboard'
export const STORM = 'storm'

export interface IssueContext {
  readonly view: TurnView
  readonly forge: ForgeView
  /** The ledger writes of whole clusters. */
  readonly clusters: readonly LedgerWrites[]
  /** Units that could not be observed, with what people decided about them. */
  readonly decided: readonly DecidedUnit[]
  readonly notObserved: readonly {
    readonly cluster: string
    readonly failures: readonly [Failure, ...Failure[]]
  }[]
  /** The storm that this turn found: the issue of an earlier one stays as it is while drift waits for its end. */
  readonly storm: Storm | undefined
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
}

/** Before the push, after which the ledger would not know that there was something: issues about what is over. */
export function planEndedIssues(
  context: IssueContext,
  units: readonly UnitResult[],
): readonly ForgeAction[] {
  const { ledger: before } = context.forge
  const after = contentAfter(context, units)
  const now = subjectOf(context, after, new Map())
  const isOver =
    isQuiet(now) && (hasPolicyProblem(before) || !isQuiet(subjectOf(context, before, new Map())))
  return [
    ...(hasStorm(before) && !hasStorm(after)
      ? [{ kind: 'close-issue', topic: STORM } as const]
      : []),
    ...(isOver ? [dashboardIssue(now)] : []),
  ]
}

/**
 * After the push, when every proposal has its number.
 * @param units with what was written of each
 * @param opened the proposals of the turn, by short name of the branch
 */
export function planIssues(
  context: IssueContext,
  units: readonly UnitResult[],
  opened: ReadonlyMap<string, OpenedProposal>,
): readonly ForgeAction[] {
  const after = contentAfter(context, units)
  const subject = subjectOf(context, after, proposalsOf(context, opened))
  return [...stormIssues(context, after), ...(isQuiet(subject) ? [] : [dashboardIssue(subject)])]
}

function stormIssues(
  { view, forge, storm, now }: IssueContext,
  after: LedgerContent,
): readonly ForgeAction[] {
  if (!hasStorm(after) || storm === undefined) return []
  const { dialect, version } = forge
  const folders = new Map([...after.reports].map(([folder, report]) => [report, folder]))
  const subject = stormSubject(
    newlyDrifting([...after.reports.values()], now),
    storm,
    repositoryLimits(view.policies),
    {
      nameOf: ({ spec }) => unitName(spec.unit),
      urlOf: (report) => statusUrl(forge, folders.get(report) ?? ''),
    },
  )
  return [{ kind: 'issue', topic: STORM, ...stormText({ ...subject, dialect, version }) }]
}

function dashboardIssue(subject: DashboardSubject): ForgeAction {
  return { kind: 'issue', topic: DASHBOARD, ...dashboardText(subject) }
}

function subjectOf(
  { view, forge, notObserved, now }: IssueContext,
  ledger: LedgerContent,
  proposals: ReadonlyMap<string, DashboardProposal>,
): DashboardSubject {
  const subject = dashboardOf({
    ledger,
    policies: view.policies,
    notObserved: notObserved.map(({ cluster, failures: [{ code }] }) => ({ cluster, code })),
    proposals,
    urlOf: (folder) => statusUrl(forge, folder),
    now,
  })
  return { ...subject, dialect: forge.dialect, version: forge.version }
}

function statusUrl({ dialect }: ForgeView, folder: string): string {
  return dialect.branchFileUrl(LEDGER_BRANCH, `${folder}/report.yaml`)
}

/** A proposal that the forge did not have before the turn was opened in this turn. */
function proposalsOf(
  { view, now }: IssueContext,
  opened: ReadonlyMap<string, OpenedProposal>,
): ReadonlyMap<string, DashboardProposal> {
  const known = [...view.proposals.values()].filter(({ state }) => state === 'open')
  const all = [...known.map((proposal) => [proposal.ref, proposal] as const), ...opened]
  const openedAt = new Map(known.map((proposal) => [proposal.number, proposal.openedAt]))
  return new Map(
    all.flatMap(([branch, { label, url, number }]) => {
      const id = episodeOfBranch(branch)
      const at = number !== undefined && openedAt.has(number) ? openedAt.get(number) : now
      return id === undefined
        ? []
        : [[id, { label, url, ...(at === undefined ? {} : { openedAt: at }) }] as const]
    }),
  )
}

function contentAfter(
  { forge, clusters, decided }: IssueContext,
  units: readonly UnitResult[],
): LedgerContent {
  return ledgerAfter(forge.ledger, [
    ...units.flatMap((unit) => (unit.state === 'planned' ? unit.plan.writes.ledger : [])),
    ...decided.flatMap(({ plan }) => plan.writes.ledger),
    ...clusters.flatMap(({ ledger }) => ledger),
  ])
}

function hasPolicyProblem({ clusters }: LedgerContent): boolean {
  return [...clusters.values()].some(({ status }) => status.policy !== undefined)
}

/** While drift waits for the storm to end it is one; drift that began an hour ago is not counted any more. */
function hasStorm({ reports }: LedgerContent): boolean {
  return [...reports.values()].some(({ status }) => status.held?.reason === 'storm')
}
