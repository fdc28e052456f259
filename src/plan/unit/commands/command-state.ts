/** The state of a unit between the commands of one proposal, and what each command is planned with and answers. */
import { Failure } from '@backporch/kyaml/failure'
import type { PolicyFile, PolicySet } from '../../../policy/parse-policy.ts'
import type { CommandResult } from '../../../proposal/text/command-answer.ts'
import type { Observation, ResolutionRequest } from '../../observation/observation.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import type { IgnoreDocument } from './comment-policy.ts'
import type { ProposalRequests } from './proposal-requests.ts'

/** A unit with all requests so far. */
export interface RequestState {
  /** The reason where nothing could be observed. */
  readonly observation: Observation | Failure
  readonly resolutionRequest: ResolutionRequest | undefined
}

/** A unit that could be observed. */
export interface ObservedState extends RequestState {
  readonly observation: Observation
}

/** Plans the unit. @throws Failure as `planReconcile` */
export type PlanUnit = (state: ObservedState) => UnitPlan

/** A requested change of the policy: files that change, and their content. */
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

/** What a command answers with, and the state after it. */
export interface PlannedCommand extends Pick<CommandResult, 'text' | 'details'> {
  readonly state: RequestState
  /** A pull request of its own; the answer names it. */
  readonly policy?: PolicyChange
}

/** @throws Failure why the unit could not be observed */
export function observedState(state: RequestState): ObservedState {
  const { observation } = state
  if (observation instanceof Failure) throw observation
  return { ...state, observation }
}

export function ownedBy({ requests: { unit, codeOwners } }: CommandContext) {
  return { packagePath: unit.packagePath, codeOwners }
}
