/** Requests on the proposal of one unit, planned over an observation that is written by hand, and their answers. */
import assert from 'node:assert/strict'
import { Failure } from '@backporch/kyaml/failure'
import type { Observation } from '../../src/plan/observation/observation.ts'
import type { RequestState } from '../../src/plan/unit/commands/command-state.ts'
import { type AnsweredRequests, planRequests } from '../../src/plan/unit/commands/plan-requests.ts'
import type { ProposalRequests } from '../../src/plan/unit/commands/proposal-requests.ts'
import { planReconcile } from '../../src/plan/unit/plan-reconcile.ts'
import { parsePolicyFiles } from '../../src/policy/parse-policy.ts'
import { driftOf } from './drift-samples.ts'
import { desiredOf, proposedOf, requestsOf, verdictOf } from './observation-builder.ts'
import { policyText } from './turn-world.ts'

export const VERDICT = verdictOf(
  [driftOf('spec.color', { git: 'blue', live: 'red' }), driftOf('spec.replicas')],
  {
    desired: desiredOf({ color: 'blue', replicas: 3 }),
  },
)
export const UNIT = proposedOf([], { verdicts: [VERDICT] })
export const POLICY_FILES = [
  {
    path: '.drift/policy.yaml',
    text: policyText(
      '{ignore: [{paths: [spec.paused], reason: canary}, {paths: [spec.old], reason: over, expires: "2026-01-01"}]}',
    ),
  },
]

export function planned(
  requests: ProposalRequests,
  observation: Observation | Failure = UNIT,
): AnsweredRequests {
  const start: RequestState = { observation, resolutionRequest: undefined }
  const plan = (state: {
    readonly observation: Observation
    readonly resolutionRequest: RequestState['resolutionRequest']
  }) => planReconcile(state.observation, { resolutionRequest: state.resolutionRequest })
  return planRequests(requests, parsePolicyFiles(requests.policyFiles), plan, start)
}

export function comment(
  body: string,
  unit = UNIT,
  more: Partial<ProposalRequests> = {},
): AnsweredRequests {
  return planned(requestsOf(unit, [body], { policyFiles: POLICY_FILES, ...more }), unit)
}

/** Of each answer: whether it is done, and its text. */
export function texts({ answers }: AnsweredRequests): string[] {
  return answers.map(({ done, text }) => `${done ? 'done' : 'refused'}: ${text}`)
}

/** What the unit plans with everything that was requested. */
export function resolutions({ state }: AnsweredRequests): string[] | undefined {
  assert.ok(!(state.observation instanceof Failure))
  const { record } = planReconcile(state.observation, {
    resolutionRequest: state.resolutionRequest,
  })
  return record?.spec.changes.map(({ resolution }) => resolution)
}
