/** What a unit without drift waits for. */
import type { ObjectVerdict, SetAsideState } from '../../drift/compare/drift.ts'
import type { UnitState } from '../../record/documents/drift-report.ts'

const WAITING = ['SyncFailed', 'Suspended', 'Behind', 'Reconciling'] as const

/** `InSync` where nothing waits; otherwise the state that needs a person most. */
export function waitingState(verdicts: readonly ObjectVerdict[]): UnitState {
  const states = new Set(verdicts.flatMap(({ setAside }) => setAside.map(({ state }) => state)))
  if (states.has('SyncFailed')) return 'SyncFailed'
  if (stuckSince(verdicts) !== undefined) return 'Behind'
  return WAITING.find((state) => states.has(state)) ?? 'InSync'
}

/** RFC 3339 UTC: since when the syncer is late with something, by the policy; empty where unknown. */
export function stuckSince(verdicts: readonly ObjectVerdict[]): string | undefined {
  const times = verdicts.flatMap(({ setAside }) =>
    setAside.flatMap((aside) => aside.stuckSince ?? []),
  )
  return times.toSorted()[0]
}

/** Whether it is the state of a difference, or of a unit without drift, that waits for a syncer. */
export function isWaiting(state: SetAsideState | UnitState): boolean {
  return (WAITING as readonly string[]).includes(state)
}
