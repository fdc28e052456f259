/** The dashboard issue, as far as a turn needs it: only held and silenced units have a box in it that people may tick. */
import type { HostedForge, KnownIssue } from '@backporch/forge/hosted-forge'
import { DASHBOARD } from '../../plan/turn/forge/plan-issues.ts'
import type { RepositoryView } from './repository-view.ts'

/** Undefined without boxes, and without the issue. @throws Failure BP50xx */
export async function readDashboard(
  forge: HostedForge,
  { reports }: Pick<RepositoryView, 'reports'>,
  signal: AbortSignal,
): Promise<KnownIssue | undefined> {
  const hasBoxes = [...reports.values()].some(
    ({ status }) => status.held !== undefined || status.state === 'Silenced',
  )
  return hasBoxes ? forge.readIssue(DASHBOARD, signal) : undefined
}
