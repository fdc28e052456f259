import type { Observation } from './observation.ts'
import type { UnitPlan } from './unit-plan.ts'

export interface PlannedUnit {
  readonly observation: Observation
  readonly plan: UnitPlan
}

/** One package in two clusters is two units. */
export function formatUnitKey(cluster: string, packagePath: string): string {
  return `${cluster}\0${packagePath}`
}
