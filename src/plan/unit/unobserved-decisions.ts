/**
 * A decision is not an observation (docs/adr/0056-what-the-ledger-says-about-time.md), so it is
 * written in the turn that finds it, also for a package that does not render or a cluster that does
 * not answer.
 */
import type { Observation, Unit } from '../observation/observation.ts'
import type { TurnMemory } from '../observation/turn-memory.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { findDecisions } from './found-decisions.ts'
import { removeEnded } from './too-old.ts'

export interface DecidedUnit {
  readonly unit: Unit
  readonly observation: Observation
  readonly plan: Pick<UnitPlan, 'writes' | 'outcomes' | 'landing' | 'notes'>
}

export function decideUnobserved(
  unobserved: readonly Observation[],
  memory: TurnMemory,
): readonly DecidedUnit[] {
  return unobserved.flatMap((one) => {
    const observation = memory.refreshTags(one)
    const { writes, outcomes, landing, notes } = findDecisions(observation)
    const ledger = [...writes.ledger, ...removeEnded(observation, outcomes)]
    if (ledger.length + writes.updates.length + landing.length + notes.length === 0) return []
    memory.remember({ record: undefined, writes })
    return [
      {
        unit: observation.unit,
        observation,
        plan: { writes: { ...writes, ledger }, outcomes, landing, notes },
      },
    ]
  })
}
