/** What came of one unit in one turn. */
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { Observation, ResolutionRequest, Unit } from '../observation/observation.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import type { AdoptedObject } from './adopted-objects.ts'
import type { AnsweredRequests } from './commands/plan-requests.ts'
import type { NotAdoptable } from './not-adoptable.ts'

export type UnitResult =
  | {
      readonly state: 'planned'
      readonly unit: Unit
      readonly observation: Observation
      readonly plan: UnitPlan
      /** Of a unit with a proposal; empty for any other. */
      readonly notAdoptable: NotAdoptable
      /** What the server says of objects with adopted values, of a unit with a proposal; left out where there are none. */
      readonly adopted?: readonly AdoptedObject[]
      readonly notes: readonly Note[]
      /** The request: on the command line, or on the forge. */
      readonly resolutionRequest: ResolutionRequest | undefined
      /** Requests on proposals of the unit; empty where there are none. */
      readonly requests: readonly AnsweredRequests[]
      /** A rule of the repository refused the unit's refs, or the forge its proposal. The plan has what was written all the same. */
      readonly refused?: Failure
    }
  | {
      readonly state: 'failed'
      readonly cluster: string
      readonly packagePath: string
      readonly failures: readonly [Failure, ...Failure[]]
    }

export type PlannedResult = UnitResult & { readonly state: 'planned' }

/** Why a unit could not be observed, or not be written; empty where all went well. */
export function unitFailures(unit: UnitResult): readonly Failure[] {
  if (unit.state === 'failed') return unit.failures
  return unit.refused === undefined ? [] : [unit.refused]
}
