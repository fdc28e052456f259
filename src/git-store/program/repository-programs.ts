/**
 * Programs that git runs for a work tree are disabled by name. A push to a clone with hooks is
 * refused: hooks do not run, and may enforce rules (ADR 40).
 */
import { access, constants } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import type { Environment } from '@backporch/system/child-environment'
import { createUnsupportedFailure } from './git-failure.ts'
import { NO_HOOKS, NO_PROGRAMS, readGitText } from './git-program.ts'

/** `post-receive` and others refuse nothing. */
const RECEIVE_HOOKS = [
  'pre-receive',
  'update',
  'proc-receive',
  'reference-transaction',
  'push-to-checkout',
]

/**
 * `filter.NAME.clean`, `smudge`, `process` of the repository; those of the user stay.
 * @param location `--git-dir` or `-C`
 * @throws Failure BP4010 for a name that cannot be set from outside
 */
export async function buildFilterOverrides(
  location: readonly string[],
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = [
    ...location,
    'config',
    '-z',
    '--show-scope',
    '--name-only',
    '--get-regexp',
    '^filter\\.',
  ]
  const words = (await readGitText(args, environment, signal)).split('\0')
  const names = new Set<string>()
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [scope, key = ''] = [words[at], words[at + 1]]
    if (scope === 'local' || scope === 'worktree')
      names.add(key.slice('filter.'.length, key.lastIndexOf('.')))
  }
  return [...names].flatMap((name) => {
    if (name.includes('='))
      throw createUnsupportedFailure(
        location.at(-1) ?? '',
        'its configuration has a filter with "=" in its name',
        'rename the filter',
      )
    return ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((setting) => [
      '-c',
      `filter.${name}.${setting}`,
    ])
  })
}

/**
 * A bare repository is a server: its hooks are its rules, and run. In a clone nothing runs.
 * @throws Failure BP4002 if a clone has hooks for a push
 */
export async function receiveSettings(
  gitFolder: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Without it a push to the checked-out branch is refused; with it a clean work tree is updated.
  const settings = [...NO_PROGRAMS, '-c', 'receive.denyCurrentBranch=updateInstead']
  if (await isServer(gitFolder, environment, signal)) return settings
  const hook = await findFirstHook(gitFolder, environment, signal)
  if (hook !== undefined) throw hasHook(gitFolder, hook)
  return [
    ...settings,
    ...NO_HOOKS,
    ...(await buildFilterOverrides(['--git-dir', gitFolder], environment, signal)),
  ]
}

/** A folder named `.git`, or below one, is a clone, whatever its configuration says. */
async function isServer(
  gitFolder: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<boolean> {
  if (basename(gitFolder) === '.git' || gitFolder.includes(`${sep}.git${sep}`)) return false
  return (
    (await ask(gitFolder, ['rev-parse', '--is-bare-repository'], environment, signal)) === 'true'
  )
}

async function findFirstHook(
  gitFolder: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<string | undefined> {
  const shared = resolve(
    gitFolder,
    (await ask(gitFolder, ['rev-parse', '--git-common-dir'], environment, signal)) || '.',
  )
  const named = await ask(
    gitFolder,
    ['config', '--local', '--type=path', '--get', 'core.hooksPath'],
    environment,
    signal,
  )
  const folders = [
    join(shared, 'hooks'),
    ...(named === '' ? [] : [resolve(dirname(shared), named)]),
  ]
  for (const path of folders.flatMap((folder) => RECEIVE_HOOKS.map((name) => join(folder, name))))
    if (await isProgram(path)) return path
  return undefined
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function ask(
  gitFolder: string,
  words: readonly string[],
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  return (await readGitText(['--git-dir', gitFolder, ...words], environment, signal)).replace(
    /\n$/,
    '',
  )
}

function hasHook(gitFolder: string, hook: string): Failure {
  return new Failure({
    code: 'BP4002',
    what: 'refusing to push to this clone',
    where: gitFolder,
    why: `its hook ${hook} may change or reject the push, and hooks of a clone are not run`,
    remedy: 'name its remote with --repo, or remove the hook',
    retry: 'on-change',
  })
}
