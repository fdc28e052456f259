/** Child processes of the acceptance tests: real programs, an environment of their own, everything they print kept. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { boundCommand } from '../processes/bound-command.ts'
import { hangLimit } from '../waiting/wait-until.ts'

export interface ProgramRun {
  readonly command: string
  /** Exit code; -1 where a signal ended it. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly stdin?: string | undefined
}

/** Rejects only when the program cannot be started or hangs. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramRun> {
  const command = [program, ...args].join(' ')
  const child = spawn(...boundCommand(program, args), {
    cwd: options.cwd,
    env: options.env,
    signal: hangLimit(command),
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => {}) // it ended without reading; its exit code says why
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`cannot run ${command}`, { cause: error })))
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { command, code, stdout, stderr: withoutProgress(stderr) }
}

/** What backporch is at, in a line for every ten seconds: only a slow machine shows it, and no test of a text is about it. */
const PROGRESS =
  /^(?:reading the repository|observing .*|looking for .*|building for .*|waiting for .* to agree with git|writing)\u2026\n/gm

export function withoutProgress(stderr: string): string {
  return stderr.replace(PROGRESS, '')
}
