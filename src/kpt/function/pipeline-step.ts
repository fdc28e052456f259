import type { Failure } from '@backporch/kyaml/failure'
import type { YamlMap } from '@backporch/kyaml/yaml'
import type { PipelineFunction } from '../package/kptfile-value.ts'
import type { FunctionInput, FunctionOutput, FunctionResult } from './krm-function.ts'

export interface PipelineStep {
  /** From 0, in running order. */
  readonly number: number
  readonly folder: string
  readonly list: 'mutators' | 'validators'
  readonly index: number
  readonly function: PipelineFunction
  readonly kptfile: string
}

export interface FunctionCall {
  readonly step: PipelineStep
  readonly input: FunctionInput
}

export interface FailedAnswer {
  readonly failure: Failure
  /** If nothing may run this function: why another one may not run either. */
  readonly refusalOf?: (step: PipelineStep) => Failure | undefined
}

export type FunctionAnswer = FunctionOutput | FailedAnswer

/** Pure between two calls. */
export type RenderProcess<T> = Generator<FunctionCall, T, FunctionAnswer>

export interface StepRun {
  readonly step: PipelineStep
  readonly config: YamlMap | undefined
  readonly results: readonly FunctionResult[]
  readonly stderr: string
}

export function getFunctionName({ image, exec }: PipelineFunction): string {
  if (image !== undefined)
    return image
      .replace(/@.*$/, '')
      .replace(/:[^/:]*$/, '')
      .replace(/^.*\//, '')
  // A built-in function is a program run.ts.
  const [first = '', second = first] = (exec ?? '').trim().split(/\s+/)
  const program = (/^(?:.*\/)?node$/.test(first) ? second : first).replace(/\/run\.[cm]?[jt]s$/, '')
  return program.replace(/^.*\//, '').replace(/\.[cm]?[jt]s$/, '')
}

export function describeStep({ kptfile, list, index, function: each }: PipelineStep): string {
  return `${kptfile}:${each.line} (${list === 'mutators' ? 'mutator' : 'validator'} ${index + 1}, ${getFunctionName(each)})`
}
