/** A unit with its observation and its plan: the input of decisions about several units. */
import type { Observation } from './observation.ts'
import type { UnitPlan } from './unit-plan.ts'

export interface PlannedUnit {
  readonly observation: Observation
  readonly plan: UnitPlan
}

/** Distinguishes units: two packages of one name in two clusters are two units. */
export function unitKey(cluster: string, packagePath: string): string {
  return `${cluster}\0${packagePath}`
}
