import { catchFailure, Failure } from '@backporch/kyaml/failure'
import type { z } from 'zod'
import { type ClosedEpisode, closedEpisodeSchema } from '../../record/documents/closed-episode.ts'
import {
  type ClusterObservation,
  clusterObservationSchema,
} from '../../record/documents/cluster-observation.ts'
import { type DriftReport, driftReportSchema } from '../../record/documents/drift-report.ts'
import { parseDocument } from '../../record/write-document.ts'
import type { LedgerFile } from './action.ts'

export interface LedgerContent {
  /** By the unit's folder. */
  readonly reports: ReadonlyMap<string, DriftReport>
  readonly closed: ReadonlyMap<string, ClosedEpisode>
  readonly clusters: ReadonlyMap<string, ClusterObservation>
}

/** An unreadable text counts as empty. */
export function computeLedgerAfter(
  before: LedgerContent,
  files: readonly LedgerFile[],
): LedgerContent {
  const reports = new Map(before.reports)
  const closed = new Map(before.closed)
  const clusters = new Map(before.clusters)
  for (const { path, text } of files) {
    if (path.endsWith('/report.yaml'))
      put(reports, path.slice(0, -'/report.yaml'.length), readAs(text, driftReportSchema, path))
    else if (path.endsWith('/observation.yaml')) {
      const observation = readAs(text, clusterObservationSchema, path)
      if (observation !== undefined) clusters.set(observation.metadata.name, observation)
    } else if (path.startsWith('closed/'))
      put(
        closed,
        path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length),
        readAs(text, closedEpisodeSchema, path),
      )
  }
  return { reports, closed, clusters }
}

function put<Value>(values: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) values.delete(key)
  else values.set(key, value)
}

function readAs<Schema extends z.ZodType>(
  text: string | null,
  schema: Schema,
  path: string,
): z.infer<Schema> | undefined {
  if (text === null) return undefined
  const read = catchFailure(() => parseDocument(text, schema, path))
  return read instanceof Failure ? undefined : read
}
