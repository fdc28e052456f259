/** A thread that breaks a limit or fails affects only its own package. */
import { deserialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { PipelineStep } from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { Deadline } from '@backporch/system/deadline'
import type { TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import type { ForeignAnswer } from './foreign-output.ts'
import { createLimitFailure } from './function-failures.ts'
import { describeSize, describeTime } from './function-limits.ts'
import type { FromWorker, SentRendering, ToWorker, WorkerStart } from './worker-messages.ts'

interface WorkersOptions {
  readonly entry: URL
  readonly width: number
  /** JavaScript heap per thread, in bytes. */
  readonly memory: number
  readonly start: WorkerStart
  readonly onCall: (
    step: PipelineStep,
    input: string,
    signal: AbortSignal,
  ) => Promise<ForeignAnswer>
}

export interface SizedRendering {
  readonly rendering: TurnRendering
  readonly bytes: number
}

const MEBIBYTE = 1024 * 1024

export class RenderWorkers {
  private readonly options: WorkersOptions
  private readonly idle: Worker[] = []
  private readonly waiting: (() => void)[] = []
  private busy = 0

  constructor(options: WorkersOptions) {
    this.options = options
  }

  /**
   * A broken limit is reported in the rendering.
   * @throws Failure BP9001 if the worker fails; the signal's reason
   */
  async render(
    packagePath: string,
    files: PackageFiles,
    signal: AbortSignal,
  ): Promise<SizedRendering> {
    while (this.busy >= this.options.width)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    this.busy += 1
    try {
      signal.throwIfAborted()
      return await this.renderIn(this.idle.pop() ?? this.startWorker(), packagePath, files, signal)
    } finally {
      this.busy -= 1
      this.waiting.shift()?.()
    }
  }

  private startWorker(): Worker {
    const { entry, memory, start } = this.options
    const worker = new Worker(entry, {
      workerData: start,
      resourceLimits: { maxOldGenerationSizeMb: memory / MEBIBYTE },
      // A rendering must not depend on this process.
      env: {},
      execArgv: [],
    })
    worker.unref()
    // A failure of an idle worker is harmless.
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      const index = this.idle.indexOf(worker)
      if (index !== -1) this.idle.splice(index, 1)
    })
    return worker
  }

  private renderIn(
    worker: Worker,
    packagePath: string,
    files: PackageFiles,
    signal: AbortSignal,
  ): Promise<SizedRendering> {
    const { start, memory, onCall } = this.options
    const { milliseconds } = start.limits
    const stopped = new AbortController()
    return new Promise((resolve, reject) => {
      let step: PipelineStep | undefined
      let limit: Deadline | undefined
      const post = (message: ToWorker): void => worker.postMessage(message)
      const finish = (after: 'kept' | 'ended', settle: () => void): void => {
        limit?.stop()
        signal.removeEventListener('abort', abort)
        worker
          .off('message', hear)
          .off('messageerror', unreadable)
          .off('error', fault)
          .off('exit', exit)
        stopped.abort(new Error('the rendering has ended'))
        if (after === 'kept') {
          worker.unref()
          this.idle.push(worker)
        } else worker.terminate().catch(() => undefined)
        settle()
      }
      const fail = (failure: Failure): void => {
        const rendering: TurnRendering = { failures: [failure] }
        finish('ended', () => resolve({ rendering, bytes: 0 }))
      }
      const breakDown = (why: string): void =>
        finish('ended', () => reject(createBrokenThreadFailure(packagePath, why)))
      const late = (): void =>
        fail(
          createLimitFailure(
            step,
            packagePath,
            `it did not end within ${describeTime(milliseconds)}, and was stopped`,
          ),
        )
      const abort = (): void => finish('ended', () => reject(signal.reason))
      const hear = (message: FromWorker): void => {
        limit?.stop()
        if (message.is === 'busy') {
          step = message.step
          limit = new Deadline(milliseconds, late)
        } else if (message.is === 'call') {
          onCall(message.step, message.input, AbortSignal.any([signal, stopped.signal])).then(
            (answer) => (stopped.signal.aborted ? undefined : post({ is: 'answer', answer })),
            (thrown) =>
              stopped.signal.aborted ? undefined : finish('ended', () => reject(thrown)),
          )
        } else if (message.is === 'done') {
          const { rendering: bytes } = message
          finish('kept', () =>
            resolve({ rendering: readRendering(bytes), bytes: bytes.byteLength }),
          )
        } else breakDown(message.why)
      }
      const unreadable = (): void => breakDown('its message could not be read')
      const fault = (error: NodeJS.ErrnoException): void => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
          fail(
            createLimitFailure(
              step,
              packagePath,
              `it needs more than ${describeSize(memory)} of memory`,
            ),
          )
        else breakDown(`${error.name}: ${error.message}`)
      }
      const exit = (code: number): void => breakDown(`it ended with code ${code}`)
      signal.addEventListener('abort', abort, { once: true })
      worker.on('message', hear).on('messageerror', unreadable).on('error', fault).on('exit', exit)
      worker.ref()
      post({ is: 'render', packagePath, files })
    })
  }
}

function readRendering(bytes: Uint8Array): TurnRendering {
  const sent = deserialize(bytes) as SentRendering
  if (!('failures' in sent)) return sent
  const [first, ...others] = sent.failures.map((detail) => new Failure(detail))
  if (first === undefined) throw new TypeError('a rendering that failed has a failure')
  return { failures: [first, ...others] }
}

function createBrokenThreadFailure(packagePath: string, why: string): Failure {
  return new Failure({
    code: 'BP9001',
    what: 'the thread that renders the package crashed',
    where: packagePath || '.',
    why,
    remedy: 'run again, and report it with the package if it happens again',
    retry: 'backoff',
  })
}
