import type { ObjectVerdict, SetAsideState } from '../../drift/compare/drift.ts'
import type { UnitState } from '../../record/documents/drift-report.ts'

const WAITING = ['SyncFailed', 'Suspended', 'Behind', 'Reconciling'] as const

/** `InSync` if nothing waits; otherwise the state that needs a person most. */
export function getWaitingState(verdicts: readonly ObjectVerdict[]): UnitState {
  const states = new Set(verdicts.flatMap(({ setAside }) => setAside.map(({ state }) => state)))
  if (states.has('SyncFailed')) return 'SyncFailed'
  if (findStuckSince(verdicts) !== undefined) return 'Behind'
  return WAITING.find((state) => states.has(state)) ?? 'InSync'
}

/** RFC 3339 UTC, by the policy; empty if unknown. */
export function findStuckSince(verdicts: readonly ObjectVerdict[]): string | undefined {
  const times = verdicts.flatMap(({ setAside }) =>
    setAside.flatMap((aside) => aside.stuckSince ?? []),
  )
  return times.toSorted()[0]
}

export function isWaiting(state: SetAsideState | UnitState): boolean {
  return (WAITING as readonly string[]).includes(state)
}
