/**
 * A branch without news is rebuilt as well before it is trusted: the ledger may be edited too, and another version may
 * have written it. What differs there is recreated. A joint proposal, whose every unit would be built for that, is trusted by the ledger.
 */
import type { Observation } from '../observation/observation.ts'
import type { UnitQuestions } from '../observation/turn-questions.ts'
import type { PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import { filesOfProposal, planReconcile } from './plan-reconcile.ts'

/** @throws as `planReconcile`, and Unanswered */
export function planProven(
  observation: Observation,
  questions: UnitQuestions,
  options: PlanOptions = {},
): UnitPlan {
  const plan = (observed: Observation): UnitPlan =>
    questions.plan(observed, (one) => planReconcile(one, options))
  const first = plan(observation)
  const ref = `refs/heads/${first.branch}`
  const branch =
    first.outcome === 'unchanged' ? first.openBranches.find((open) => open.ref === ref) : undefined
  if (branch === undefined || branch.known !== true || branch.others.length > 0) return first
  const changes = questions.plan(observation, (one) => filesOfProposal(one, branch))
  if (questions.isContent(branch, changes)) return first
  const branches = observation.git.branches.map((open) =>
    open.ref === ref ? { ...open, outdated: true } : open,
  )
  return plan({ ...observation, git: { ...observation.git, branches } })
}
