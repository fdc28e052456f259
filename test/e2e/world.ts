/**
 * One person's machine against a real cluster: a home folder, a repository with packages, a checkout of it, and the
 * programs that people use (`backporch`, `git`, `kubectl`, `kpt`), each as a child process.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { backporchHere } from './run-here.ts'
import { type ProgramRun, runProgram } from './run-program.ts'

/** Files by their path from the root of the repository. */
export type Files = Readonly<Record<string, string>>

export interface WorldOptions {
  /** Kubeconfig of the person; the administrator's otherwise. */
  readonly kubeconfig?: string
}

/** Field manager of the syncer in these tests: `kubectl apply --server-side --field-manager=ci`. */
export const SYNCER = 'ci'

/** What a world ends with: a test, or a case of a run by hand. */
export type Lifetime = Pick<TestContext, 'after'>

/** Makes the repository with `files` on `main`, and removes everything when the test ends. */
export async function openWorld(
  t: Lifetime,
  plane: ControlPlane,
  files: Files,
  options: WorldOptions = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-e2e-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const world = new World(folder, plane, options.kubeconfig ?? plane.kubeconfig)
  await world.create(files)
  return world
}

export class World {
  /** Everything of this world lies below. */
  readonly folder: string
  /** The bare repository that everybody pushes to. */
  readonly repository: string
  /** A clone of it, on `main`. */
  readonly checkout: string
  readonly plane: ControlPlane
  /** Every call of backporch, in order. */
  readonly calls: ProgramRun[] = []
  private readonly env: NodeJS.ProcessEnv

  constructor(folder: string, plane: ControlPlane, kubeconfig: string) {
    this.folder = folder
    this.plane = plane
    this.repository = join(folder, 'packages.git')
    this.checkout = join(folder, 'checkout')
    const home = join(folder, 'home')
    this.env = {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_CACHE_HOME: join(home, 'cache'),
      GIT_CONFIG_NOSYSTEM: '1',
      KUBECONFIG: kubeconfig,
      GOGC: process.env['GOGC'],
      BACKPORCH_KEY: 'e2e0'.repeat(16),
      TZ: 'UTC',
    }
  }

  async create(files: Files): Promise<void> {
    mkdirSync(join(this.folder, 'home', 'cache'), { recursive: true })
    writeFileSync(
      join(this.folder, 'home', '.gitconfig'),
      '[user]\n  name = Ada Lovelace\n  email = ada@example.com\n[init]\n  defaultBranch = main\n[advice]\n  detachedHead = false\n[maintenance]\n  auto = false\n[receive]\n  autogc = false\n',
    )
    await this.run('git', ['init', '--quiet', '--bare', this.repository], { cwd: this.folder })
    await this.run('git', ['clone', '--quiet', this.repository, this.checkout], {
      cwd: this.folder,
    })
    await this.commit(files, 'packages')
  }

  /** Writes the files into the checkout (`null` removes one), commits and pushes. */
  async commit(files: Readonly<Record<string, string | null>>, message: string): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      if (text === null) rmSync(join(this.checkout, path))
      else this.write(path, text)
    }
    await this.git('add', '--all')
    await this.git('commit', '--quiet', '--message', message)
    await this.git('push', '--quiet', 'origin', 'HEAD:main')
  }

  /** Writes a file into the checkout and leaves it uncommitted. */
  write(path: string, text: string): void {
    const target = join(this.checkout, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }

  read(path: string): string {
    return readFileSync(join(this.checkout, path), 'utf8')
  }

  /** git in the checkout. @returns stdout, without the last line break */
  async git(...args: readonly string[]): Promise<string> {
    return (await this.run('git', args, { cwd: this.checkout })).stdout.trimEnd()
  }

  /** git in the bare repository. @returns stdout, without the last line break */
  async remote(...args: readonly string[]): Promise<string> {
    return (await this.run('git', args, { cwd: this.repository })).stdout.trimEnd()
  }

  /** Every ref of the repository and what it names, as `git for-each-ref` prints them. */
  async refs(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.remote('for-each-ref', '--format=%(refname) %(objectname)'))
      .split('\n')
      .filter((line) => line !== '')
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    )
  }

  /** Short names of the `drafts/` and `proposed/` branches. */
  async proposals(): Promise<string[]> {
    const names = [...(await this.refs()).keys()].map((ref) => ref.replace(/^refs\/heads\//, ''))
    return names.filter((name) => name.startsWith('drafts/') || name.startsWith('proposed/')).sort()
  }

  /** Text of a file at a revision of the repository. */
  async show(revision: string, path: string): Promise<string> {
    return (await this.run('git', ['show', `${revision}:${path}`], { cwd: this.repository })).stdout
  }

  /** Every object of the bare repository, reachable or not, and of every git repository that backporch keeps in its cache. */
  async everyObject(): Promise<Buffer> {
    const folders = readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name === 'objects')
      .map((entry) => entry.parentPath)
    const texts: Buffer[] = []
    for (const folder of folders) {
      const args = [
        '--git-dir',
        folder,
        'cat-file',
        '--batch-all-objects',
        '--batch',
        '--unordered',
      ]
      texts.push(execFileSync('git', args, { env: this.env, maxBuffer: 1 << 28 }))
    }
    return Buffer.concat(texts)
  }

  /** kubectl as the administrator. Rejects when it fails. @returns stdout */
  async kubectl(...args: readonly string[]): Promise<string> {
    return (await this.run('kubectl', args, { env: { KUBECONFIG: this.plane.kubeconfig } })).stdout
  }

  /** `kubectl edit` with an editor that replaces text. */
  async edit(from: string, to: string, ...args: readonly string[]): Promise<void> {
    const editor = `sed -i -e s/${from}/${to}/`
    await this.run('kubectl', ['edit', ...args], {
      env: { KUBECONFIG: this.plane.kubeconfig, KUBE_EDITOR: editor },
    })
  }

  /** kubectl with what it reads from its standard input. Rejects when it fails. */
  async pipe(stdin: string, ...args: readonly string[]): Promise<string> {
    return (await this.run('kubectl', args, { env: { KUBECONFIG: this.plane.kubeconfig }, stdin }))
      .stdout
  }

  /** Waits until the controllers have said all that they say about a Deployment where there are no nodes. */
  async settled(namespace: string, deployment: string, replicas: number): Promise<void> {
    if (!this.plane.controllerManager) return
    const wait = (condition: string): Promise<string> =>
      this.kubectl(
        'wait',
        `deployment/${deployment}`,
        `--namespace=${namespace}`,
        `--for=jsonpath=${condition}`,
        '--timeout=4m',
      )
    await wait(`{.status.unavailableReplicas}=${replicas}`)
    await wait(`{.status.updatedReplicas}=${replicas}`)
  }

  kpt(cwd: string, ...args: readonly string[]): Promise<ProgramRun> {
    return this.run('kpt', args, { cwd })
  }

  /** The syncer: applies the manifests of a package as `main` has them. The inventory is not applied, as with `kpt live`. */
  async sync(packagePath: string): Promise<void> {
    await this.git('fetch', '--quiet', 'origin')
    const listed = await this.git(
      'ls-tree',
      '-r',
      '--name-only',
      'origin/main',
      '--',
      packagePath === '.' ? '.' : `${packagePath}/`,
    )
    const manifests = listed
      .split('\n')
      .filter(
        (path) => /\.ya?ml$/.test(path) && !/(^|\/)(\.drift\/|resourcegroup\.yaml$)/.test(path),
      )
    const texts = await Promise.all(manifests.map((path) => this.show('main', path)))
    await this.pipe(
      texts.join('\n---\n'),
      'apply',
      '--server-side',
      '--force-conflicts',
      `--field-manager=${SYNCER}`,
      '--filename=-',
    )
  }

  /** backporch in the checkout, on the bare repository. Any exit code is an answer. */
  backporch(...args: readonly string[]): Promise<ProgramRun> {
    return this.backporchIn(this.checkout, {}, ...args, '--repo', this.repository)
  }

  /**
   * backporch in any folder, with more environment. Any exit code is an answer. It runs in this process, with the real
   * world around it: a start of Node costs more than most commands (decide.live.test.ts took 78 s of CPU with processes, 37 s without).
   * The tests of crashes, of the packed file and of the controller start processes.
   */
  async backporchIn(
    cwd: string,
    env: NodeJS.ProcessEnv,
    ...args: readonly string[]
  ): Promise<ProgramRun> {
    const call = await backporchHere(args, { cwd, env: { ...this.env, ...env } })
    this.calls.push(call)
    // A fault of our own is never an expected answer, and a stack trace is for those who ask for it.
    const fault = args.includes('--debug')
      ? /BP9001|UnhandledPromise/
      : /BP9001|UnhandledPromise|^\s+at .*:\d+:\d+\)?$/m
    assert.doesNotMatch(call.stderr, fault, `${call.command}\n${call.stderr}`)
    return call
  }

  private async run(
    program: string,
    args: readonly string[],
    options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly stdin?: string },
  ): Promise<ProgramRun> {
    const ended = await runProgram(program, args, {
      cwd: options.cwd ?? this.folder,
      env: { ...this.env, ...options.env },
      stdin: options.stdin,
    })
    assert.equal(
      ended.code,
      0,
      `${ended.command} ended with ${ended.code}: ${ended.stderr || ended.stdout}`,
    )
    return ended
  }
}

/** The run ended with this exit code; its output is in the message otherwise. */
export function assertExit(run: ProgramRun, code: number): ProgramRun {
  assert.equal(
    run.code,
    code,
    `${run.command}\n--- stdout\n${run.stdout}\n--- stderr\n${run.stderr}`,
  )
  return run
}

/**
 * The run of `status` found no drift. An object may have failed (5): without nodes no rollout ends, and after ten minutes, which a test takes on
 * a busy machine, the controllers say so (`progressDeadlineSeconds`).
 */
export function assertNoDrift(run: ProgramRun): ProgramRun {
  return assertExit(run, run.code === 5 ? 5 : 0)
}

/** All refs but the ledger, where a scan says what it could not read. */
export async function refsOfPeople(world: World): Promise<ReadonlyMap<string, string>> {
  return new Map([...(await world.refs())].filter(([ref]) => ref !== 'refs/heads/drift-ledger'))
}
