import type { ClosedEpisode } from '../record/documents/closed-episode.ts'
import type { DriftReport } from '../record/documents/drift-report.ts'

const WAITING: ReadonlySet<string> = new Set([
  'Applying',
  'Behind',
  'SyncFailed',
  'Reconciling',
  'Unknown',
])
/** Milliseconds; a policy may change a known time. */
const LEAST_WAIT = 5_000
const MOST_WAIT = 3_600_000

/** Milliseconds; undefined if at rest. */
export function computeRestlessTime(
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

/** With other drift present, no unit state shows this. */
export function isLanding({ status: { outcome, verifiedAt, failedAt } }: ClosedEpisode): boolean {
  return outcome === 'Merged' && verifiedAt === undefined && failedAt === undefined
}
