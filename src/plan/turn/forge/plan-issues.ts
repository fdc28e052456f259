/**
 * The dashboard, and a storm while it lasts. Written only if there is or was something; an equal
 * text is not sent again.
 */
import type { OpenedProposal } from '@backporch/forge/hosted-forge'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { repositoryLimits } from '../../../policy/effective-policy.ts'
import {
  type DashboardProposal,
  type DashboardSubject,
  isQuiet,
} from '../../../proposal/text/dashboard-subject.ts'
import { dashboardText } from '../../../proposal/text/dashboard-text.ts'
import { stormText } from '../../../proposal/text/storm-text.ts'
import { unitName } from '../../../record/unit-name.ts'
import type { LedgerFile } from '../../observation/action.ts'
import { type LedgerContent, ledgerAfter } from '../../observation/ledger-after.ts'
import type { ForgeView, TurnView } from '../../observation/turn-view.ts'
import { newlyDrifting, stormSubject } from '../limits/storm.ts'
import type { ForgeAction, IssuesAction } from './forge-action.ts'
import { dashboardOf, episodeOfBranch } from './plan-dashboard.ts'

export const DASHBOARD = 'dashboard'
export const STORM = 'storm'

export interface IssueContext extends Omit<IssuesAction, 'version' | 'unpushed'> {
  readonly view: Pick<TurnView, 'policies' | 'proposals'>
  /** With the ledger before the turn. */
  readonly forge: Omit<ForgeView, 'codeOwners'>
}

/**
 * Before the push, after which the ledger would not know that there was something: issues about what is over.
 * @param files what the turn writes into the ledger
 */
export function planEndedIssues(
  context: IssueContext,
  files: readonly LedgerFile[],
): readonly ForgeAction[] {
  const { ledger: before } = context.forge
  const after = ledgerAfter(before, files)
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
 * @param files what was written into the ledger
 * @param opened the proposals of the turn, by short name of the branch
 */
export function planIssues(
  context: IssueContext,
  files: readonly LedgerFile[],
  opened: ReadonlyMap<string, OpenedProposal>,
): readonly ForgeAction[] {
  const after = ledgerAfter(context.forge.ledger, files)
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
    { ...storm, clusters: new Set(storm.clusters) },
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
    notObserved,
    proposals,
    urlOf: (folder) => statusUrl(forge, folder),
    now,
  })
  return { ...subject, dialect: forge.dialect, version: forge.version }
}

function statusUrl({ dialect }: IssueContext['forge'], folder: string): string {
  return dialect.branchFileUrl(LEDGER_BRANCH, `${folder}/report.yaml`)
}

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

function hasPolicyProblem({ clusters }: LedgerContent): boolean {
  return [...clusters.values()].some(({ status }) => status.policy !== undefined)
}

/** Drift that began an hour ago no longer counts. */
function hasStorm({ reports }: LedgerContent): boolean {
  return [...reports.values()].some(({ status }) => status.held?.reason === 'storm')
}
