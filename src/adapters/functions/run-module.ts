/** Text in, text out, no state shared between runs. */
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Deadline } from '@backporch/system/deadline'
import { describeSize, describeTime, type FunctionLimits } from './function-limits.ts'
import { MOST_STDERR, type ProgramEnd } from './run-program.ts'

const MEBIBYTE = 1024 * 1024

/** A thread does not exit while its standard input is unread. */
const START =
  "import(require('node:worker_threads').workerData).finally(() => process.stdin.resume())"

/** @throws the signal's reason; the thread has ended by then */
export async function runModule(
  file: string,
  input: string,
  limits: FunctionLimits,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const worker = new Worker(START, {
    eval: true,
    workerData: pathToFileURL(file).href,
    stdin: true,
    stdout: true,
    stderr: true,
    // The environment contains operator tokens.
    env: { LANG: 'C.UTF-8', TZ: 'UTC' },
    argv: [],
    // Node 22 prints a TypeScript warning.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: limits.memory / MEBIBYTE },
  })
  try {
    return await getEnd(worker, input, limits, signal)
  } finally {
    await worker.terminate()
  }
}

function getEnd(
  worker: Worker,
  input: string,
  limits: FunctionLimits,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  let [printed, logged, thrown] = [0, 0, '']
  return new Promise<ProgramEnd>((resolve, reject) => {
    const breakLimit = (why: string): void => resolve({ is: 'broke-limit', why })
    const abort = (): void => reject(signal.reason)
    const limit = new Deadline(limits.milliseconds, () =>
      breakLimit(`it did not end within ${describeTime(limits.milliseconds)}, and was stopped`),
    )
    signal.addEventListener('abort', abort, { once: true })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        breakLimit(`it needs more than ${describeSize(limits.memory)} of memory`)
      else thrown = `${error.name}: ${error.message}`
    })
    worker.stdout.on('data', (chunk: Buffer) => {
      stdout.push(chunk)
      printed += chunk.length
      if (printed > limits.output)
        breakLimit(`it printed more than ${describeSize(limits.output)}, and was stopped`)
    })
    worker.stderr.on('data', (chunk: Buffer) => {
      if (logged < MOST_STDERR) stderr.push(chunk)
      logged += chunk.length
    })
    const exited = new Promise<number>((exit) => worker.on('exit', exit))
    const ended = [worker.stdout, worker.stderr].map(
      (stream) => new Promise((end) => stream.on('end', end)),
    )
    Promise.all([exited, ...ended]).then(([exitCode]) => {
      limit.stop()
      signal.removeEventListener('abort', abort)
      const log = Buffer.concat(stderr).toString('utf8').slice(0, MOST_STDERR)
      resolve({
        is: 'ended',
        exitCode,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: log + thrown,
      })
    }, reject)
    // A module may ignore its input.
    worker.stdin?.on('error', () => undefined)
    worker.stdin?.end(input)
  })
}
