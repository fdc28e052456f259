/** This process stands still, as in a long computation: no timer runs, and nothing that comes is read. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const PAUSE = 5

/** @param until looked at again and again @param atLeast milliseconds */
export function standStill(until: () => boolean, atLeast: number): void {
  const still = new Int32Array(new SharedArrayBuffer(4))
  for (let pauses = 0; pauses * PAUSE < atLeast || !until(); pauses += 1)
    Atomics.wait(still, 0, 0, PAUSE)
}

/** Whether the process whose id stands in the file has ended. Elsewhere than on Linux, whether the file is there. */
export function hasEnded(file: string): boolean {
  if (!existsSync(file)) return false
  const id = readFileSync(file, 'utf8').trim()
  if (id === '') return false
  if (process.platform !== 'linux') return true
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${id}/status`, 'utf8'))
  } catch {
    return true
  }
}

interface Answer {
  readonly stdout: Readable
  /**
   * The program answers now, and this process stands still until all of it is in the pipe, and not less than so many milliseconds. It
   * does so in a `setImmediate`, after which the event loop calls timers before it reads.
   */
  readonly miss: (atLeast: number) => Promise<void>
}

/** A program answers with the text when it is missed. @param after the test ends */
export function startAnswer(text: string, after: (end: () => void) => void): Answer {
  const folder = mkdtempSync(join(tmpdir(), 'answer-'))
  const mark = join(folder, 'id')
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    'sh',
    ['-c', 'read -r _; printf %s "$1"; echo $$ > "$2"', 'sh', text, mark],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  after(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const miss = (atLeast: number): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        child.stdin.write('\n')
        standStill(() => hasEnded(mark), atLeast)
        resolve()
      })
    })
  return { stdout: child.stdout, miss }
}
