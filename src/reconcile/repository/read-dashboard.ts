/** The ledger before the turn, and what people ticked on the dashboard issue that was drawn from it. */
import { DASHBOARD } from '../../plan/forge/plan-issues.ts'
import type { LedgerContent } from '../../plan/ledger/ledger-after.ts'
import type { HostedForge } from '../../ports/hosted-forge.ts'
import { type DashboardTicks, NO_TICKS, readDashboardTicks } from '../../proposal/text/dashboard-ticks.ts'
import { readWholeLedger } from './read-ledger.ts'
import type { RepositoryView } from './repository-view.ts'

export async function readLedgerContent(view: RepositoryView, signal: AbortSignal): Promise<LedgerContent> {
  const { folders, clusters } = await readWholeLedger(view, signal)
  return {
    reports: new Map([...folders].map(([report, folder]) => [folder, report])),
    closed: new Map(view.closed.map((episode) => [episode.metadata.name, episode])),
    clusters,
  }
}

/** Only what is held or silent has a box. @throws Failure BP50xx */
export async function readTicks(forge: HostedForge, { reports }: LedgerContent, signal: AbortSignal): Promise<DashboardTicks> {
  const hasBoxes = [...reports.values()].some(({ status }) => status.held !== undefined || status.state === 'Silenced')
  if (!hasBoxes) return NO_TICKS
  const issue = await forge.readIssue(DASHBOARD, signal)
  return issue === undefined ? NO_TICKS : readDashboardTicks(issue.body)
}
