import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { boundCommand } from '../processes/bound-command.ts'
import { hangLimit } from '../waiting/wait-until.ts'

export interface GitOptions {
  /** Defaults to the process's own. */
  readonly directory?: string
  readonly stdin?: string
  /** Exit codes that are an answer. Defaults to 0 alone. */
  readonly exitCodes?: readonly number[]
}

export interface GitResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the real git as if on a machine with nothing configured: neither the developer's settings nor a person to ask.
 * Rejects for an exit code that is not in `exitCodes`, with standard error.
 *
 * @param credential sent as a header to `url` and below; it is in the environment of git and in no argument, so that no
 *   error and no list of processes shows it
 */
export async function runGit(
  args: readonly string[],
  credential:
    | { readonly url: string; readonly name: string; readonly password: string }
    | undefined,
  options: GitOptions = {},
): Promise<GitResult> {
  const child = spawn(...boundCommand('git', args), {
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
    env: gitEnvironment(credential),
    signal: hangLimit(`git ${args.join(' ')}`),
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => {}) // it ended without reading; its exit code says why
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new Error(`cannot run git ${args.join(' ')}`, { cause: error })),
    )
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (!(options.exitCodes ?? [0]).includes(code))
    throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  return { code, stdout, stderr }
}

function gitEnvironment(credential: Parameters<typeof runGit>[1]): Record<string, string> {
  const name = credential?.name ?? 'nobody'
  const settings: (readonly [string, string])[] = [
    ['user.name', name],
    ['user.email', `${name}@example.invalid`],
    ['init.defaultBranch', 'main'],
    ['commit.gpgSign', 'false'],
  ]
  if (credential !== undefined) {
    const basic = Buffer.from(`${credential.name}:${credential.password}`).toString('base64')
    settings.push([`http.${credential.url}.extraHeader`, `Authorization: Basic ${basic}`])
  }
  const { PATH = '', TMPDIR } = process.env
  return {
    PATH,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  }
}
