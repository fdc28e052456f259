/** Packages with a pipeline run in worker threads. */
import {
  answerCalls,
  type FunctionAnswer,
  type FunctionCall,
  type FunctionLibrary,
  formatFunctionInput,
  NO_FUNCTIONS,
  type PipelineStep,
} from '@backporch/kpt/function'
import { PackageSources } from '@backporch/kpt/package'
import {
  type AllowedFunctions,
  answerNotRun,
  type BuiltIns,
  chooseRuntime,
  createRefusedAnswer,
} from '@backporch/kpt/runtime'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { BUILT_IN } from '../../../functions/built-in-functions.ts'
import type { PackageRenderer, TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import { renderPackage } from '../../sources/kpt/render/render-package.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import type { EngineName } from './container-engine.ts'
import { ForeignFunctions } from './foreign-functions.ts'
import { type ForeignAnswer, readForeignOutput } from './foreign-output.ts'
import { FUNCTION_LIMITS, type FunctionLimits } from './function-limits.ts'
import { RenderWorkers, type SizedRendering } from './render-workers.ts'
import { computeContentKey, RenderingCache } from './rendering-cache.ts'

declare const BACKPORCH_VERSION: string | undefined

interface RendererOptions {
  readonly allowed: AllowedFunctions
  readonly engine: EngineName | undefined
  readonly environment: { readonly [name: string]: string | undefined }
  readonly limits?: FunctionLimits
  /** JavaScript heap per thread, in bytes. */
  readonly workerMemory?: number
  /** Bytes. */
  readonly remembered?: number
  /** For tests. The built-in functions must be those of the entry. */
  readonly worker?: { readonly entry: URL; readonly builtIns: BuiltIns }
  readonly nextSecond?: boolean
}

/** As in kpt, any text turns it off, even `0`. */
const DISABLE_ATTRIBUTION = 'KPT_DISABLE_ATTRIBUTION'
const THREADS = 2
const MEBIBYTE = 1024 * 1024
const PULL_TIME = 300_000

export class WorkerRenderer implements PackageRenderer {
  readonly attributed: boolean
  readonly library: FunctionLibrary = { answer: (call) => this.answerAtOnce(call) }
  private readonly allowed: AllowedFunctions
  private readonly limits: FunctionLimits
  private readonly builtIns: BuiltIns
  private readonly foreign: ForeignFunctions
  private readonly workers: RenderWorkers
  private readonly cache: RenderingCache

  /** @throws Failure BP1001 if the requested container engine is missing */
  constructor(options: RendererOptions) {
    const {
      allowed,
      engine,
      environment,
      limits = FUNCTION_LIMITS,
      worker,
      nextSecond = true,
    } = options
    this.attributed = !environment[DISABLE_ATTRIBUTION]
    this.allowed = allowed
    this.limits = limits
    this.builtIns = worker?.builtIns ?? BUILT_IN
    this.foreign = new ForeignFunctions({
      engine,
      environment,
      limits,
      pullTime: PULL_TIME,
      nextSecond,
    })
    if (engine !== undefined && this.foreign.engine.find() === undefined)
      throw createNoEngineFailure(engine)
    this.workers = new RenderWorkers({
      entry: worker?.entry ?? getWorkerEntry(),
      width: THREADS,
      memory: options.workerMemory ?? 512 * MEBIBYTE,
      start: { allowed, limits, attributed: this.attributed },
      onCall: (step, input, signal) => this.answerLater(step, input, signal),
    })
    this.cache = new RenderingCache(options.remembered ?? 64 * MEBIBYTE)
  }

  async render(
    packagePath: string,
    files: PackageFiles,
    signal: AbortSignal,
  ): Promise<TurnRendering> {
    const make = async (stop: AbortSignal): Promise<SizedRendering> => {
      if (new PackageSources(packagePath, files).hasPipeline)
        return this.workers.render(packagePath, files, stop)
      const bytes = files.reduce((sum, { content }) => sum + content.length, 0)
      return { rendering: answerCalls(renderPackage(packagePath, files), NO_FUNCTIONS), bytes }
    }
    return this.cache.get(computeContentKey(packagePath, files), make, signal)
  }

  async fetch({ step, input }: FunctionCall, signal: AbortSignal): Promise<void> {
    const answer = await this.answerLater(step, formatFunctionInput(input), signal)
    // An uncached answer would be requested endlessly.
    if ('failure' in answer && answer.failure.code !== 'BP1205') throw new Failure(answer.failure)
  }

  private answerAtOnce(call: FunctionCall): FunctionAnswer {
    const { step, input } = call
    const chosen = chooseRuntime(step, this.allowed, this.builtIns)
    if (chosen.is === 'built-in') return chosen.run(input)
    if (chosen.is === 'not-run') return answerNotRun(input.items, chosen.failure)
    if (chosen.is === 'refused')
      return createRefusedAnswer(chosen.failure, this.allowed, this.builtIns)
    const known = this.foreign.findKnownAnswer(chosen, formatFunctionInput(input))
    if (known === undefined) throw new Unanswered({ kind: 'function', call })
    return 'failure' in known
      ? { failure: new Failure(known.failure) }
      : readForeignOutput(step, input.items, known, this.limits)
  }

  private async answerLater(
    step: PipelineStep,
    input: string,
    signal: AbortSignal,
  ): Promise<ForeignAnswer> {
    const chosen = chooseRuntime(step, this.allowed, this.builtIns)
    if (chosen.is === 'refused') return { failure: chosen.failure.toJSON() }
    if (chosen.is === 'built-in' || chosen.is === 'not-run')
      throw new TypeError('a built-in function, and one that does not run, is answered at once')
    return this.foreign.answer(step, chosen, input, signal)
  }
}

/** A source file, or in the published package the bundler's name for it. */
function getWorkerEntry(): URL {
  return typeof BACKPORCH_VERSION === 'string'
    ? new URL('./render-worker.mjs', import.meta.url)
    : new URL('./render-worker.ts', import.meta.url)
}

function createNoEngineFailure(engine: EngineName): Failure {
  return new Failure({
    code: 'BP1001',
    what: `the container engine ${engine} cannot be used`,
    where: '--container-engine',
    why: `${engine} is not on the PATH`,
    remedy: 'install it, or name the other one',
  })
}
