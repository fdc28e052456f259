/** Tells whether others see what is written to a repository of this machine. Nothing here writes. */
import { gitNotInstalled } from './git-failure.ts'
import { type Environment, runGit } from './git-program.ts'

/** `none`: bare, or no repository at all. `clone`: a work tree with a remote `origin`. `alone`: one without. */
type CloneState = 'none' | 'alone' | 'clone'

/** For the repository that git finds from `path`, a folder on this machine. @throws Failure BP4009 where git is not installed */
export async function cloneState(path: string, signal: AbortSignal, environment: Environment): Promise<CloneState> {
  const [inside, origin] = await Promise.all(
    [
      ['rev-parse', '--is-inside-work-tree'],
      ['config', '--get-all', 'remote.origin.url'],
    ].map((args) => runGit(['-C', path, ...args], environment, signal)),
  )
  if (inside === undefined || origin === undefined || inside === 'not-installed' || origin === 'not-installed') throw gitNotInstalled(path)
  // `false` inside a `.git` folder, which lies beside a work tree, and in a bare repository.
  if (inside.stdout.toString('utf8').trim() !== 'true') return 'none'
  return origin.status === 0 ? 'clone' : 'alone'
}
