import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { RepositoryView } from './repository-view.ts'
import { findUnreportedUnits } from './unreported-units.ts'

export interface Ledger extends Pick<RepositoryView, 'closed' | 'clusters' | 'problems'> {
  readonly reports: readonly DriftReport[]
  readonly folders: ReadonlyMap<DriftReport, string>
}

export function createLedger(view: RepositoryView): Ledger {
  const { closed, clusters, problems } = view
  const byUnit = ({ spec: { unit } }: DriftReport): string => `${unit.cluster}\0${unit.package}`
  const reports = [...findUnreportedUnits(view), ...view.reports]
  const sorted = reports
    .map(([, report]) => report)
    .sort((a, b) => (byUnit(a) < byUnit(b) ? -1 : 1))
  return {
    reports: sorted,
    folders: new Map(reports.map(([folder, report]) => [report, folder])),
    closed,
    clusters,
    problems,
  }
}
