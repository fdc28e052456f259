/** docs/adr/0051-validators-that-do-not-run.md */
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { YamlMap } from '@backporch/kyaml/yaml'
import {
  createSuccess,
  type FunctionOutput,
  type FunctionResult,
} from '../function/krm-function.ts'
import { describeStep, type PipelineStep } from '../function/pipeline-step.ts'

const NOT_RUN = 'backporch.dev/not-run'

export function answerNotRun(items: readonly YamlMap[], { why, remedy }: Failure): FunctionOutput {
  const message = `it did not run, so its results are unknown: ${why}; ${remedy}`
  return createSuccess(items, [{ message, severity: 'warning', tags: { [NOT_RUN]: 'true' } }])
}

export function listNotRunNotes(
  runs: readonly { readonly step: PipelineStep; readonly results: readonly FunctionResult[] }[],
): readonly Note[] {
  return runs.flatMap(({ step, results }) =>
    results
      .filter(({ tags }) => step.list === 'validators' && tags?.[NOT_RUN] === 'true')
      .map(
        ({ message }) =>
          ({ cause: 'validator-not-run', subject: describeStep(step), text: message }) as const,
      ),
  )
}
