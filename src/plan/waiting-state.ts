/** What a unit without drift waits for. */
import type { ObjectVerdict, SetAsideState } from '../drift/drift.ts'
import type { UnitState } from '../record/schema.ts'

const WAITING = ['Suspended', 'Behind', 'Reconciling'] as const

/** `InSync` where nothing waits; otherwise the state that needs a person most. */
export function waitingState(verdicts: readonly ObjectVerdict[]): UnitState {
  const states = new Set(verdicts.flatMap(({ setAside }) => setAside.map(({ state }) => state)))
  return WAITING.find((state) => states.has(state)) ?? 'InSync'
}

export function isWaiting(state: SetAsideState): boolean {
  return (WAITING as readonly string[]).includes(state)
}
