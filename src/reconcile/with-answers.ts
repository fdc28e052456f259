/** Plans that render: a program or an image that a rendering needs runs in between, and the plan is made again. */
import { Failure } from '../failure.ts'
import { MissingBuilds } from '../render/package-builder.ts'
import { MissingAnswer, type PackageRenderer } from '../render/package-renderer.ts'
import { describeStep, functionName } from '../render/pipeline-step.ts'

/** Inputs that one plan may want answered. */
const MOST_ANSWERS = 50

/**
 * @param compute pure: it is called again after each answer
 * @throws what `compute` throws, Failure BP1201 or BP1203 of a function that gives no answer, and BP1203 after the fiftieth
 */
export async function withAnswers<T>(renderer: PackageRenderer, signal: AbortSignal, compute: () => T): Promise<T> {
  for (let answers = 0; ; answers += 1) {
    try {
      return compute()
    } catch (thrown) {
      if (thrown instanceof MissingBuilds) await runBuilds(renderer, thrown, answers, signal)
      else if (!(thrown instanceof MissingAnswer)) throw thrown
      else if (answers === MOST_ANSWERS) throw tooManyAnswers(thrown)
      else await renderer.fetch(thrown.call, signal)
    }
  }
}

/** @throws Failure BP1208 or BP1209 where there is no answer that could be kept */
async function runBuilds({ builder }: PackageRenderer, missing: MissingBuilds, answers: number, signal: AbortSignal): Promise<void> {
  if (builder === undefined || answers === MOST_ANSWERS) throw tooManyBuilds(missing)
  const all = await Promise.all(missing.builds.map((build) => builder.build(build, signal)))
  for (const answer of all) if ('failure' in answer && answer.failure.retry === 'backoff') throw new Failure(answer.failure)
}

function tooManyBuilds({ builds: [build] }: MissingBuilds): Failure {
  return new Failure({
    code: 'BP1209',
    what: 'the plan needs the program that renders the package too often',
    where: build?.folder || '.',
    why: `it ran ${MOST_ANSWERS} times, and the plan needs more`,
    remedy: 'decide about fewer changes at once',
    retry: 'on-change',
  })
}

function tooManyAnswers({ call: { step } }: MissingAnswer): Failure {
  return new Failure({
    code: 'BP1203',
    what: `the plan needs the function ${functionName(step.function)} too often`,
    where: describeStep(step),
    why: `it ran for ${MOST_ANSWERS} different inputs, and the plan needs more`,
    remedy: 'decide about fewer changes at once, or use a function that is built in',
    retry: 'on-change',
  })
}
