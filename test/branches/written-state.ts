/** A repository that lived through every decision, by the commands of this version or, as a bundle, of an earlier one. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runCli } from '../../src/cli/run-cli.ts'
import { runHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { type LiveColour, recordingOf } from '../fakes/recorded-config-map.ts'

const BEGIN = Date.parse('2026-11-21T08:00:00Z')
/** What becomes of the drift of each package. */
const PACKAGES = [
  'adopted',
  'declined',
  'drafted',
  'gone',
  'ignored',
  'open',
  'released',
  'restored',
  'snoozed',
  'synced',
] as const
type Package = (typeof PACKAGES)[number]
const DRIFTED: readonly Package[] = PACKAGES.filter((name) => name !== 'synced')
const CLUSTERS = ['prod', 'test'] as const
const POLICIES = {
  '.drift/default.policy': `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: default}
spec:
  mode: Propose
  detect: {minAge: 0s, settle: 0s}
  limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}
`,
  '.drift/drafted.policy': `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: drafted}
spec:
  priority: 10
  match: {packages: [apps/drafted]}
  mode: Warn
`,
  '.drift/placement.policy': `apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: shop}
spec:
  clusters: [prod, test]
  packages: ['apps/**']
  allow: {namespaces: [shop]}
`,
}

export class WrittenState {
  private readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-written-')))
  private readonly env: NodeJS.ProcessEnv
  private readonly colours = new Map<string, LiveColour>()
  private minute = 0

  private constructor() {
    this.env = {
      PATH: process.env['PATH'],
      HOME: this.folder,
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_AUTHOR_DATE: '2026-11-21T06:00:00Z',
      GIT_COMMITTER_DATE: '2026-11-21T06:00:00Z',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      BACKPORCH_KEY: 'c0de'.repeat(16),
    }
    for (const cluster of CLUSTERS)
      for (const name of PACKAGES) this.set(cluster, name, 'blue', 'ci')
  }

  /** Packages in sync, and nothing of Backporch but policies. */
  static async begin(): Promise<WrittenState> {
    const made = new WrittenState()
    const work = join(made.folder, 'work')
    const files = Object.fromEntries(
      PACKAGES.flatMap((name) => [
        [
          `apps/${name}/Kptfile`,
          `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\n`,
        ],
        [
          `apps/${name}/config.yaml`,
          `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: shop\ndata:\n  color: blue # ours\n`,
        ],
      ]),
    )
    for (const [path, text] of Object.entries({ ...POLICIES, ...files })) {
      mkdirSync(dirname(join(work, path)), { recursive: true })
      writeFileSync(join(work, path), text)
    }
    made.git(work, 'init', '--quiet', '--initial-branch=main')
    made.git(work, 'add', '--all')
    made.git(work, 'commit', '--quiet', '--message=Packages and policies')
    made.git(made.folder, 'clone', '--quiet', '--bare', work, made.remote)
    return made
  }

  /** A bundle, with the clusters as they were when it was made. */
  static read(bundle: string): WrittenState {
    const made = new WrittenState()
    made.git(made.folder, 'clone', '--quiet', '--mirror', bundle, made.remote)
    made.edit()
    made.minute = 30
    made.sync()
    return made
  }

  get remote(): string {
    return join(this.folder, 'deploy.git')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Commits by full name of the ref. */
  refs(): ReadonlyMap<string, string> {
    const lines = this.git(this.remote, 'for-each-ref', '--format=%(refname) %(objectname)').split(
      '\n',
    )
    return new Map(lines.map((line) => line.split(' ') as [string, string]))
  }

  /** What git has of a file, or of anything else that it can name. */
  show(name: string): string {
    return this.git(this.remote, 'show', name)
  }

  files(ref: string): readonly string[] {
    return this.git(this.remote, 'ls-tree', '-r', '--name-only', ref).split('\n')
  }

  /** Every decision, from the first edit to the result in the cluster. @throws where a command ends in another way than it should */
  async live(): Promise<void> {
    this.edit()
    await this.observe([1])
    await this.run([0], 'adopt', 'apps/adopted', '-m', 'the shop is red now', ...this.of('prod'))
    await this.run([0], 'approve', 'apps/adopted', '--yes', '--as', 'Grace', ...this.of('prod'))
    await this.run([0], 'approve', 'apps/restored', '--yes', '--as', 'Grace', ...this.of('prod'))
    await this.run([0], 'release', 'apps/released', ...this.of('prod'))
    await this.run([0], 'approve', 'apps/released', '--yes', '--as', 'Grace', ...this.of('prod'))
    await this.run(
      [0],
      'reject',
      'apps/declined',
      '--yes',
      '--as',
      'Grace',
      '-m',
      'not now',
      ...this.of('prod'),
    )
    await this.run([0], 'ignore', 'apps/ignored', '-m', 'people choose it', ...this.of('prod'))
    this.sync()
    await this.observe()
  }

  /** One scan of each cluster. @param codes 3 where the recording has no dry run: of the manifest without the released field */
  async observe(codes: readonly number[] = [1, 3]): Promise<readonly ProgramRun[]> {
    const runs: ProgramRun[] = []
    for (const cluster of CLUSTERS) runs.push(await this.run(codes, 'scan', ...this.of(cluster)))
    return runs
  }

  of(cluster: (typeof CLUSTERS)[number]): readonly string[] {
    return ['--live', join(this.folder, `${cluster}.json`), '--cluster', cluster]
  }

  /** A command, a minute after the one before. @param codes with which it may end */
  async run(codes: readonly number[], ...argv: readonly string[]): Promise<ProgramRun> {
    this.minute += 1
    const now = new Date(BEGIN + this.minute * 60_000)
    for (const cluster of CLUSTERS) {
      const own = [...this.colours]
        .filter(([key]) => key.startsWith(`${cluster}/`))
        .map(([, colour]) => colour)
      const recording = {
        apiVersion: 'backporch.dev/v1alpha1',
        kind: 'Recording',
        spec: { cluster, observedAt: now.toISOString() },
      }
      const list = recordingOf(own) as { readonly items: readonly object[] }
      writeFileSync(
        join(this.folder, `${cluster}.json`),
        JSON.stringify({ ...list, items: [recording, ...list.items] }),
      )
    }
    const clock = { now: () => now, sleep: () => Promise.reject(new Error('nothing waits')) }
    const given = [...argv, '--repo', this.remote]
    const run = await runHere(
      `backporch ${given.join(' ')}`,
      { cwd: this.folder, env: this.env },
      (world) => runCli(given, { ...world, clock: { ...world.clock, ...clock } }),
    )
    if (!codes.includes(run.code))
      throw new Error(`${run.command} ends with ${run.code}:\n${run.stdout}${run.stderr}`)
    return run
  }

  /** People edit every package but one. */
  private edit(): void {
    for (const name of DRIFTED) this.set('prod', name, 'red')
    this.set('test', 'open', 'green')
  }

  /** The syncer applies what was merged, and somebody undoes an edit. */
  private sync(): void {
    this.set('prod', 'adopted', 'red', 'ci')
    for (const name of ['gone', 'restored'] as const) this.set('prod', name, 'blue', 'ci')
  }

  private set(
    cluster: (typeof CLUSTERS)[number],
    name: Package,
    color: LiveColour['color'],
    by: LiveColour['by'] = 'kubectl-edit',
  ): void {
    this.colours.set(`${cluster}/${name}`, {
      color,
      by,
      name,
      at: new Date(BEGIN - 3_600_000 + this.minute * 60_000),
    })
  }

  private git(cwd: string, ...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd,
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }
}
