/** What a unit without drift waits for. */
import type { ObjectVerdict } from '../drift/drift.ts'
import type { UnitState } from '../record/schema.ts'

/** `InSync` where nothing waits; otherwise the state that needs a person most. */
export function waitingState(verdicts: readonly ObjectVerdict[]): UnitState {
  const states = new Set(verdicts.flatMap(({ setAside }) => setAside.map(({ state }) => state)))
  return (['Suspended', 'Behind', 'Reconciling'] as const).find((state) => states.has(state)) ?? 'InSync'
}
