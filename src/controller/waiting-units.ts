/** Units that may be in another state soon although nothing changes. */
import type { ClosedEpisode } from '../record/documents/closed-episode.ts'
import type { DriftReport } from '../record/documents/drift-report.ts'

const WAITING: ReadonlySet<string> = new Set([
  'Applying',
  'Behind',
  'SyncFailed',
  'Reconciling',
  'Unknown',
])
/** Milliseconds that a unit with a known time waits, at least and at most: a policy may change it. */
const LEAST_WAIT = 5_000
const MOST_WAIT = 3_600_000

/** Milliseconds after which a unit may be in another state though nothing changes; undefined where it is at rest. */
export function restlessFor(
  { state, held, setAside = [] }: DriftReport['status'],
  { now, interval }: { readonly now: number; readonly interval: number },
): number | undefined {
  if (held?.until !== undefined)
    return Math.min(Math.max(Date.parse(held.until) - now, LEAST_WAIT), MOST_WAIT)
  return held !== undefined ||
    WAITING.has(state) ||
    setAside.some((each) => WAITING.has(each.state))
    ? interval
    : undefined
}

/** Merged, and the cluster was not seen to follow. Beside other drift, no state of the unit tells. */
export function isLanding({ status: { outcome, verifiedAt, failedAt } }: ClosedEpisode): boolean {
  return outcome === 'Merged' && verifiedAt === undefined && failedAt === undefined
}
