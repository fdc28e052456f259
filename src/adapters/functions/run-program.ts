/** No shell; text in, text out; always ends. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Deadline } from '@backporch/system/deadline'
import { makeScratchFolder } from '../system/scratch-folder.ts'
import { describeSize, describeTime, type FunctionLimits } from './function-limits.ts'
import { ProcessGroup } from './process-group.ts'

interface ProgramRun {
  readonly program: string
  readonly words: readonly string[]
  /** By default a new empty folder. */
  readonly folder?: string
  readonly input: string
  /** The whole environment, except for variables of the program's own folder. */
  readonly environment: { readonly [name: string]: string | undefined }
  readonly limits: FunctionLimits
}

export type ProgramEnd =
  | {
      readonly is: 'ended'
      readonly exitCode: number
      readonly stdout: string
      readonly stderr: string
    }
  | { readonly is: 'killed'; readonly why: string }
  | { readonly is: 'broke-limit'; readonly why: string }
  | { readonly is: 'not-started'; readonly why: string; readonly remedy?: string }

/** Bytes. */
export const MOST_STDERR = 64 * 1024
/** Milliseconds; a slow measurement delays the next. */
const MEMORY_INTERVAL = 50
/** Milliseconds, after the program was killed. */
const LAST_OUTPUT = 1000
/** 128 + SIGKILL, in a shell. */
const KILLED = 137

/** @throws the signal's reason; all started processes are killed by then */
export async function runProgram(run: ProgramRun, signal: AbortSignal): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const folder = await makeScratchFolder('backporch-function-')
  try {
    return await runIn(folder, run, signal)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

function runIn(
  own: string,
  { program, words, folder = own, input, environment, limits }: ProgramRun,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const name = randomBytes(12).toString('hex')
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      cwd: folder,
      env: {
        ...environment,
        HOME: environment['HOME'] ?? own,
        TMPDIR: own,
        ...ProcessGroup.createMark(name),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      // Children must end with the program.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const group = child.pid === undefined ? undefined : new ProcessGroup(child.pid, name, folder)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    let [written, reported, over] = [0, 0, false]
    const finish = (settle: () => void): void => {
      if (over) return
      over = true
      limit.stop()
      clearTimeout(observe)
      signal.removeEventListener('abort', abort)
      group?.kill()
      group?.forget()
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      settle()
    }
    const breakLimit = (why: string): void => finish(() => resolve({ is: 'broke-limit', why }))
    const abort = (): void => finish(() => reject(signal.reason))
    const limit = new Deadline(limits.milliseconds, () =>
      breakLimit(`it did not end within ${describeTime(limits.milliseconds)}, and was killed`),
    )
    const watchMemory = async (): Promise<void> => {
      const began = performance.now()
      const memory = (await group?.measureMemory()) ?? 0
      if (over) return
      if (memory > limits.memory)
        breakLimit(`it holds more than ${describeSize(limits.memory)} of memory, and was killed`)
      else
        observe = setTimeout(
          watchMemory,
          Math.max(MEMORY_INTERVAL, 10 * (performance.now() - began)),
        )
    }
    let observe = setTimeout(watchMemory, MEMORY_INTERVAL)
    signal.addEventListener('abort', abort, { once: true })
    child.on('error', (error: NodeJS.ErrnoException) =>
      finish(() =>
        resolve({
          is: 'not-started',
          why: `${program} cannot be started${error.code === undefined ? '' : ` (${error.code})`}`,
        }),
      ),
    )
    child.stdout.on('data', (chunk: Buffer) => {
      stdout.push(chunk)
      written += chunk.length
      if (written > limits.output)
        breakLimit(`it printed more than ${describeSize(limits.output)}, and was killed`)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (reported < MOST_STDERR) stderr.push(chunk)
      reported += chunk.length
    })
    child.on('exit', () => {
      // A remaining child would keep the output open.
      group?.kill()
      const cut = (): void => {
        for (const stream of [child.stdout, child.stderr]) stream.destroy()
      }
      setTimeout(cut, LAST_OUTPUT).unref()
    })
    child.on('close', (code, by) => {
      const killed = by ?? (code === KILLED ? `exit code ${KILLED}` : undefined)
      if (killed !== undefined)
        finish(() =>
          resolve({
            is: 'killed',
            why: `it was killed (${killed}), most often because it used too much memory`,
          }),
        )
      const ended = { stdout: decodeText(stdout), stderr: decodeText(stderr).slice(0, MOST_STDERR) }
      finish(() => resolve({ is: 'ended', exitCode: code ?? 1, ...ended }))
    })
    // A program may ignore its input or exit early.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

function decodeText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}
