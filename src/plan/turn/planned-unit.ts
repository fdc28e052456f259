/** A unit with what was seen of it and what is planned for it: what decisions about several units are made from. */
import type { Observation } from './observation.ts'
import type { UnitPlan } from './unit-plan.ts'

export interface PlannedUnit {
  readonly observation: Observation
  readonly plan: UnitPlan
}

/** Tells units apart: two packages of one name in two clusters are two units. */
export function unitKey(cluster: string, packagePath: string): string {
  return `${cluster}\0${packagePath}`
}
