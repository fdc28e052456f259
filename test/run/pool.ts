/** Runs files of tests in a few processes, whatever their tier: files that compute beside files that wait for servers. */
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { type FileResult, type TestResult, WorkerProcess } from './worker-process.ts'

export interface Job {
  /** Relative to the repository's root. */
  readonly file: string
  /** Its tests wait more than they compute. */
  readonly isWaiting: boolean
  /** It has a process of its own. */
  readonly isAlone: boolean
}

export interface PoolEvents<Item extends Job> {
  readonly began: (job: Item) => void
  readonly tested: (job: Item, result: TestResult) => void
  readonly ended: (job: Item, result: FileResult) => void
  /** An error that came after the end of its test, when another file may have been tested. */
  readonly failedLate: (text: string) => void
}

export interface PoolOptions<Item extends Job> {
  readonly root: string
  /** Processes for files that compute (and, where none of these is left, for others), and for files that wait. */
  readonly places: { readonly computing: number; readonly waiting: number }
  /** Whether what a file needs is there, will be there, or cannot be had. */
  readonly isReady: (job: Item) => 'now' | 'later' | 'never'
  /** Variables of the environment of every file. */
  readonly environment: () => Readonly<Record<string, string>>
  readonly events: PoolEvents<Item>
  /** Ends all processes. */
  readonly signal: AbortSignal
}

export class Pool<Item extends Job> {
  readonly #pending: Item[]
  readonly #options: PoolOptions<Item>
  readonly #changes = new EventEmitter()

  /** @param jobs in the order in which they begin, where what they need is there */
  constructor(jobs: readonly Item[], options: PoolOptions<Item>) {
    this.#pending = [...jobs]
    this.#options = options
    this.#changes.setMaxListeners(0)
  }

  /** An answer of `isReady` may have changed. */
  lookAgain(): void {
    this.#changes.emit('change')
  }

  /** Resolves when every file that can be tested was tested. */
  async run(): Promise<void> {
    const { places, signal } = this.#options
    const interrupt = (): void => this.lookAgain()
    signal.addEventListener('abort', interrupt)
    await Promise.all([
      ...Array.from({ length: places.computing }, () => this.#runPlace(true)),
      ...Array.from({ length: places.waiting }, () => this.#runPlace(false)),
    ])
    signal.removeEventListener('abort', interrupt)
  }

  async #runPlace(isComputing: boolean): Promise<void> {
    const { signal } = this.#options
    let shared: WorkerProcess | undefined
    while (!signal.aborted) {
      const job = this.#next(isComputing)
      if (job === 'none') break
      if (job === 'later') {
        await once(this.#changes, 'change')
        continue
      }
      const worker: WorkerProcess =
        (job.isAlone ? undefined : shared) ?? new WorkerProcess(this.#options.root)
      if (!job.isAlone) shared = worker
      const isUsable = await this.#test(worker, job)
      if (isUsable && !job.isAlone) continue
      if (!job.isAlone) shared = undefined
      await this.#end(worker)
    }
    if (shared !== undefined) await this.#end(shared)
  }

  #next(isComputing: boolean): Item | 'later' | 'none' {
    const { isReady } = this.#options
    const possible = this.#pending.filter(
      (job) => isReady(job) !== 'never' && (isComputing || job.isWaiting),
    )
    const ready = possible.filter((job) => isReady(job) === 'now')
    const job = ready.find((each) => each.isWaiting !== isComputing) ?? ready[0]
    if (job === undefined) return possible.length > 0 ? 'later' : 'none'
    this.#pending.splice(this.#pending.indexOf(job), 1)
    return job
  }

  async #test(worker: WorkerProcess, job: Item): Promise<boolean> {
    const { root, environment, events, signal } = this.#options
    events.began(job)
    const order = { file: join(root, job.file), environment: environment() }
    const { isUsable, ...result } = await worker.test(
      order,
      (tested) => events.tested(job, tested),
      signal,
    )
    events.ended(job, result)
    return isUsable
  }

  async #end(worker: WorkerProcess): Promise<void> {
    for (const text of await worker.end()) this.#options.events.failedLate(text)
  }
}
