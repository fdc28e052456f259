/** What people have on the dashboard issue while a turn is planned: the ledger it was drawn from, and the boxes they ticked. */

import { DASHBOARD } from '../../plan/forge/plan-issues.ts'
import type { LedgerContent } from '../../plan/ledger/ledger-after.ts'
import type { Forge, HostedForge } from '../../ports/hosted-forge.ts'
import { type DashboardTicks, NO_TICKS, readDashboardTicks } from '../../proposal/text/dashboard-ticks.ts'
import { isHosted } from '../apply/is-hosted.ts'
import { readWholeLedger } from './read-ledger.ts'
import type { RepositoryView } from './repository-view.ts'

export interface Board {
  /** As it was before the turn; read when it is first asked for. */
  ledger(): Promise<LedgerContent>
  readonly ticks: DashboardTicks
}

/** @throws Failure BP50xx */
export async function readBoard(forge: Forge, view: RepositoryView, signal: AbortSignal): Promise<Board> {
  let content: Promise<LedgerContent> | undefined
  const ledger = (): Promise<LedgerContent> => {
    content ??= readContent(view, signal)
    return content
  }
  return { ledger, ticks: isHosted(forge) ? await readTicks(forge, await ledger(), signal) : NO_TICKS }
}

async function readContent(view: RepositoryView, signal: AbortSignal): Promise<LedgerContent> {
  const { folders, clusters } = await readWholeLedger(view, signal)
  return {
    reports: new Map([...folders].map(([report, folder]) => [folder, report])),
    closed: new Map(view.closed.map((episode) => [episode.metadata.name, episode])),
    clusters,
  }
}

/** Only what is held or silent has a box. */
async function readTicks(forge: HostedForge, { reports }: LedgerContent, signal: AbortSignal): Promise<DashboardTicks> {
  const hasBoxes = [...reports.values()].some(({ status }) => status.held !== undefined || status.state === 'Silenced')
  if (!hasBoxes) return NO_TICKS
  const issue = await forge.readIssue(DASHBOARD, signal)
  return issue === undefined ? NO_TICKS : readDashboardTicks(issue.body)
}
