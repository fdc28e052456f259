/**
 * Answers what the plan of a turn has to know beside the observation: functions and programs run, and branches are rebuilt and compared. The
 * answers become part of the observation, until the plan has no more questions.
 */
import { setImmediate } from 'node:timers/promises'
import { Failure } from '@backporch/kyaml/failure'
import {
  type PlanQuestion,
  type StepAnswers,
  Unanswered,
  type UnitAnswers,
  UnitQuestions,
} from '../../plan/observation/turn-questions.ts'
import { type KnownPlans, planTurn, type TurnPlan, TurnPlanner } from '../../plan/turn/plan-turn.ts'
import type { ObservedUnit, TurnObservation } from '../../plan/turn/turn-observation.ts'
import { hasContent } from '../repository/judge-branches.ts'
import { type ProofPorts, TakenAnswers } from '../repository/with-answers.ts'

/** The plan of the whole turn. @throws the signal's reason; a failure of one unit is in its result */
export async function proveTurn(
  observed: TurnObservation,
  ports: ProofPorts,
  signal: AbortSignal,
): Promise<TurnPlan> {
  const { units } = observed.cluster
  const found = {
    ...observed,
    answers: new Map<ObservedUnit, UnitAnswers>(
      units.map((unit) => [unit, new ProvenAnswers(ports)]),
    ),
  }
  const known: KnownPlans = new Map()
  const planner = new TurnPlanner(found, known)
  for (const unit of units) {
    for (let requested = planner.add(unit); requested.length > 0; requested = planner.add(unit))
      await answerAll(requested, signal)
    // Planning only computes. What else waits (an answer to a webhook, a connection's life) has its turn between two units.
    await setImmediate()
  }
  for (;;) {
    const plan = planTurn(found, known)
    if (plan.questions.length === 0) return plan
    await answerAll(plan.questions, signal)
  }
}

/** The plan of one unit by itself. @throws what `work` throws */
export async function proveUnit<Result>(
  ports: ProofPorts,
  signal: AbortSignal,
  work: (questions: UnitQuestions) => Result,
): Promise<Result> {
  const answers = new ProvenAnswers(ports)
  for (;;) {
    try {
      return work(new UnitQuestions(answers, ''))
    } catch (thrown) {
      if (!(thrown instanceof Unanswered)) throw thrown
      await answerAll([thrown.question], signal)
    }
  }
}

async function answerAll(questions: readonly PlanQuestion[], signal: AbortSignal): Promise<void> {
  for (const question of questions) {
    if (!(question.answers instanceof ProvenAnswers))
      throw new TypeError('answers that were written by hand are complete')
    await question.answers.answer(question, signal)
  }
}

/** Of one unit. Each step may run as many programs as any other. */
class ProvenAnswers implements UnitAnswers {
  private readonly ports: ProofPorts
  private readonly steps = new Map<string, ProvenStep>()

  constructor(ports: ProofPorts) {
    this.ports = ports
  }

  step(name: string): ProvenStep {
    const step = this.steps.get(name) ?? new ProvenStep(this.ports.renderer)
    this.steps.set(name, step)
    return step
  }

  async answer(question: PlanQuestion, signal: AbortSignal): Promise<void> {
    const step = this.step(question.step)
    try {
      if (question.kind === 'function') await step.fetch(question.call, signal)
      else if (question.kind === 'server') await question.missing.ask(signal)
      else if (question.kind === 'builds') await step.build(question.builds, signal)
      else
        step.isContent = await hasContent(
          this.ports.repository,
          question.branch,
          question.changes,
          signal,
        )
    } catch (thrown) {
      signal.throwIfAborted()
      if (!(thrown instanceof Failure)) throw thrown
      step.failure = thrown
    }
  }
}

class ProvenStep extends TakenAnswers implements StepAnswers {
  failure: Failure | undefined
  isContent: boolean | undefined
}
