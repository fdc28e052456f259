import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { WorkerMessage, WorkerOrder } from './messages.ts'

export interface TestResult {
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly name: string
  /** Why it failed or was skipped. */
  readonly text: string
}

/** What became of one file. */
export interface FileResult {
  readonly seconds: number
  readonly cpuSeconds: number
  /** What its tests and its process said. */
  readonly output: string
}

/** A file of which nothing was heard for so long hangs: the slowest test takes 9 minutes beside the others, and more than 20 beside a second run of all. */
const SILENCE_MS = 200 * 60_000
/** A process that has become larger ends, and a new one takes its place: a program that it starts costs a copy of its page tables. */
const MOST_MEMORY = 600_000_000
/** Tests make much that is soon garbage: with more room for it a run takes a tenth less CPU. */
const V8_FLAGS = ['--min-semi-space-size=32', '--max-semi-space-size=64', '--no-flush-bytecode']
const END_MS = 120_000
const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
const REPORTER = fileURLToPath(new URL('reporter.ts', import.meta.url))
/** Characters of the output of a process that are kept. */
const OUTPUT_LENGTH = 20_000
const WHOLE = 'the file as a whole'
/** Node tells errors that came after the end of their test as diagnostics of the process. */
const LATE_ERROR = /^Error: /

/** A process that tests one file after the other; see `worker.ts`. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #gone: Promise<string>
  #output = ''
  readonly #late: string[] = []
  #take: (message: WorkerMessage) => void = (message) => this.#takeLate(message)

  constructor(root: string) {
    this.#child = fork(WORKER, [], {
      cwd: root,
      execArgv: [...V8_FLAGS, '--test-reporter', REPORTER, '--test-reporter-destination', 'stdout'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#child.on('message', (message: WorkerMessage) => this.#take(message))
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output = `${this.#output}${chunk.toString('utf8')}`.slice(-OUTPUT_LENGTH)
      })
    this.#gone = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message))
      this.#child.on('close', (code, signal) => resolve(signal ?? `code ${code}`))
    })
  }

  /**
   * Tests one file. Never rejects: a process that ends or hangs is a failed test.
   * @returns with whether the process can test another file
   */
  async test(
    order: Required<WorkerOrder>,
    tested: (result: TestResult) => void,
    signal: AbortSignal,
  ): Promise<FileResult & { isUsable: boolean }> {
    this.#output = ''
    const diagnostics: string[] = []
    let stop: () => void = () => undefined
    const result = await new Promise<(WorkerMessage & { event: 'ended' }) | string>((resolve) => {
      let isReported = false
      let ended: (WorkerMessage & { event: 'ended' }) | undefined
      let silence: NodeJS.Timeout | undefined
      const listen = (): void => {
        clearTimeout(silence)
        silence = setTimeout(
          () => resolve(`nothing was heard of it for ${SILENCE_MS / 60_000} minutes`),
          SILENCE_MS,
        )
      }
      this.#take = (message) => {
        listen()
        if (message.event === 'diagnostic') diagnostics.push(message.text)
        else if (message.event === 'reported') isReported = true
        else if (message.event === 'ended') ended = message
        else tested(message)
        if (ended !== undefined && isReported) resolve(ended)
      }
      const abort = (): void => resolve('the run was interrupted')
      signal.addEventListener('abort', abort)
      stop = () => {
        clearTimeout(silence)
        signal.removeEventListener('abort', abort)
      }
      listen()
      if (signal.aborted) abort()
      void this.#gone.then((how) => resolve(`its process ended with ${how}`))
      this.#child.send(order, () => undefined)
    })
    stop()
    this.#take = (message) => this.#takeLate(message)
    const output = [...diagnostics, this.#output].join('\n').trim()
    if (typeof result !== 'string')
      return {
        seconds: result.seconds,
        cpuSeconds: result.cpuSeconds,
        output,
        isUsable: result.memory < MOST_MEMORY,
      }
    this.#child.kill('SIGKILL')
    if (!signal.aborted) tested({ outcome: 'failed', name: WHOLE, text: result })
    return { seconds: 0, cpuSeconds: 0, output, isUsable: false }
  }

  /** Lets the process end, and waits for it. @returns errors that came after the end of their test */
  async end(): Promise<readonly string[]> {
    if (this.#child.connected)
      this.#child.send({ environment: {} } satisfies WorkerOrder, () => undefined)
    const late = setTimeout(() => this.#child.kill('SIGKILL'), END_MS)
    await this.#gone
    clearTimeout(late)
    return this.#late
  }

  #takeLate(message: WorkerMessage): void {
    if (message.event === 'diagnostic' && LATE_ERROR.test(message.text))
      this.#late.push(message.text)
  }
}
