/** One repository, made by the real git in a temporary folder, and the four kinds of address that it is reached by. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommitDraft, PackageRepository } from '@backporch/git-store/package-repository'
import {
  type CacheNote,
  openRepository,
  type RepositoryOptions,
} from '@backporch/git-store/repository'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import {
  type GitHttpBackend,
  type GitHttpBackendOptions,
  startGitHttpBackend,
} from './git-http-backend.ts'

export const REMOTE_KINDS = ['local bare', 'local with work tree', 'file', 'http', 'ssh'] as const
export type RemoteKind = (typeof REMOTE_KINDS)[number]

export const TOKEN = 'canary-token-7f3a'

/** Identity and configuration that depend on nothing outside the test. */
export function gitTestEnvironment(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_AUTHOR_DATE: '1700000000 +0100',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    GIT_COMMITTER_DATE: '1700000000 +0100',
  }
}

export interface TestRepository {
  /** Temporary folder that holds everything. */
  readonly root: string
  /** Where the objects and refs are: to look at with git. */
  readonly gitFolder: string
  readonly remote: string
  readonly cacheDir: string
  readonly environment: NodeJS.ProcessEnv
  readonly backend: GitHttpBackend | undefined
  /** Runs git in `gitFolder`; standard output without its last line break. */
  git(...args: readonly string[]): string
  close(): Promise<void>
}

/** Folder with a repository that has main (two commits), a feature branch, one draft, a light and an annotated tag. */
export async function makeTestRepository(
  kind: RemoteKind,
  fault?: GitHttpBackendOptions['fault'],
): Promise<TestRepository> {
  const root = temporaryFolder()
  cpSync(template(), root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  const environment = gitTestEnvironment(root)
  const work = join(root, 'work')
  const bare = join(root, 'repo.git')
  const backend =
    kind === 'http'
      ? await startGitHttpBackend({
          root,
          environment,
          token: TOKEN,
          ...(fault === undefined ? {} : { fault }),
        })
      : undefined
  const gitFolder = kind === 'local with work tree' ? work : bare
  const address = {
    'local bare': bare,
    'local with work tree': work,
    file: `file://${bare}`,
    http: `${backend?.url}/repo.git`,
    ssh: `git@host.test:${bare}`,
  }
  return {
    root,
    gitFolder,
    remote: address[kind],
    cacheDir: join(root, 'cache'),
    environment:
      kind === 'ssh' ? { ...environment, GIT_SSH_COMMAND: writeFakeSsh(root) } : environment,
    backend,
    git: (...args) => runGit(gitFolder, environment, args),
    close: async () => {
      await backend?.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

let templateRoot: string | undefined

/** Made once in a process and copied for each test; gone when the process ends. */
function template(): string {
  if (templateRoot !== undefined) return templateRoot
  const root = temporaryFolder()
  process.once('exit', () => rmSync(root, { recursive: true, force: true }))
  const environment = gitTestEnvironment(root)
  const work = join(root, 'work')
  const git = (...args: readonly string[]) => runGit(work, environment, args)
  mkdirSync(work)
  git('init', '-q', '-b', 'main')
  fillPackage(work)
  git('add', '-A')
  git('commit', '-q', '-m', 'First')
  git('tag', 'apps/web/v1')
  writeFileSync(join(work, 'apps/web/deploy.yaml'), 'replicas: 3\n')
  git('commit', '-q', '-a', '-m', 'Second\n\nWith a body.')
  git('tag', '-a', '-m', 'annotated', 'apps/web/v2')
  git('branch', 'feature/x')
  git('branch', 'drafts/apps/web/drift-0', 'HEAD~1')
  git('clone', '-q', '--mirror', work, join(root, 'repo.git'))
  templateRoot = root
  return root
}

export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'backporch-git-')))
}

function runGit(cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).replace(/\n$/, '')
}

function fillPackage(work: string): void {
  mkdirSync(join(work, 'apps/web/bin'), { recursive: true })
  mkdirSync(join(work, 'apps/web-2'))
  writeFileSync(join(work, 'README.md'), '# Packages\n')
  writeFileSync(
    join(work, 'apps/web/Kptfile'),
    'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  )
  writeFileSync(join(work, 'apps/web/deploy.yaml'), 'replicas: 2\n')
  writeFileSync(join(work, 'apps/web/bin/run.sh'), '#!/bin/sh\n')
  writeFileSync(join(work, 'apps/web.txt'), 'sorts between web-2 and web/\n')
  writeFileSync(join(work, 'apps/web-2/Kptfile'), 'kind: Kptfile\n')
  chmodSync(join(work, 'apps/web/bin/run.sh'), 0o755)
  symlinkSync('deploy.yaml', join(work, 'apps/web/link.yaml'))
}

/** An ssh that, like a forge's server, runs exactly the two plain commands and nothing else. Notes its arguments in `ssh.log`. */
function writeFakeSsh(root: string): string {
  const script = join(root, 'fake-ssh')
  writeFileSync(
    script,
    `#!/bin/sh
printf '%s\\n' "$*" >> '${join(root, 'ssh.log')}'
[ "$#" = 2 ] && [ "$1" = git@host.test ] || { echo "unexpected arguments: $*" >&2; exit 255; }
case "$2" in
  "git-upload-pack '"*"'" | "git-receive-pack '"*"'") eval "exec git \${2#git-}" ;;
  *) echo "command not allowed: $2" >&2; exit 128 ;;
esac
`,
    { mode: 0o755 },
  )
  return script
}

/** Opens the repository with its own cache and, over http, its token. */
export function openTestRepository(
  fixture: TestRepository,
  more: Partial<RepositoryOptions> = {},
  note?: CacheNote,
): PackageRepository {
  const { remote, cacheDir, environment } = fixture
  const token = fixture.backend === undefined ? {} : { token: TOKEN }
  return openRepository({ remote, cacheDir, environment, ...token, ...more }, note)
}

/** Where the remote has `main` now. */
export async function headOf(
  repository: PackageRepository,
  signal: AbortSignal,
): Promise<ObjectId> {
  return parseObjectId((await repository.listRefs(signal)).refs.get('refs/heads/main') ?? '')
}

/** A commit on top of `base` that writes (text) or deletes (null) files. */
export function changeOf(
  base: ObjectId,
  files: Readonly<Record<string, string | null>>,
): CommitDraft {
  const changes = Object.entries(files).map(([path, text]) => ({
    path,
    content: text === null ? null : Buffer.from(text),
  }))
  return {
    parents: [base],
    base,
    changes,
    message: 'Correct it\n\nBecause.\n\nDrift-Id: 1',
    at: 1_700_000_500,
  }
}

/** Waits for a Failure with this code, which must not hold the token. */
export async function expectFailure(action: Promise<unknown>, code: FailureCode): Promise<Failure> {
  const thrown = await action.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(
    thrown instanceof Failure,
    `a Failure was expected: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
  )
  assert.equal(thrown.code, code, thrown.message)
  assert.doesNotMatch(
    `${JSON.stringify(thrown)} ${thrown.stack}`,
    /canary/,
    'no credential in a failure',
  )
  return thrown
}
