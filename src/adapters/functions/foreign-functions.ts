/** Each new input runs twice, and the answer is cached. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { createRuntimeMissingFailure, type PipelineStep } from '@backporch/kpt/function'
import type { ChosenRuntime } from '@backporch/kpt/runtime'
import { Failure } from '@backporch/kyaml/failure'
import { findProgram } from '@backporch/system/find-program'
import { LRUCache } from 'lru-cache'
import { ContainerEngine, type EngineName } from './container-engine.ts'
import { type ForeignAnswer, isSameOutput, type PrintedOutput } from './foreign-output.ts'
import { createLimitFailure, createNonDeterministicFailure } from './function-failures.ts'
import type { FunctionLimits } from './function-limits.ts'
import { runModule } from './run-module.ts'
import { type ProgramEnd, runProgram } from './run-program.ts'

type ForeignRuntime = Extract<ChosenRuntime, { is: 'program' | 'image' | 'module' }>

interface ForeignOptions {
  readonly engine: EngineName | undefined
  /** For the PATH and the container engine. Programs get almost none of it. */
  readonly environment: { readonly [name: string]: string | undefined }
  readonly limits: FunctionLimits
  /** Milliseconds. */
  readonly pullTime: number
  /** Detects a time in the output of the second run. */
  readonly nextSecond: boolean
}

const KEPT_ANSWERS = 64 * 1024 * 1024
const FAILED = 256

export class ForeignFunctions {
  private readonly options: ForeignOptions
  readonly engine: ContainerEngine
  private readonly answers = new LRUCache<string, ForeignAnswer>({ maxSize: KEPT_ANSWERS })

  constructor(options: ForeignOptions) {
    this.options = options
    this.engine = new ContainerEngine(options)
  }

  findKnownAnswer(runtime: ForeignRuntime, input: string): ForeignAnswer | undefined {
    return this.answers.get(getAnswerKey(runtime, input))
  }

  /**
   * Does not cache broken limits and missing runtimes.
   * @throws the signal's reason
   */
  async answer(
    step: PipelineStep,
    runtime: ForeignRuntime,
    input: string,
    signal: AbortSignal,
  ): Promise<ForeignAnswer> {
    const known = this.findKnownAnswer(runtime, input)
    if (known !== undefined) return known
    const answer = await this.runTwice(step, runtime, input, signal)
    if (answer instanceof Failure) {
      const detail = { failure: answer.toJSON() }
      if (answer.code === 'BP1205')
        this.answers.set(getAnswerKey(runtime, input), detail, { size: FAILED })
      return detail
    }
    this.answers.set(getAnswerKey(runtime, input), answer, {
      size: 2 * (answer.stdout.length + answer.stderr.length) + FAILED,
    })
    return answer
  }

  private async runTwice(
    step: PipelineStep,
    runtime: ForeignRuntime,
    input: string,
    signal: AbortSignal,
  ): Promise<PrintedOutput | Failure> {
    const first = this.getPrintedOutput(step, await this.run(runtime, input, signal))
    if (first instanceof Failure) return first
    // From the end: a run that crosses a second may print either one.
    const ended = getPresentSecond()
    while (this.options.nextSecond && getPresentSecond() === ended)
      await wait(1000 - (Date.now() % 1000), undefined, { signal })
    const second = this.getPrintedOutput(step, await this.run(runtime, input, signal))
    if (second instanceof Failure) return second
    if (!isSameOutput(first, second))
      return createNonDeterministicFailure(
        step,
        'two runs with the same input returned different objects',
      )
    return first
  }

  private run(runtime: ForeignRuntime, input: string, signal: AbortSignal): Promise<ProgramEnd> {
    const { environment, limits } = this.options
    if (runtime.is === 'image') return this.engine.run(runtime.image, input, signal)
    if (runtime.is === 'module')
      return existsSync(runtime.file)
        ? runModule(runtime.file, input, limits, signal)
        : Promise.resolve(createMissingProgramEnd(runtime.file))
    const path = environment['PATH'] ?? ''
    const program = findProgram(runtime.program, path)
    if (program === undefined) return Promise.resolve(createMissingProgramEnd(runtime.program))
    return runProgram(
      {
        program,
        words: runtime.words,
        input,
        environment: { PATH: path, LANG: 'C.UTF-8', TZ: 'UTC' },
        limits,
      },
      signal,
    )
  }

  private getPrintedOutput(step: PipelineStep, end: ProgramEnd): PrintedOutput | Failure {
    if (end.is === 'ended') return end
    return end.is === 'not-started'
      ? createRuntimeMissingFailure(step, end.why, end.remedy ?? 'correct the reported error')
      : createLimitFailure(step, '', end.why)
  }
}

function createMissingProgramEnd(program: string): ProgramEnd {
  return program.includes('/')
    ? {
        is: 'not-started',
        why: `${program} does not exist or cannot be run`,
        remedy: 'install it, or correct the path',
      }
    : {
        is: 'not-started',
        why: `no program ${program} is on the PATH`,
        remedy: 'install it, or correct the PATH',
      }
}

function getAnswerKey(runtime: ForeignRuntime, input: string): string {
  const named =
    runtime.is === 'image'
      ? [runtime.image]
      : runtime.is === 'module'
        ? [runtime.file]
        : [runtime.program, ...runtime.words]
  return createHash('sha256')
    .update(JSON.stringify([runtime.is, named]))
    .update('\0')
    .update(input)
    .digest('base64')
}

function getPresentSecond(): number {
  return Math.trunc(Date.now() / 1000)
}
