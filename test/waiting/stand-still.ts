/** This process stands still, as in a long computation: no timer runs, and nothing that comes is read. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

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
  /** Returns when all of the answer is in the pipe, and not before so many milliseconds. */
  readonly miss: (atLeast: number) => void
}

/** A program answers with the text. @param after the test ends */
export function startAnswer(text: string, after: (end: () => void) => void): Answer {
  const folder = mkdtempSync(join(tmpdir(), 'answer-'))
  const mark = join(folder, 'id')
  const child: ChildProcessByStdio<null, Readable, null> = spawn(
    'sh',
    ['-c', 'printf %s "$1"; echo $$ > "$2"', 'sh', text, mark],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  after(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return { stdout: child.stdout, miss: (atLeast) => standStill(() => hasEnded(mark), atLeast) }
}
