/** What a unit without drift waits for. */
import type { ObjectVerdict, SetAsideState } from '../../drift/drift.ts'
import type { UnitState } from '../../record/schema.ts'

const WAITING = ['Suspended', 'Behind', 'Reconciling'] as const

/** `InSync` where nothing waits; otherwise the state that needs a person most. */
export function waitingState(verdicts: readonly ObjectVerdict[]): UnitState {
  const states = new Set(verdicts.flatMap(({ setAside }) => setAside.map(({ state }) => state)))
  if (stuckSince(verdicts) !== undefined) return 'Behind'
  return WAITING.find((state) => states.has(state)) ?? 'InSync'
}

/** RFC 3339 UTC: since when the syncer is late with something, by the policy; empty where unknown. */
export function stuckSince(verdicts: readonly ObjectVerdict[]): string | undefined {
  const times = verdicts.flatMap(({ setAside }) => setAside.flatMap((aside) => aside.stuckSince ?? []))
  return times.toSorted()[0]
}

export function isWaiting(state: SetAsideState): boolean {
  return (WAITING as readonly string[]).includes(state)
}
