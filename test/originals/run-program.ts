/** Runs a program on a text, or on each of many. */
import { spawnSync } from 'node:child_process'

export interface ProgramRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export function runOnce(program: string, input: string): ProgramRun {
  const { status, stdout, stderr } = spawnSync(program, [], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  return { exitCode: status ?? 1, stdout, stderr }
}

/** A program that ends with an input is started again for the inputs behind it. Has an argument for each input, so that it ends in any case. */
const UNTIL_NONE_IS_LEFT = String.raw`for each do "$0" && exit; printf '\0%s\0' "$?"; printf '\0' >&2; done`

/**
 * One process runs on many inputs, one after the other.
 * @param program an absolute path; built with `batch.go`
 * @throws Error where the program did not run on each of them
 */
export function runOnEach(program: string, inputs: readonly string[]): readonly ProgramRun[] {
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', UNTIL_NONE_IS_LEFT, program, ...inputs.map((_, index) => String(index))],
    {
      env: { ...process.env, BACKPORCH_BATCH: '1' },
      input: inputs.map((input) => `${Buffer.byteLength(input)}\n${input}`).join(''),
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    },
  )
  const [printed, said] = [stdout.split('\0'), stderr.split('\0')]
  if (said.length !== inputs.length + 1 || printed.length !== 2 * inputs.length + 1)
    throw new Error(
      `${program} ran on ${said.length - 1} of ${inputs.length} inputs: ${said.at(-1)}`,
    )
  return inputs.map((_, index) => ({
    exitCode: Number(printed[2 * index + 1]),
    stdout: printed[2 * index] ?? '',
    stderr: said[index] ?? '',
  }))
}
