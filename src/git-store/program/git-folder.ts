import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import {
  createGitNotInstalledFailure,
  createNotARepositoryFailure,
  createUnsupportedFailure,
} from './git-failure.ts'
import { type ProgramResult, runGit } from './git-program.ts'

/**
 * @throws Failure BP1002, BP4009, BP4010 for a format that this git or Backporch does not read,
 * BP4005 if another user owns it
 */
export async function findGitFolder(
  address: { readonly path: string; readonly printed: string },
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  const { path, printed } = address
  const ask = async (settings: readonly string[]): Promise<ProgramResult> => {
    const answer = await runGit(
      ['-C', path, ...settings, 'rev-parse', '--show-object-format', '--absolute-git-dir'],
      environment,
      signal,
    )
    if (answer === 'not-installed') throw createGitNotInstalledFailure(printed)
    return answer
  }
  const answer = await ask([])
  if (answer.status !== 0) {
    const why = formatForeignLine(answer.stderr) || 'git does not know it'
    // If this setting helps, another user owns the repository.
    if ((await ask(['-c', 'safe.directory=*'])).status === 0)
      throw createForeignOwnerFailure(printed, why)
    const like = await findRepositoryLikeFolder(path)
    // git does not search above a mount or GIT_CEILING_DIRECTORIES.
    const opened =
      like === undefined ||
      (await runGit(['--git-dir', like, 'rev-parse', '--git-dir'], environment, signal))
    if (opened !== true && opened !== 'not-installed' && opened.status !== 0) {
      throw createUnsupportedFailure(
        printed,
        why,
        'install a git that reads this repository, or repair it',
      )
    }
    throw createNotARepositoryFailure(printed, why)
  }
  const text = answer.stdout.toString('utf8')
  const cut = text.indexOf('\n')
  const format = text.slice(0, cut)
  if (format !== 'sha1') {
    throw createUnsupportedFailure(
      printed,
      `its objects are named by ${formatForeignLine(format)}, and only SHA-1 is read`,
      'use a SHA-1 repository',
    )
  }
  return text.slice(cut + 1).replace(/\n$/, '')
}

async function findRepositoryLikeFolder(path: string): Promise<string | undefined> {
  for (let folder = path; ; folder = dirname(folder)) {
    const names = await readdir(folder).catch((): string[] => [])
    if (names.includes('HEAD') && names.includes('objects') && names.includes('refs')) return folder
    if (names.includes('.git')) {
      const inside = await readdir(join(folder, '.git')).catch((): string[] => ['HEAD']) // a file that names the folder
      if (inside.includes('HEAD')) return join(folder, '.git')
    }
    if (folder === dirname(folder)) return undefined
  }
}

function createForeignOwnerFailure(remote: string, why: string): Failure {
  return new Failure({
    code: 'BP4005',
    what: 'git does not open the repository of another user',
    where: remote,
    why,
    remedy:
      'if you trust it, run `git config --global --add safe.directory` with its folder, as git says',
    retry: 'on-change',
  })
}
