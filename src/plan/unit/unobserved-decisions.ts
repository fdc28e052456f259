/**
 * What people decided about units that could not be observed: a package that does not render, a cluster that does not answer. A decision is no
 * observation (docs/adr/0056-what-the-ledger-says-about-time.md), so it is written in the turn that finds it.
 */
import type { Observation, Unit } from '../observation/observation.ts'
import type { TurnMemory } from '../observation/turn-memory.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { findDecisions } from './found-decisions.ts'
import { withoutEnded } from './too-old.ts'

/** A unit with what was decided about it. */
export interface DecidedUnit {
  readonly unit: Unit
  readonly observation: Observation
  readonly plan: Pick<UnitPlan, 'writes' | 'outcomes' | 'landing' | 'notes'>
}

/**
 * @param unobserved of each nothing but git and the forge is known
 * @param memory what the observed units of the turn took, which is added to
 */
export function unobservedDecisions(
  unobserved: readonly Observation[],
  memory: TurnMemory,
): readonly DecidedUnit[] {
  return unobserved.flatMap((one) => {
    const observation = memory.upToDate(one)
    const { writes, outcomes, landing, notes } = findDecisions(observation)
    const ledger = [...writes.ledger, ...withoutEnded(observation, outcomes)]
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
