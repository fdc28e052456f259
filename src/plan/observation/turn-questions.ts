/**
 * Answers that a plan needs from a run of a function or a program, or from reading a branch. A plan that lacks an answer ends with
 * the question; with the answer it is computed again and goes on.
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { FunctionLibrary } from '@backporch/kpt/function'
import type { Failure } from '@backporch/kyaml/failure'
import type { BuildLibrary } from '../../sources/programs/package-builder.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import type { Observation, OpenBranch } from './observation.ts'

/** What is known at one step of a plan. */
export interface Answers {
  readonly functions: FunctionLibrary
  readonly builds: BuildLibrary
  /** Whether functions were needed for more inputs than they may be: what was then taken for refused is not known. */
  readonly exhausted: boolean
}

export interface StepAnswers extends Answers {
  /** Why a question of the step has no answer now. */
  readonly failure: Failure | undefined
  /** Whether a branch has the content that the step needs; undefined before it was read. */
  readonly isContent: boolean | undefined
}

/**
 * Steps are numbered in the order in which a plan takes them, which is the same whenever it is made again. A question is of the step that was taken
 * last.
 */
export interface UnitAnswers {
  step(name: string): StepAnswers
}

/** The observation, for a plan that knows these. */
export function asking(observation: Observation, { functions, builds }: Answers): Observation {
  const { built } = observation
  return {
    ...observation,
    functions,
    ...(built === undefined ? {} : { built: { ...built, library: builds } }),
  }
}

/** The steps of one plan of one unit. */
export class UnitQuestions {
  private readonly answers: UnitAnswers | undefined
  private readonly stage: string
  private steps = 0

  /** @param answers undefined: the observation alone has to be enough */
  constructor(answers: UnitAnswers | undefined, stage: string) {
    this.answers = answers
    this.stage = stage
  }

  /** @throws Unanswered; the failure of a function or a program that may be gone the next time; what `work` throws */
  plan<Result>(
    observation: Observation,
    work: (observation: Observation, answers: Pick<Answers, 'exhausted'>) => Result,
  ): Result {
    const { answers } = this
    if (answers === undefined) return work(observation, { exhausted: false })
    const known = answers.step(this.next())
    if (known.failure !== undefined) throw known.failure
    return work(asking(observation, known), known)
  }

  /** Whether the branch changes exactly this against its base. @throws Unanswered, and why it cannot be read */
  isContent(branch: OpenBranch, changes: readonly FileChange[]): boolean {
    const { answers } = this
    if (answers === undefined) return true
    const { failure, isContent } = answers.step(this.next())
    if (failure !== undefined) throw failure
    if (isContent === undefined) throw new Unanswered({ kind: 'content', branch, changes })
    return isContent
  }

  private next(): string {
    this.steps += 1
    return `${this.stage} ${this.steps}`
  }
}
