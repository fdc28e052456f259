/** Runs the program or image that a computation needs, and then repeats the computation. */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import {
  describeStep,
  type FunctionAnswer,
  type FunctionCall,
  type FunctionLibrary,
  formatFunctionInput,
  getFunctionName,
} from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import type { Answers } from '../../plan/observation/turn-questions.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { type Build, type BuildLibrary, NO_BUILDS } from '../../sources/programs/package-builder.ts'
import {
  attempt,
  computeAnswered,
  type Question,
  Unanswered,
} from '../../sources/programs/questions.ts'

export interface ProofPorts {
  readonly repository: PackageRepository
  readonly renderer: PackageRenderer
}

const MOST_ANSWERS = 50

/**
 * A function that permanently gives no answer has refused its input: an edit that it cannot render
 * is not made, and a package fails. The same holds for new inputs after the fiftieth run.
 * @param compute pure: it is called again after each answer
 * @throws what `compute` throws, the failure of a function or program that may be transient, BP1209
 * for too many builds
 */
export async function computeWithAnswers<T>(
  renderer: PackageRenderer,
  signal: AbortSignal,
  compute: (answers: Answers) => T,
): Promise<T> {
  const answers = new CollectedAnswers(renderer)
  return computeAnswered(
    () => compute(answers),
    (question) => answers.take(question, signal),
  )
}

export class CollectedAnswers implements Answers {
  readonly functions: FunctionLibrary = { answer: (call) => this.answer(call) }
  readonly builds: BuildLibrary
  exhausted = false
  private readonly renderer: PackageRenderer
  private readonly refused = new Map<string, Failure>()
  private runs = 0

  constructor(renderer: PackageRenderer) {
    this.renderer = renderer
    this.builds = renderer.builder?.library ?? NO_BUILDS
  }

  /** @throws Failure where there is no answer that can be stored, or after the fiftieth run */
  async take(question: Question, signal: AbortSignal): Promise<void> {
    switch (question.kind) {
      case 'builds':
        return this.build(question.builds, signal)
      case 'function':
        return this.fetch(question.call, signal)
      case 'server':
        return question.ask(signal)
      case 'content':
        throw new TypeError('only the plan of a unit asks for the content of a branch')
    }
  }

  private async fetch(call: FunctionCall, signal: AbortSignal): Promise<void> {
    if (this.runs === MOST_ANSWERS) throw createTooManyAnswersFailure(call)
    this.runs += 1
    try {
      await this.renderer.fetch(call, signal)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.retry === 'backoff') throw thrown
      this.refused.set(getCallKey(call), thrown)
    }
  }

  /**
   * @throws Failure BP1208 or BP1209 if there is no answer to cache, and BP1209 after the fiftieth
   * run
   */
  private async build(builds: readonly Build[], signal: AbortSignal): Promise<void> {
    const { builder } = this.renderer
    // A build that did not run must not count as failed: an edit does not move what fails before
    // and after it.
    if (builder === undefined || this.runs === MOST_ANSWERS)
      throw createTooManyBuildsFailure(builds)
    this.runs += 1
    const all = await Promise.all(builds.map((build) => builder.build(build, signal)))
    for (const answer of all)
      if ('failure' in answer && answer.failure.retry === 'backoff')
        throw new Failure(answer.failure)
  }

  private answer(call: FunctionCall): FunctionAnswer {
    const known = this.refused.size === 0 ? undefined : this.refused.get(getCallKey(call))
    if (known !== undefined) return { failure: known }
    const tried = attempt(() => this.renderer.library.answer(call))
    if ('value' in tried) return tried.value
    if (this.runs < MOST_ANSWERS) throw new Unanswered(tried.question)
    this.exhausted = true
    return { failure: createTooManyAnswersFailure(call) }
  }
}

function getCallKey({ step, input }: FunctionCall): string {
  const { image, exec } = step.function
  return JSON.stringify([image, exec, describeStep(step), formatFunctionInput(input)])
}

function createTooManyBuildsFailure([build]: readonly Build[]): Failure {
  return new Failure({
    code: 'BP1209',
    what: 'the plan needs the program that renders the package too often',
    where: build?.folder || '.',
    why: `it ran ${MOST_ANSWERS} times, and the plan needs more`,
    remedy: 'decide about fewer changes at once',
    retry: 'on-change',
  })
}

function createTooManyAnswersFailure({ step }: FunctionCall): Failure {
  return new Failure({
    code: 'BP1203',
    what: `the plan needs the function ${getFunctionName(step.function)} too often`,
    where: describeStep(step),
    why: `it ran for ${MOST_ANSWERS} different inputs, and the plan needs more`,
    remedy: 'decide about fewer changes at once, or use a function that is built in',
    retry: 'on-change',
  })
}
