import { Failure } from '@backporch/kyaml/failure'
import {
  describeStep,
  type FunctionAnswer,
  type FunctionCall,
  getFunctionName,
  type PipelineStep,
  type RenderProcess,
} from './pipeline-step.ts'

/** Equal calls have equal answers. May throw if it cannot answer at once. */
export interface FunctionLibrary {
  answer(call: FunctionCall): FunctionAnswer
}

export function answerCalls<T>(process: RenderProcess<T>, library: FunctionLibrary): T {
  let state = process.next()
  while (state.done !== true) state = process.next(library.answer(state.value))
  return state.value
}

export const NO_FUNCTIONS: FunctionLibrary = {
  answer: ({ step }) => ({ failure: createRuntimeMissingFailure(step, 'no function is built in') }),
}

const ALLOW =
  'use a function that is built in, or allow its program or image with --allow-exec or --allow-image'

/** A mutator is never skipped: without it the output would be wrong. */
export function createRuntimeMissingFailure(
  step: PipelineStep,
  why: string,
  remedy = ALLOW,
): Failure {
  const { image, exec } = step.function
  return new Failure({
    code: 'BP1201',
    what: `RuntimeMissing(${getFunctionName(step.function)}): no available runtime can run the function`,
    where: describeStep(step),
    why: `${image === undefined ? `the program ${JSON.stringify(exec?.slice(0, 120) ?? '')}` : `the image ${image}`}: ${why}`,
    remedy,
    retry: 'on-change',
  })
}
