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
      readonly notAdoptable: NotAdoptable
      /**
       * The server's answers about adopted values; absent without such objects or without a
       * proposal.
       */
      readonly adopted?: readonly AdoptedObject[]
      readonly notes: readonly Note[]
      readonly resolutionRequest: ResolutionRequest | undefined
      readonly requests: readonly AnsweredRequests[]
      /**
       * By a repository rule for the refs, or by the forge. The plan nevertheless has what was
       * written.
       */
      readonly refused?: Failure
    }
  | {
      readonly state: 'failed'
      readonly cluster: string
      readonly packagePath: string
      readonly failures: readonly [Failure, ...Failure[]]
    }

export type PlannedResult = UnitResult & { readonly state: 'planned' }

export function listUnitFailures(unit: UnitResult): readonly Failure[] {
  if (unit.state === 'failed') return unit.failures
  return unit.refused === undefined ? [] : [unit.refused]
}
