/** Reads the state of checked-out files. Nothing here writes: not even the index is refreshed on disk. */
import { Failure } from '@backporch/kyaml/failure'
import { foreignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import { gitNotInstalled } from './git-failure.ts'
import { runGit } from './git-program.ts'
import { withoutFilters } from './repository-programs.ts'

/** `none`: bare, or no repository at all. `dirty`: some file, also an untracked one that is not ignored, differs from HEAD. */
type WorkTreeState = 'none' | 'clean' | 'dirty'

/** Paths from the top of the work tree. */
interface WorkTreeChanges {
  readonly tracked: readonly string[]
  /** Untracked files, ignored ones too. */
  readonly untracked: readonly string[]
}

/** Compares the work tree that holds `path` (a folder on this machine) with its HEAD. @throws Failure BP4009 where git is not installed */
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

/** `none`: bare, or no repository at all. `clone`: a work tree with a remote `origin`. `alone`: one without. */
type CloneState = 'none' | 'alone' | 'clone'

/** Tells whether others see what is written to the repository of `path`. @throws Failure BP4009 where git is not installed */
export async function cloneState(
  path: string,
  signal: AbortSignal,
  environment: Environment,
): Promise<CloneState> {
  // `false` inside a `.git` folder, which lies beside a work tree, and in a bare repository.
  const inside = await ask(path, ['rev-parse', '--is-inside-work-tree'], environment, signal)
  if (inside?.trim() !== 'true') return 'none'
  return (await ask(path, ['config', '--get-all', 'remote.origin.url'], environment, signal)) ===
    undefined
    ? 'alone'
    : 'clone'
}

/** Addresses of the remotes of the repository of `path`, as its configuration has them. @throws Failure BP4009 where git is not installed */
export async function remotesOf(
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

/** Top folder of the work tree, of all that share this repository, that has the branch (full ref name) checked out. */
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

/** Differences from HEAD in the work tree with this top folder. */
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

/** BP4007. `files` are paths; some of them are shown. */
export function workTreeNotClean(top: string, files: readonly string[]): Failure {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : ''
  return new Failure({
    code: 'BP4007',
    what: 'cannot move the work tree along',
    where: top,
    why: `it has changes that are not committed: ${foreignLine(files.slice(0, 5).join(', '))}${more}`,
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
  // Reading the status would run the filters, and in a submodule those of its own.
  const settings =
    args[0] === 'status' ? await withoutFilters(['-C', path], environment, signal) : []
  const answer = await runGit(['-C', path, ...settings, ...args], environment, signal)
  if (answer === 'not-installed') throw gitNotInstalled(path)
  return answer.status === 0 ? answer.stdout.toString('utf8') : undefined
}
