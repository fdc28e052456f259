/** Nothing outside it is changed. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { buildGitEnvironment } from '@backporch/git-store/git-program'
import { Failure } from '@backporch/kyaml/failure'
import type { CliContext } from '../context/cli-context.ts'
import { DEMO_FILES } from './demo-package.ts'
import { DEMO_KEY, PERSON, TIMES } from './story.ts'

export interface DemoFolder {
  readonly root: string
  readonly repository: string
  readonly env: { readonly [name: string]: string | undefined }
  /** @throws Failure BP4009 where git is not installed */
  git(...args: readonly string[]): Promise<string>
  write(path: string, text: string): Promise<void>
}

const INHERITED = [
  'PATH',
  'Path',
  'PATHEXT',
  'SystemRoot',
  'TMPDIR',
  'TEMP',
  'TMP',
  'LANG',
  'LC_ALL',
  'TERM',
  'COLORTERM',
  'NO_COLOR',
  'CLICOLOR_FORCE',
]

/**
 * @param wanted absent or empty folder; undefined: a new temporary folder
 * @throws Failure BP1001 when `wanted` is not empty, BP4008 when it cannot be created, BP4009
 * without git
 */
export async function makeDemoFolder(
  cli: Pick<CliContext, 'cwd' | 'env'>,
  wanted: string | undefined,
): Promise<DemoFolder> {
  const root = await emptyFolder(cli, wanted)
  const repository = join(root, 'fleet')
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => (cli.env[name] === undefined ? [] : [[name, cli.env[name]]])),
  )
  const env = {
    ...inherited,
    HOME: join(root, 'home'),
    XDG_CONFIG_HOME: join(root, 'home', 'config'),
    XDG_CACHE_HOME: join(root, 'home', 'cache'),
    BACKPORCH_KEY: DEMO_KEY,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: '',
    TZ: 'UTC',
  }
  const folder: DemoFolder = {
    root,
    repository,
    env,
    git: (...args) => runGit(args, repository, env),
    write: async (path, text) => {
      const file = join(root, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
  }
  try {
    await fill(folder)
  } catch (thrown) {
    // A folder that the user named stays.
    await rm(wanted === undefined ? root : repository, { recursive: true, force: true })
    throw thrown
  }
  return folder
}

async function fill(folder: DemoFolder): Promise<void> {
  await mkdir(join(folder.root, 'home'), { recursive: true })
  await mkdir(folder.repository)
  for (const [path, text] of Object.entries(DEMO_FILES)) await folder.write(`fleet/${path}`, text)
  await folder.git('init', '--quiet', '--initial-branch=main')
  // The user's later commits then have the same author.
  await folder.git('config', 'user.name', PERSON.name)
  await folder.git('config', 'user.email', PERSON.email)
  await folder.git('config', 'commit.gpgsign', 'false')
  await folder.git('add', '--all')
  await folder.git('commit', '--quiet', '--message', 'feat: the shop, two packages')
  for (const name of ['apps/web', 'apps/orders']) await folder.git('tag', `${name}/v1`)
}

async function emptyFolder(
  cli: Pick<CliContext, 'cwd' | 'env'>,
  wanted: string | undefined,
): Promise<string> {
  try {
    if (wanted === undefined)
      return await realpath(await mkdtemp(join(cli.env['TMPDIR'] || tmpdir(), 'backporch-demo-')))
    const folder = resolve(cli.cwd, wanted)
    await mkdir(folder, { recursive: true })
    if ((await readdir(folder)).length === 0) return await realpath(folder)
    throw new Failure({
      code: 'BP1001',
      what: 'the demo needs an empty folder',
      where: folder,
      why: 'it is not empty, and nothing is overwritten',
      remedy: 'name a folder that does not exist yet',
    })
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    throw new Failure({
      code: 'BP4008',
      what: 'the folder for the demo cannot be created',
      where: wanted ?? (cli.env['TMPDIR'] || tmpdir()),
      why:
        thrown instanceof Error && 'code' in thrown
          ? String(thrown.code)
          : 'the file system refused it',
      remedy: 'name another one: backporch demo --folder PATH',
      cause: thrown,
    })
  }
}

async function runGit(
  args: readonly string[],
  cwd: string,
  env: DemoFolder['env'],
): Promise<string> {
  const author = { GIT_AUTHOR_DATE: TIMES.committed, GIT_COMMITTER_DATE: TIMES.committed }
  try {
    const { stdout } = await promisify(execFile)('git', [...args], {
      cwd,
      env: buildGitEnvironment({ ...env, ...author }),
      maxBuffer: 16 * 1024 * 1024,
    })
    return stdout
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') {
      throw new Failure({
        code: 'BP4009',
        what: 'git is not installed',
        why: 'the demo makes a repository with it',
        remedy: 'install git 2.28 or later and run again',
        cause: thrown,
      })
    }
    throw thrown
  }
}
