/** A plan that lacks an answer ends with the question, and is computed again with the answer. */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { FunctionLibrary } from '@backporch/kpt/function'
import type { Failure } from '@backporch/kyaml/failure'
import type { BuildLibrary } from '../../sources/programs/package-builder.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import type { Observation, OpenBranch } from './observation.ts'

export interface Answers {
  readonly functions: FunctionLibrary
  readonly builds: BuildLibrary
  /** Functions needed more inputs than the limit: what was then treated as refused is unknown. */
  readonly exhausted: boolean
}

export interface StepAnswers extends Answers {
  readonly failure: Failure | undefined
  /** Undefined before the branch was read. */
  readonly isContent: boolean | undefined
}

/**
 * Steps are numbered in the order in which a plan takes them, which is the same whenever it is made again. A question is of the step that was taken
 * last.
 */
export interface UnitAnswers {
  step(name: string): StepAnswers
}

export function addAnswers(observation: Observation, { functions, builds }: Answers): Observation {
  const { built } = observation
  return {
    ...observation,
    functions,
    ...(built === undefined ? {} : { built: { ...built, library: builds } }),
  }
}

export class UnitQuestions {
  private readonly answers: UnitAnswers | undefined
  private readonly stage: string
  private steps = 0

  constructor(answers: UnitAnswers | undefined, stage: string) {
    this.answers = answers
    this.stage = stage
  }

  /**
   * @throws Unanswered; the failure of a function or program that may be transient; what `work`
   * throws
   */
  plan<Result>(
    observation: Observation,
    work: (observation: Observation, answers: Pick<Answers, 'exhausted'>) => Result,
  ): Result {
    const { answers } = this
    if (answers === undefined) return work(observation, { exhausted: false })
    const known = answers.step(this.createStepKey())
    if (known.failure !== undefined) throw known.failure
    return work(addAnswers(observation, known), known)
  }

  /**
   * Whether the branch changes exactly this against its base.
   * @throws Unanswered, and why it cannot be read
   */
  isContent(branch: OpenBranch, changes: readonly FileChange[]): boolean {
    const { answers } = this
    if (answers === undefined) return true
    const { failure, isContent } = answers.step(this.createStepKey())
    if (failure !== undefined) throw failure
    if (isContent === undefined) throw new Unanswered({ kind: 'content', branch, changes })
    return isContent
  }

  private createStepKey(): string {
    this.steps += 1
    return `${this.stage} ${this.steps}`
  }
}
