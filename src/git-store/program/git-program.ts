/**
 * No prompts, no shell, and no variables that the surrounding process set for its own repository.
 */
import { spawn } from 'node:child_process'
import { devNull } from 'node:os'
import { parse } from 'node:path'
import { buildChildEnvironment, type Environment } from '@backporch/system/child-environment'
import { getSystemCode } from './git-failure.ts'

/** `git rev-parse --local-env-vars`, set for example while a hook runs. */
const REPOSITORY_VARIABLES = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_PROTOCOL',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]

/** None of the repository's programs runs (ADR 40). */
export const NO_PROGRAMS: readonly string[] = [
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'gc.auto=0',
  'maintenance.auto=false',
  'receive.autogc=false',
].flatMap((setting) => ['-c', setting])

export const NO_HOOKS: readonly string[] = ['-c', `core.hooksPath=${devNull}`]

export function getNeutralFolder(): string {
  return parse(process.cwd()).root
}

/**
 * For `spawn`. Ctrl-C ends every process of its group. With its own session, no program stops in
 * the middle of an answer, and none has a terminal for prompts.
 */
export const OWN_SESSION = process.platform !== 'win32'

/**
 * Only needed variables, no prompts, English messages, no locks for reading, protocol version 0.
 */
export function buildGitEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const retained = Object.entries(buildChildEnvironment(environment, 'git')).filter(
    ([name]) => !REPOSITORY_VARIABLES.includes(name),
  )
  return {
    ...Object.fromEntries(retained),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_OPTIONAL_LOCKS: '0',
  }
}

/**
 * A partial clone fetches nothing by itself, and no object is replaced. A git before 2.39.4 does
 * not know the first variable; the second one stops it.
 */
export function buildReadingEnvironment(environment: Environment): NodeJS.ProcessEnv {
  return {
    ...buildGitEnvironment(environment),
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}

export interface ProgramResult {
  /** -1 if a signal ended it. */
  readonly status: number
  readonly stdout: Buffer
  /** Untrusted text. */
  readonly stderr: string
}

/**
 * Reads only; absolute paths as arguments.
 * @throws the signal's reason when it is aborted
 */
export async function runGit(
  args: readonly string[],
  environment: Environment,
  signal: AbortSignal,
  input = '',
): Promise<ProgramResult | 'not-installed'> {
  signal.throwIfAborted()
  const child = spawn('git', [...NO_PROGRAMS, ...NO_HOOKS, ...args], {
    cwd: getNeutralFolder(),
    env: buildReadingEnvironment(environment),
    stdio: 'pipe',
    detached: OWN_SESSION,
    signal,
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => {}) // a program that ends before it reads its input reports why by its status
  child.stdin.end(input)
  return await new Promise((resolve, reject) => {
    child.on('error', (error) => {
      if (signal.aborted) reject(signal.reason)
      else if (getSystemCode(error) === 'ENOENT') resolve('not-installed')
      else reject(error)
    })
    child.on('close', (status) => {
      if (signal.aborted) reject(signal.reason)
      else
        resolve({
          status: status ?? -1,
          stdout: Buffer.concat(stdout),
          stderr: Buffer.concat(stderr).toString('utf8'),
        })
    })
  })
}

/**
 * Empty if it fails or git is missing.
 * @throws the signal's reason when it is aborted
 */
export async function readGitText(
  args: readonly string[],
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  const answer = await runGit(args, environment, signal)
  return answer === 'not-installed' || answer.status !== 0 ? '' : answer.stdout.toString('utf8')
}
