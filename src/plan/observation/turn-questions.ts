/**
 * Answers that a plan needs from a run of a function or a program, or from reading a branch. A plan that lacks an answer ends with
 * the question; with the answer it is computed again and goes on.
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { FunctionCall, FunctionLibrary } from '@backporch/kpt/function'
import type { Failure } from '@backporch/kyaml/failure'
import { MissingServerAnswer } from '../../drift/authored/object-manifest.ts'
import { MissingAnswer } from '../../sources/kpt/render/package-renderer.ts'
import {
  type Build,
  type BuildLibrary,
  MissingBuilds,
} from '../../sources/programs/package-builder.ts'
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

/** Steps are numbered in the order in which a plan takes them, which is the same whenever it is made again. */
export interface UnitAnswers {
  step(name: string): StepAnswers
}

export type PlanQuestion = { readonly answers: UnitAnswers; readonly step: string } & (
  | { readonly kind: 'function'; readonly call: FunctionCall }
  | { readonly kind: 'builds'; readonly builds: readonly Build[] }
  | { readonly kind: 'server'; readonly missing: MissingServerAnswer }
  | {
      readonly kind: 'content'
      readonly branch: OpenBranch
      readonly changes: readonly FileChange[]
    }
)

/** No failure: code that plans units does not catch it. */
export class Unanswered extends Error {
  readonly question: PlanQuestion

  constructor(question: PlanQuestion) {
    super('the plan lacks an answer')
    this.name = 'Unanswered'
    this.question = question
  }
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
    const step = this.next()
    const known = answers.step(step)
    if (known.failure !== undefined) throw known.failure
    try {
      return work(asking(observation, known), known)
    } catch (thrown) {
      if (thrown instanceof MissingAnswer)
        throw new Unanswered({ answers, step, kind: 'function', call: thrown.call })
      if (thrown instanceof MissingServerAnswer)
        throw new Unanswered({ answers, step, kind: 'server', missing: thrown })
      if (thrown instanceof MissingBuilds)
        throw new Unanswered({ answers, step, kind: 'builds', builds: thrown.builds })
      throw thrown
    }
  }

  /** Whether the branch changes exactly this against its base. @throws Unanswered, and why it cannot be read */
  isContent(branch: OpenBranch, changes: readonly FileChange[]): boolean {
    const { answers } = this
    if (answers === undefined) return true
    const step = this.next()
    const { failure, isContent } = answers.step(step)
    if (failure !== undefined) throw failure
    if (isContent === undefined)
      throw new Unanswered({ answers, step, kind: 'content', branch, changes })
    return isContent
  }

  private next(): string {
    this.steps += 1
    return `${this.stage} ${this.steps}`
  }
}
