/** Everything that the ledger knows, for answers that need no cluster. */
import type { Note } from '../../note.ts'
import {
  type ClosedEpisode,
  type ClusterObservation,
  clusterObservationSchema,
  type DriftReport,
  driftReportSchema,
} from '../../record/schema.ts'
import { parseDocument } from '../../record/write-document.ts'
import { ledgerNotRead, type RepositoryView, readTexts } from './repository-view.ts'

export interface Ledger {
  readonly reports: readonly DriftReport[]
  /** Folder of each report in the ledger. */
  readonly folders: ReadonlyMap<DriftReport, string>
  readonly closed: readonly ClosedEpisode[]
  /** By name of the cluster. */
  readonly clusters: ReadonlyMap<string, ClusterObservation>
  /** Files that could not be read. */
  readonly problems: readonly Note[]
}

export async function readWholeLedger(view: RepositoryView, signal: AbortSignal): Promise<Ledger> {
  const files = view.ledgerTree.filter(({ path }) => path.endsWith('/report.yaml') || path.endsWith('/observation.yaml'))
  const texts = await readTexts(view.repository, files, signal)
  const folders = new Map<DriftReport, string>()
  const clusters = new Map<string, ClusterObservation>()
  const problems: Note[] = [...view.problems]
  for (const { path } of files) {
    const text = texts.get(path) ?? ''
    const where = `drift-ledger:${path}`
    try {
      if (path.endsWith('/report.yaml')) folders.set(parseDocument(text, driftReportSchema, where), path.slice(0, -'/report.yaml'.length))
      else {
        const observation = parseDocument(text, clusterObservationSchema, where)
        clusters.set(observation.metadata.name, observation)
      }
    } catch (thrown) {
      problems.push(ledgerNotRead(where, thrown))
    }
  }
  const byUnit = (report: DriftReport): string => `${report.spec.unit.cluster}\0${report.spec.unit.package}`
  const reports = [...folders.keys()].sort((a, b) => (byUnit(a) < byUnit(b) ? -1 : 1))
  return { reports, folders, closed: view.closed, clusters, problems }
}
