/**
 * Runs functions and programs, and rebuilds and compares branches, until the plan has no more
 * questions.
 */
import { setImmediate } from 'node:timers/promises'
import { Failure } from '@backporch/kyaml/failure'
import {
  type StepAnswers,
  type UnitAnswers,
  UnitQuestions,
} from '../../plan/observation/turn-questions.ts'
import { type TurnPlan, TurnPlanner } from '../../plan/turn/plan-turn.ts'
import type { ObservedUnit, TurnObservation } from '../../plan/turn/turn-observation.ts'
import { computeAnswered, type Question } from '../../sources/programs/questions.ts'
import { hasContent } from '../repository/judge-branches.ts'
import { CollectedAnswers, type ProofPorts } from '../repository/with-answers.ts'

/** @throws the signal's reason; not for one unit */
export async function proveTurn(
  observed: TurnObservation,
  ports: ProofPorts,
  signal: AbortSignal,
): Promise<TurnPlan> {
  const { units } = observed.cluster
  const proof = new Proof(ports)
  const answers = new Map<ObservedUnit, UnitAnswers>(
    units.map((unit) => [unit, proof.createUnitAnswers()]),
  )
  const planner = new TurnPlanner({ ...observed, answers })
  const answer = (question: Question) => proof.answer(question, signal)
  for (const unit of units) {
    await computeAnswered(() => planner.add(unit), answer)
    // Other work, such as an answer to a webhook, gets a turn.
    await setImmediate()
  }
  return computeAnswered(() => planner.turn(), answer)
}

/** @throws what `work` throws */
export async function proveUnit<Result>(
  ports: ProofPorts,
  signal: AbortSignal,
  work: (questions: UnitQuestions) => Result,
): Promise<Result> {
  const proof = new Proof(ports)
  const answers = proof.createUnitAnswers()
  return computeAnswered(
    () => work(new UnitQuestions(answers, '')),
    (question) => proof.answer(question, signal),
  )
}

/** The answers of one plan. */
class Proof {
  private readonly ports: ProofPorts
  /** The step that the plan took last: its questions are of this one. */
  private last: ProvenStep | undefined

  constructor(ports: ProofPorts) {
    this.ports = ports
  }

  /** Each step may run as many programs as any other. */
  createUnitAnswers(): UnitAnswers {
    const steps = new Map<string, ProvenStep>()
    return {
      step: (name) => {
        const step = steps.get(name) ?? new ProvenStep(this.ports.renderer)
        steps.set(name, step)
        this.last = step
        return step
      },
    }
  }

  async answer(question: Question, signal: AbortSignal): Promise<void> {
    const { last, ports } = this
    if (last === undefined) throw new TypeError('a plan asks within a step')
    try {
      if (question.kind !== 'content') await last.take(question, signal)
      else {
        const { branch, changes } = question
        last.isContent = await hasContent(ports.repository, branch, changes, signal)
      }
    } catch (thrown) {
      signal.throwIfAborted()
      if (!(thrown instanceof Failure)) throw thrown
      last.failure = thrown
    }
  }
}

class ProvenStep extends CollectedAnswers implements StepAnswers {
  failure: Failure | undefined
  isContent: boolean | undefined
}
