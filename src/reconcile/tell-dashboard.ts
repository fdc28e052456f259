/**
 * The two issues of a repository: the dashboard, and a storm while it lasts. Written only where something is or was there; the same
 * state is the same text, and is not sent again.
 */
import { Failure } from '../failure.ts'
import { LEDGER_BRANCH } from '../package/ref-name.ts'
import type { LedgerWrites } from '../plan/action.ts'
import { type LedgerContent, ledgerAfter } from '../plan/ledger-after.ts'
import { dashboardOf, episodeOfBranch } from '../plan/plan-dashboard.ts'
import { newlyDrifting, type Storm, stormSubject } from '../plan/storm.ts'
import { repositoryLimits } from '../policy/effective-policy.ts'
import type { Forge, HostedForge, OpenedProposal } from '../ports/hosted-forge.ts'
import { type DashboardProposal, type DashboardSubject, dashboardText, isQuiet } from '../proposal/dashboard-text.ts'
import { stormText } from '../proposal/storm-text.ts'
import { unitName } from '../record/unit-name.ts'
import { type Board, DASHBOARD, STORM } from './board.ts'
import type { RepositoryView } from './repository-view.ts'
import { isHosted } from './tell-forge.ts'
import type { UnitResult } from './unit-result.ts'

export interface ToldBoard {
  readonly view: RepositoryView
  readonly board: Board
  readonly units: readonly UnitResult[]
  /** What the turn writes of whole clusters. */
  readonly clusters: readonly LedgerWrites[]
  readonly notObserved: readonly { readonly cluster: string; readonly failures: readonly [Failure, ...Failure[]] }[]
  /** That this turn sees: what is told of another turn's stays as it is while drift waits for its end. */
  readonly storm: Storm | undefined
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
  readonly version: string
}

/**
 * Before the push, after which the ledger would not know that there was something: what is over.
 * @returns what the forge does not allow, which stops nothing else
 * @throws Failure BP50xx
 */
export async function tellOver(forge: Forge, told: ToldBoard, signal: AbortSignal): Promise<readonly Failure[]> {
  if (!isHosted(forge)) return []
  const [before, after] = [await told.board.ledger(), await contentAfter(told)]
  return unlessRefused(async () => {
    if (hasStorm(before) && !hasStorm(after)) await forge.closeIssue(STORM, signal)
    const now = subjectOf(forge, told, after, new Map())
    if (isQuiet(now) && !isQuiet(subjectOf(forge, told, before, new Map()))) await ensureDashboard(forge, now, signal)
  })
}

/**
 * After the push, when every proposal has its number.
 * @param opened what the forge calls the proposals of the turn, by short name of the branch
 * @returns and throws as `tellOver`
 */
export async function tellBoard(
  forge: Forge,
  told: ToldBoard,
  opened: ReadonlyMap<string, OpenedProposal>,
  signal: AbortSignal,
): Promise<readonly Failure[]> {
  if (!isHosted(forge)) return []
  const { view, storm, now, version } = told
  const after = await contentAfter(told)
  return unlessRefused(async () => {
    if (hasStorm(after) && storm !== undefined) {
      const folders = new Map([...after.reports].map(([folder, report]) => [report, folder]))
      const drifting = newlyDrifting([...after.reports.values()], now)
      const subject = stormSubject(
        drifting,
        storm,
        repositoryLimits(view.policies),
        ({ spec }) => unitName(spec.unit),
        (report) => statusUrl(forge, folders.get(report) ?? ''),
      )
      const { title, body, labels } = stormText({ ...subject, dialect: forge.dialect, version })
      await forge.ensureIssue(STORM, title, body, labels, signal)
    }
    const subject = subjectOf(forge, told, after, proposalsOf(view, opened, now))
    if (!isQuiet(subject)) await ensureDashboard(forge, subject, signal)
  })
}

async function ensureDashboard(forge: HostedForge, subject: DashboardSubject, signal: AbortSignal): Promise<void> {
  const { title, body, labels } = dashboardText(subject)
  await forge.ensureIssue(DASHBOARD, title, body, labels, signal)
}

function subjectOf(
  forge: HostedForge,
  { view, notObserved, now, version }: ToldBoard,
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
  return { ...subject, dialect: forge.dialect, version }
}

function statusUrl({ dialect }: HostedForge, folder: string): string {
  return dialect.branchFileUrl(LEDGER_BRANCH, `${folder}/report.yaml`)
}

/** @param now RFC 3339 UTC: what the forge does not know yet was opened in this turn */
function proposalsOf(
  view: RepositoryView,
  opened: ReadonlyMap<string, OpenedProposal>,
  now: string,
): ReadonlyMap<string, DashboardProposal> {
  const known = [...view.proposals.values()].filter(({ state }) => state === 'open')
  const all = [...known.map((proposal) => [proposal.ref, proposal] as const), ...opened]
  const openedAt = new Map(known.map((proposal) => [proposal.number, proposal.openedAt]))
  return new Map(
    all.flatMap(([branch, { label, url, number }]) => {
      const id = episodeOfBranch(branch)
      const at = number !== undefined && openedAt.has(number) ? openedAt.get(number) : now
      return id === undefined ? [] : [[id, { label, url, ...(at === undefined ? {} : { openedAt: at }) }] as const]
    }),
  )
}

async function contentAfter({ board, units, clusters }: ToldBoard): Promise<LedgerContent> {
  const written = units.filter((unit) => unit.state === 'planned' && unit.refused === undefined)
  return ledgerAfter(await board.ledger(), [
    ...written.flatMap((unit) => (unit.state === 'planned' ? unit.plan.writes.ledger : [])),
    ...clusters.flatMap(({ ledger }) => ledger),
  ])
}

/** While drift waits for the storm to end it is one; drift that began an hour ago is not counted any more. */
function hasStorm({ reports }: LedgerContent): boolean {
  return [...reports.values()].some(({ status }) => status.held?.reason === 'storm')
}

/** Issues may be switched off, or not be allowed for us: proposals do not depend on them. */
async function unlessRefused(work: () => Promise<void>): Promise<readonly Failure[]> {
  try {
    await work()
    return []
  } catch (thrown) {
    if (thrown instanceof Failure && (thrown.code === 'BP5003' || thrown.code === 'BP5006')) return [thrown]
    throw thrown
  }
}
