/** How an episode ends, and how long its rejection is silent. */

import { RISKS } from '../../drift/drift.ts'
import { API_VERSION, type Change, type ClosedEpisode, type DriftRecord, LOCAL_CONFIG } from '../../record/schema.ts'
import { given } from '../../text/given.ts'
import { later } from '../limits/drift-age.ts'

export function closedEpisodeOf(record: DriftRecord, status: ClosedEpisode['status']): ClosedEpisode {
  const { unit, fingerprint, observed, changes, episode, began, proposedAt, plan, message } = record.spec
  return {
    apiVersion: API_VERSION,
    kind: 'ClosedEpisode',
    metadata: { name: episode, annotations: LOCAL_CONFIG },
    spec: { unit, fingerprint, observed, changes, episode, began, ...given({ proposedAt }), plan, ...given({ message }) },
    status,
  }
}

/** Nothing was left to decide, and the turn took the proposal away. */
export function isWithdrawn({ outcome }: ClosedEpisode['status']): boolean {
  return outcome === 'Healed' || outcome === 'ResolvedByGit'
}

/** Whether the ledger has it that exactly this record was merged: a later merge under the same name is another decision. */
export function isMergeKnown(closed: readonly ClosedEpisode[], { spec }: DriftRecord): boolean {
  return closed.some(
    (known) =>
      known.status.outcome === 'Merged' &&
      known.spec.episode === spec.episode &&
      known.spec.fingerprint === spec.fingerprint &&
      known.spec.plan === spec.plan,
  )
}

/** Seconds. Critical drift is never silent for longer than a day (design §8). */
const CRITICAL_SILENCE = 86_400

/** RFC 3339 UTC with seconds: until when exactly this drift is not raised again. `silence` in seconds. */
export function silenceEnd(changes: readonly Change[], at: string, silence: number): string {
  const seconds = worstRisk(changes) === 'critical' ? Math.min(CRITICAL_SILENCE, silence) : silence
  return later(at, seconds)
}

export function secondsSince1970(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}

export function worstRisk(changes: readonly { readonly risk: (typeof RISKS)[number] }[]): (typeof RISKS)[number] | undefined {
  return RISKS.find((risk) => changes.some((change) => change.risk === risk))
}
