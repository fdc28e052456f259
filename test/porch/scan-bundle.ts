/**
 * Repositories that a real Porch server left behind (`fixtures/README.md`), and the cluster that Backporch compared them with. A scan looks at
 * them a minute after Porch did what it did.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../src/cli/run-cli.ts'
import { runHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { InProcessRenderer } from '../fakes/in-process-renderer.ts'
import { runGit } from '../gitea/run-git.ts'

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))

export class BundledRepository {
  readonly folder = mkdtempSync(join(tmpdir(), 'backporch-porch-'))
  readonly path = join(this.folder, 'deploy.git')
  private readonly live = join(this.folder, 'live', 'live.yaml')
  private minute = 0

  static async of(bundle: string): Promise<BundledRepository> {
    const made = new BundledRepository()
    await runGit(
      ['clone', '--quiet', '--mirror', join(FIXTURES, `${bundle}.bundle`), made.path],
      undefined,
    )
    mkdirSync(join(made.folder, 'live'))
    cpSync(join(FIXTURES, 'live.yaml'), made.live)
    return made
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  async git(...args: readonly string[]): Promise<string> {
    return (await runGit(args, undefined, { directory: this.path })).stdout.trim()
  }

  /** Commits by full ref name. */
  async refs(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.git('for-each-ref', '--format=%(refname) %(objectname)')).split('\n')
    return new Map(lines.map((line) => line.split(' ') as [string, string]))
  }

  /** Undefined where there is no such file. */
  async file(commit: string, path: string): Promise<string | undefined> {
    const found = await this.git('ls-tree', '--name-only', commit, path)
    return found === '' ? undefined : this.git('show', `${commit}:${path}`)
  }

  /** Live objects with another text: `edit('replicas: 5', 'replicas: 7')`. */
  edit(from: string, to: string): void {
    writeFileSync(this.live, readFileSync(this.live, 'utf8').replace(from, to))
  }

  /** `shop/api` names v0.4.5 of `set-namespace`, of which no original is at hand (docs/adr/0054): somebody names v0.4.6, which makes the same of it. */
  async repair(): Promise<void> {
    const clone = join(this.folder, 'repair')
    await runGit(['clone', '--quiet', '--branch', 'main', this.path, clone], undefined)
    const kptfile = join(clone, 'shop', 'api', 'Kptfile')
    writeFileSync(
      kptfile,
      readFileSync(kptfile, 'utf8').replace('set-namespace:v0.4.5', 'set-namespace:v0.4.6'),
    )
    const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    await runGit(
      [...person, 'commit', '--quiet', '-am', 'Name a release that is built in'],
      undefined,
      { directory: clone },
    )
    await runGit(['push', '--quiet', 'origin', 'main'], undefined, { directory: clone })
  }

  /** `backporch` in an hour after the last time that any of the bundles has, and a minute after the command before. */
  async run(...argv: readonly string[]): Promise<ProgramRun> {
    this.minute += 1
    const at = new Date(Date.parse('2026-11-22T17:30:00Z') + this.minute * 60_000).toISOString()
    const header = {
      apiVersion: 'backporch.dev/v1alpha1',
      kind: 'Recording',
      spec: { cluster: 'prod', observedAt: `${at.slice(0, 19)}Z` },
    }
    writeFileSync(join(this.folder, 'live', 'recording.json'), JSON.stringify(header))
    const env = {
      PATH: process.env['PATH'],
      HOME: this.folder,
      BACKPORCH_KEY: 'ab'.repeat(32),
      BACKPORCH_CACHE: join(this.folder, 'cache'),
    }
    return runHere(`backporch ${argv.join(' ')}`, { cwd: this.folder, env }, (world) =>
      runCli([...argv, '--repo', this.path], {
        ...world,
        openRenderer: async () => new InProcessRenderer(),
      }),
    )
  }

  scan(...argv: readonly string[]): Promise<ProgramRun> {
    return this.run(
      'scan',
      '--live',
      join(this.folder, 'live'),
      '--cluster',
      'prod',
      '--field-manager',
      'kubectl',
      ...argv,
    )
  }
}
