/** A command in the process of the test, in the real world of a folder and an environment: as `runProgram`, without the start of a process. */
import type { CliContext } from '../../src/cli/context/cli-context.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { wire } from '../../src/wire.ts'
import { type ProgramOptions, type ProgramRun, withoutProgress } from './run-program.ts'

/** @param work what is run in the world; answers with the exit code. Nobody answers a question there. */
export async function runHere(
  command: string,
  { cwd, env }: Omit<ProgramOptions, 'stdin'>,
  work: (world: CliContext) => Promise<number>,
): Promise<ProgramRun> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const into = (parts: string[]) => ({ write: (text: string) => parts.push(text) })
  const real = wire(process, new AbortController().signal)
  const code = await work(
    real.at({ cwd, env, clock: real.clock, stdout: into(stdout), stderr: into(stderr) }),
  )
  return { command, code, stdout: stdout.join(''), stderr: withoutProgress(stderr.join('')) }
}

/** `backporch` with these arguments. */
export function backporchHere(
  argv: readonly string[],
  options: Omit<ProgramOptions, 'stdin'>,
): Promise<ProgramRun> {
  return runHere(`backporch ${argv.join(' ')}`, options, (world) => runCli(argv, world))
}
