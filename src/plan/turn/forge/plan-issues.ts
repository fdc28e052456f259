/**
 * Plans the dashboard issue and the issue of a storm. An issue is written only if it has or had
 * content, and an equal text is not sent again.
 */
import type { OpenedProposal } from '@backporch/forge/hosted-forge'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { deriveRepositoryLimits } from '../../../policy/effective-policy.ts'
import {
  type DashboardProposal,
  type DashboardSubject,
  isQuiet,
} from '../../../proposal/text/dashboard-subject.ts'
import { formatDashboard } from '../../../proposal/text/dashboard-text.ts'
import { formatStormText } from '../../../proposal/text/storm-text.ts'
import { getUnitName } from '../../../record/unit-name.ts'
import type { LedgerFile } from '../../observation/action.ts'
import { computeLedgerAfter, type LedgerContent } from '../../observation/ledger-after.ts'
import type { ForgeView, TurnView } from '../../observation/turn-view.ts'
import { buildStormSubject, listNewlyDrifting } from '../limits/storm.ts'
import type { ForgeAction, IssuesAction } from './forge-action.ts'
import { buildDashboard, parseBranchEpisode } from './plan-dashboard.ts'

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
  const after = computeLedgerAfter(before, files)
  const now = buildDashboardSubject(context, after, new Map())
  const isOver =
    isQuiet(now) &&
    (hasPolicyProblem(before) || !isQuiet(buildDashboardSubject(context, before, new Map())))
  return [
    ...(hasStorm(before) && !hasStorm(after)
      ? [{ kind: 'close-issue', topic: STORM } as const]
      : []),
    ...(isOver ? [createDashboardIssue(now)] : []),
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
  const after = computeLedgerAfter(context.forge.ledger, files)
  const subject = buildDashboardSubject(context, after, mapProposals(context, opened))
  return [
    ...planStormIssues(context, after),
    ...(isQuiet(subject) ? [] : [createDashboardIssue(subject)]),
  ]
}

function planStormIssues(
  { view, forge, storm, now }: IssueContext,
  after: LedgerContent,
): readonly ForgeAction[] {
  if (!hasStorm(after) || storm === undefined) return []
  const { dialect, version } = forge
  const folders = new Map([...after.reports].map(([folder, report]) => [report, folder]))
  const subject = buildStormSubject(
    listNewlyDrifting([...after.reports.values()], now),
    { ...storm, clusters: new Set(storm.clusters) },
    deriveRepositoryLimits(view.policies),
    {
      nameOf: ({ spec }) => getUnitName(spec.unit),
      urlOf: (report) => formatStatusUrl(forge, folders.get(report) ?? ''),
    },
  )
  return [{ kind: 'issue', topic: STORM, ...formatStormText({ ...subject, dialect, version }) }]
}

function createDashboardIssue(subject: DashboardSubject): ForgeAction {
  return { kind: 'issue', topic: DASHBOARD, ...formatDashboard(subject) }
}

function buildDashboardSubject(
  { view, forge, notObserved, now }: IssueContext,
  ledger: LedgerContent,
  proposals: ReadonlyMap<string, DashboardProposal>,
): DashboardSubject {
  const subject = buildDashboard({
    ledger,
    policies: view.policies,
    notObserved,
    proposals,
    urlOf: (folder) => formatStatusUrl(forge, folder),
    now,
  })
  return { ...subject, dialect: forge.dialect, version: forge.version }
}

function formatStatusUrl({ dialect }: IssueContext['forge'], folder: string): string {
  return dialect.branchFileUrl(LEDGER_BRANCH, `${folder}/report.yaml`)
}

function mapProposals(
  { view, now }: IssueContext,
  opened: ReadonlyMap<string, OpenedProposal>,
): ReadonlyMap<string, DashboardProposal> {
  const known = [...view.proposals.values()].filter(({ state }) => state === 'open')
  const all = [...known.map((proposal) => [proposal.ref, proposal] as const), ...opened]
  const openedAt = new Map(known.map((proposal) => [proposal.number, proposal.openedAt]))
  return new Map(
    all.flatMap(([branch, { label, url, number }]) => {
      const id = parseBranchEpisode(branch)
      const at = number !== undefined && openedAt.has(number) ? openedAt.get(number) : now
      return id === undefined
        ? []
        : [
            [
              id,
              { label: label || undefined, url, ...(at === undefined ? {} : { openedAt: at }) },
            ] as const,
          ]
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
