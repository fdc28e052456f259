/** What people ticked on the dashboard issue that was created from the ledger before the turn. */
import { DASHBOARD } from '../../plan/forge/plan-issues.ts'
import type { HostedForge } from '../../ports/hosted-forge.ts'
import { type DashboardTicks, NO_TICKS, readDashboardTicks } from '../../proposal/text/dashboard-ticks.ts'
import type { RepositoryView } from './repository-view.ts'

/** Only what is held or silent has a box. @throws Failure BP50xx */
export async function readTicks(forge: HostedForge, { reports }: RepositoryView, signal: AbortSignal): Promise<DashboardTicks> {
  const hasBoxes = [...reports.values()].some(({ status }) => status.held !== undefined || status.state === 'Silenced')
  if (!hasBoxes) return NO_TICKS
  const issue = await forge.readIssue(DASHBOARD, signal)
  return issue === undefined ? NO_TICKS : readDashboardTicks(issue.body)
}
