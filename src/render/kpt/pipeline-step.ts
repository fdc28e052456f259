/** One function of one package's pipeline, and the questions a render asks of whoever runs functions. */
import type { Failure } from '../../failure.ts'
import type { PipelineFunction } from '../../package/kptfile.ts'
import type { YamlMap } from '../../yaml/yaml-node.ts'
import type { FunctionInput, FunctionOutput, FunctionResult } from './krm-function.ts'

export interface PipelineStep {
  /** Number in the whole render, from 0, in the order in which functions run. */
  readonly number: number
  /** Of the package whose pipeline it is, from the outermost package's folder. */
  readonly folder: string
  readonly list: 'mutators' | 'validators'
  /** Place in the list, from 0. */
  readonly index: number
  readonly function: PipelineFunction
  /** Path of the Kptfile from the root of the repository. */
  readonly kptfile: string
}

export interface FunctionCall {
  readonly step: PipelineStep
  readonly input: FunctionInput
}

/** What running a function gives; a failure where it could not be run, or broke a limit. */
export type FunctionAnswer = FunctionOutput | { readonly failure: Failure }

/** A computation that needs functions run: it yields each call and is given the answer. Pure between two calls. */
export type RenderProcess<T> = Generator<FunctionCall, T, FunctionAnswer>

/** A step that ran. */
export interface StepRun {
  readonly step: PipelineStep
  /** As the function got it; undefined where it has none. */
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
  // Functions of this repository are programs named run.ts, in a folder of their name.
  const [first = '', second = first] = exec.trim().split(/\s+/)
  const program = (/^(?:.*\/)?node$/.test(first) ? second : first).replace(/\/run\.[cm]?[jt]s$/, '')
  return program.replace(/^.*\//, '').replace(/\.[cm]?[jt]s$/, '')
}

/** `apps/web/Kptfile:12 (mutator 2, set-labels)`, counted from 1. */
export function describeStep({ kptfile, list, index, function: each }: PipelineStep): string {
  return `${kptfile}:${each.line} (${list === 'mutators' ? 'mutator' : 'validator'} ${index + 1}, ${functionName(each)})`
}
