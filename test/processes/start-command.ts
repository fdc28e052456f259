/** A command of backporch as a terminal starts it: the leader of a process group, which Ctrl-C reaches as a whole. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { withoutProgress } from '../e2e/run-program.ts'
import { PROGRAM } from '../program.ts'
import { hangLimit } from '../waiting/wait-until.ts'
import { boundCommand } from './bound-command.ts'

export interface EndedCommand {
  /** Null where a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface StartedCommand {
  readonly ended: Promise<EndedCommand>
  /** SIGTERM to the process, or Ctrl-C to its whole group. */
  interrupt(signal: 'SIGTERM' | 'SIGINT'): void
}

export function startCommand(
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): StartedCommand {
  const signal = hangLimit(argv.join(' '))
  const child = spawn(...boundCommand(process.execPath, [PROGRAM, ...argv]), {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    signal,
    killSignal: 'SIGKILL',
  })
  const { pid } = child
  assert.ok(pid !== undefined)
  const closed = new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  )
  const ended = Promise.all([closed, text(child.stdout), text(child.stderr)])
  return {
    ended: ended.then(([code, stdout, stderr]) => ({
      code,
      stdout,
      stderr: withoutProgress(stderr),
    })),
    interrupt: (name) => process.kill(name === 'SIGINT' ? -pid : pid, name),
  }
}

/** It says in one line that it was interrupted, and reports no failure. */
export function assertInterrupted(
  ended: EndedCommand,
  signal: 'SIGTERM' | 'SIGINT',
  when: string,
): void {
  const { code, stdout, stderr } = ended
  assert.equal(code, signal === 'SIGINT' ? 130 : 143, `${when}: ${stdout}${stderr}`)
  assert.match(
    stderr,
    new RegExp(
      `^interrupted by ${signal}: [a-z]+ is not finished, and nothing is half-written\\n$`,
    ),
    when,
  )
  assert.doesNotMatch(stdout, /BP\d{4}/, when)
}
