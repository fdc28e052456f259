import { convertToOneLine, omitUndefined } from '@backporch/kyaml/text'
import type { RepositoryView } from '../../reconcile/repository/repository-view.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { getWorkspaceName } from './unit-cells.ts'

/** The report is planned before the forge assigns a number. */
export function addPullRequest(
  report: DriftReport,
  { pushed }: Pick<RepositoryView, 'pushed'>,
): DriftReport {
  const { spec, status } = report
  if (status.lifecycle !== 'Proposed') return report
  const branch = status.branch ?? `proposed/${getUnitName(spec.unit)}/drift-${status.episode}`
  const { pullRequest: number, pullRequestUrl } = pushed.get(`refs/heads/${branch}`)?.spec ?? {}
  if (number === undefined) return report
  const url = pullRequestUrl === undefined ? undefined : convertToOneLine(pullRequestUrl, 500)
  return { ...report, status: { ...status, pullRequest: { number, ...omitUndefined({ url }) } } }
}

/** The workspace if git is the forge or the number is unknown. */
export function formatProposalName({ status }: DriftReport): string {
  return status.pullRequest === undefined
    ? getWorkspaceName(status)
    : `#${status.pullRequest.number}`
}
