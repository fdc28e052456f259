import { Failure } from '@backporch/kyaml/failure'
import type { PolicyFile, PolicySet } from '../../../policy/parse-policy.ts'
import type { CommandResult } from '../../../proposal/text/command-answer.ts'
import type { Observation, ResolutionRequest } from '../../observation/observation.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import type { IgnoreDocument } from './comment-policy.ts'
import type { ProposalRequests } from './proposal-requests.ts'

export interface RequestState {
  readonly observation: Observation | Failure
  readonly resolutionRequest: ResolutionRequest | undefined
}

export interface ObservedState extends RequestState {
  readonly observation: Observation
}

/** @throws Failure as `planReconcile` */
export type PlanUnit = (state: ObservedState) => UnitPlan

export interface PolicyChange {
  readonly verb: 'ignore' | 'unignore'
  readonly files: readonly PolicyFile[]
  readonly rules: readonly IgnoreDocument[]
}

export interface CommandContext {
  readonly requests: ProposalRequests
  readonly policies: PolicySet
  readonly plan: PlanUnit
}

export interface PlannedCommand extends Pick<CommandResult, 'text' | 'details'> {
  readonly state: RequestState
  readonly policy?: PolicyChange
}

/** @throws Failure why the unit could not be observed */
export function requireObservedState(state: RequestState): ObservedState {
  const { observation } = state
  if (observation instanceof Failure) throw observation
  return { ...state, observation }
}

export function getOwnership({ requests: { unit, codeOwners } }: CommandContext) {
  return { packagePath: unit.packagePath, codeOwners }
}
