/** Writes nothing: not even the index is refreshed. */
import { Failure } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import { createGitNotInstalledFailure } from './git-failure.ts'
import { runGit } from './git-program.ts'
import { buildFilterOverrides } from './repository-programs.ts'

/** `none`: bare, or not a repository. `dirty` includes untracked files that are not ignored. */
type WorkTreeState = 'none' | 'clean' | 'dirty'

interface WorkTreeChanges {
  readonly tracked: readonly string[]
  readonly untracked: readonly string[]
}

/** @throws Failure BP4009 if git is not installed */
export async function workTreeState(
  path: string,
  signal: AbortSignal,
  environment: Environment = process.env,
): Promise<WorkTreeState> {
  const inside = await ask(path, ['rev-parse', '--is-inside-work-tree'], environment, signal)
  if (inside?.trim() !== 'true') return 'none'
  const status = await ask(
    path,
    ['status', '--porcelain', '--no-renames', '--ignore-submodules=dirty'],
    environment,
    signal,
  )
  if (status === undefined) return 'none'
  return status === '' ? 'clean' : 'dirty'
}

/** `none`: bare, or not a repository. `alone`: without a remote `origin`. */
type CloneState = 'none' | 'alone' | 'clone'

/** @throws Failure BP4009 if git is not installed */
export async function cloneState(
  path: string,
  signal: AbortSignal,
  environment: Environment,
): Promise<CloneState> {
  // `false` inside a `.git` folder, and in a bare repository.
  const inside = await ask(path, ['rev-parse', '--is-inside-work-tree'], environment, signal)
  if (inside?.trim() !== 'true') return 'none'
  return (await ask(path, ['config', '--get-all', 'remote.origin.url'], environment, signal)) ===
    undefined
    ? 'alone'
    : 'clone'
}

/** @throws Failure BP4009 if git is not installed */
export async function listRemotes(
  path: string,
  signal: AbortSignal,
  environment: Environment,
): Promise<readonly string[]> {
  const found =
    (await ask(
      path,
      ['config', '--null', '--get-regexp', '^remote\\..*\\.url$'],
      environment,
      signal,
    )) ?? ''
  return found
    .split('\0')
    .flatMap((entry) => (entry === '' ? [] : [entry.slice(entry.indexOf('\n') + 1)]))
}

/** Of all that share this repository. */
export async function workTreeOfBranch(
  path: string,
  ref: string,
  signal: AbortSignal,
  environment: Environment,
): Promise<string | undefined> {
  const listed = (await ask(path, ['worktree', 'list', '--porcelain'], environment, signal)) ?? ''
  const lines = listed.split('\n\n').map((block) => block.split('\n'))
  const block = lines.find((each) => each.includes(`branch ${ref}`))
  return block?.find((line) => line.startsWith('worktree '))?.slice('worktree '.length)
}

export async function workTreeChanges(
  top: string,
  signal: AbortSignal,
  environment: Environment,
): Promise<WorkTreeChanges> {
  const args = [
    'status',
    '--porcelain',
    '-z',
    '--no-renames',
    '--ignore-submodules=dirty',
    '--untracked-files=all',
    '--ignored=traditional',
  ]
  const entries = ((await ask(top, args, environment, signal)) ?? '')
    .split('\0')
    .filter((entry) => entry !== '')
  const other = (entry: string) => entry.startsWith('??') || entry.startsWith('!!')
  return {
    tracked: entries.filter((entry) => !other(entry)).map((entry) => entry.slice(3)),
    untracked: entries.filter(other).map((entry) => entry.slice(3)),
  }
}

export function workTreeNotClean(top: string, files: readonly string[]): Failure {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : ''
  return new Failure({
    code: 'BP4007',
    what: 'cannot move the work tree along',
    where: top,
    why: `it has changes that are not committed: ${formatForeignLine(files.slice(0, 5).join(', '))}${more}`,
    remedy: 'commit or stash them, then run again',
    retry: 'on-change',
  })
}

export async function ask(
  path: string,
  args: readonly string[],
  environment: Environment,
  signal: AbortSignal,
): Promise<string | undefined> {
  // The status would run the filters.
  const settings =
    args[0] === 'status' ? await buildFilterOverrides(['-C', path], environment, signal) : []
  const answer = await runGit(['-C', path, ...settings, ...args], environment, signal)
  if (answer === 'not-installed') throw createGitNotInstalledFailure(path)
  return answer.status === 0 ? answer.stdout.toString('utf8') : undefined
}
