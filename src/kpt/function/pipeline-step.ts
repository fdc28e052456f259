/** One function of a package's pipeline, and the calls of a render to the runner of functions. */
import type { Failure } from '@backporch/kyaml/failure'
import type { YamlMap } from '@backporch/kyaml/yaml'
import type { PipelineFunction } from '../package/kptfile-value.ts'
import type { FunctionInput, FunctionOutput, FunctionResult } from './krm-function.ts'

export interface PipelineStep {
  /** Number in the whole render, from 0, in running order. */
  readonly number: number
  /** Folder of the pipeline's package, from the outermost package. */
  readonly folder: string
  readonly list: 'mutators' | 'validators'
  /** Index in the list. */
  readonly index: number
  readonly function: PipelineFunction
  /** Path of the Kptfile from the root of the repository. */
  readonly kptfile: string
}

export interface FunctionCall {
  readonly step: PipelineStep
  readonly input: FunctionInput
}

/** The failure of a function that could not run or broke a limit. */
export interface FailedAnswer {
  readonly failure: Failure
  /** Of a function that nothing may run: why another one may not run either; undefined for one that may. */
  readonly refusalOf?: (step: PipelineStep) => Failure | undefined
}

/** The output of a function, or its failure. */
export type FunctionAnswer = FunctionOutput | FailedAnswer

/** A computation that yields each function call and receives the answer. It is pure between two calls. */
export type RenderProcess<T> = Generator<FunctionCall, T, FunctionAnswer>

export interface StepRun {
  readonly step: PipelineStep
  /** The config that the function received; undefined without one. */
  readonly config: YamlMap | undefined
  readonly results: readonly FunctionResult[]
  readonly stderr: string
}

/** Short name for people: the last part of an image without its tag, the name of a program without its folder. */
export function functionName({ image, exec }: PipelineFunction): string {
  if (image !== '')
    return image
      .replace(/@.*$/, '')
      .replace(/:[^/:]*$/, '')
      .replace(/^.*\//, '')
  // A built-in function is a program run.ts in a folder of its name.
  const [first = '', second = first] = exec.trim().split(/\s+/)
  const program = (/^(?:.*\/)?node$/.test(first) ? second : first).replace(/\/run\.[cm]?[jt]s$/, '')
  return program.replace(/^.*\//, '').replace(/\.[cm]?[jt]s$/, '')
}

/** `apps/web/Kptfile:12 (mutator 2, set-labels)`, counted from 1. */
export function describeStep({ kptfile, list, index, function: each }: PipelineStep): string {
  return `${kptfile}:${each.line} (${list === 'mutators' ? 'mutator' : 'validator'} ${index + 1}, ${functionName(each)})`
}
