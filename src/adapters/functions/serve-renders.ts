import { serialize } from 'node:v8'
import type { MessagePort } from 'node:worker_threads'
import {
  describeStep,
  type FunctionAnswer,
  type FunctionCall,
  formatFunctionInput,
  type PipelineStep,
} from '@backporch/kpt/function'
import {
  answerNotRun,
  type BuiltIns,
  chooseRuntime,
  createRefusedAnswer,
} from '@backporch/kpt/runtime'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { renderPackage } from '../../sources/kpt/render/render-package.ts'
import {
  type ForeignAnswer,
  listIdentityRemarks,
  mapNamesById,
  readForeignOutput,
} from './foreign-output.ts'
import type { FromWorker, SentRendering, ToWorker, WorkerStart } from './worker-messages.ts'

export function serveRenders(
  port: MessagePort,
  { allowed, limits, attributed }: WorkerStart,
  builtIns: BuiltIns,
): void {
  let answered: ((answer: ForeignAnswer) => void) | undefined
  const post = (message: FromWorker): void => port.postMessage(message)

  port.on('message', (message: ToWorker) => {
    if (message.is === 'answer') answered?.(message.answer)
    else
      render(message.packagePath, message.files).then(
        (rendering) => post({ is: 'done', rendering: serialize(rendering) }),
        (thrown) =>
          post({
            is: 'fault',
            why: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown),
          }),
      )
  })

  async function render(packagePath: string, files: PackageFiles): Promise<SentRendering> {
    post({ is: 'busy', step: undefined })
    const notes: Note[] = []
    const process = renderPackage(packagePath, files, { attributed })
    let state = process.next()
    while (state.done !== true) {
      const answer = answerCall(state.value, notes)
      state = process.next(answer instanceof Promise ? await answer : answer)
    }
    const rendering = state.value
    if ('failures' in rendering)
      return { failures: rendering.failures.map((failure) => failure.toJSON()) }
    const { desired, kptfile, unread } = rendering
    return { desired: { ...desired, notes: [...desired.notes, ...notes] }, kptfile, unread }
  }

  function answerCall(
    { step, input }: FunctionCall,
    notes: Note[],
  ): FunctionAnswer | Promise<FunctionAnswer> {
    const chosen = chooseRuntime(step, allowed, builtIns)
    if (chosen.is === 'refused') return createRefusedAnswer(chosen.failure, allowed, builtIns)
    if (chosen.is === 'not-run') return answerNotRun(input.items, chosen.failure)
    if ('remark' in chosen)
      notes.push({ cause: 'function-release', subject: describeStep(step), text: chosen.remark })
    if (chosen.is === 'built-in') {
      post({ is: 'busy', step })
      const output = chosen.run(input)
      post({ is: 'busy', step: undefined })
      return output
    }
    return ask(step, formatFunctionInput(input)).then((answer) => {
      post({ is: 'busy', step: undefined })
      if ('failure' in answer) return { failure: new Failure(answer.failure) }
      const read = readForeignOutput(step, input.items, answer, limits)
      if (!('failure' in read) && step.list === 'mutators') {
        const remarks = listIdentityRemarks(mapNamesById(input.items), read.items)
        if (remarks.length > 0)
          notes.push({
            cause: 'function-identity',
            subject: describeStep(step),
            text: `it ${remarks.join(', ')}`,
          })
      }
      return read
    })
  }

  function ask(step: PipelineStep, input: string): Promise<ForeignAnswer> {
    return new Promise((resolve) => {
      answered = resolve
      post({ is: 'call', step, input })
    })
  }
}
