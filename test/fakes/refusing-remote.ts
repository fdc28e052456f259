/** Packages of one cluster in a real git server with rules: hooks refuse refs, as the rules of forges do. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalForge } from '@backporch/forge/local-forge'
import { BOT } from '@backporch/git-store/commit'
import type { PackageRepository, RefUpdate } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import { runTurn, type TurnResult } from '../../src/reconcile/turn/run-turn.ts'
import { type DriftReport, driftReportSchema } from '../../src/record/documents/drift-report.ts'
import { parseDocument } from '../../src/record/write-document.ts'
import {
  makeTestRepository,
  openTestRepository,
  type TestRepository,
} from '../contract/git-remotes.ts'
import type { TestRequest } from './turn-request.ts'
import { CONFIG, KPTFILE, TurnWorld } from './turn-world.ts'

/** How a server refuses: for each ref by itself, or all refs of the push for one of them. */
export type RuleKind = 'update' | 'pre-receive'

export class RefusingRemote {
  readonly world: TurnWorld
  readonly fixture: TestRepository
  readonly repository: PackageRepository
  /** Called before each push of a turn: a test ends the process there. */
  beforePush: (updates: readonly RefUpdate[]) => void = () => undefined
  private between = new TurnCache()

  private constructor(world: TurnWorld, fixture: TestRepository) {
    this.world = world
    this.fixture = fixture
    this.repository = openTestRepository(fixture, { baseBranch: 'main' })
    const { repository } = this
    const push = repository.push.bind(repository)
    repository.push = async (updates, signal) => {
      this.beforePush(updates)
      await push(updates, signal)
    }
  }

  /** @param packages names below `apps/` beside `web`, with one ConfigMap each */
  static async open(
    packages: readonly string[],
    policy = '{mode: Propose}',
  ): Promise<RefusingRemote> {
    const files = packages.flatMap((name) => [
      [`apps/${name}/Kptfile`, KPTFILE.replace('web', name)],
      [`apps/${name}/config.yaml`, CONFIG.replace('name: web', `name: ${name}`)],
    ])
    const world = new TurnWorld(policy, Object.fromEntries(files))
    const fixture = await makeTestRepository('local bare')
    for (const ref of fixture.git('for-each-ref', '--format=%(refname)').split('\n'))
      fixture.git('update-ref', '-d', ref)
    const remote = new RefusingRemote(world, fixture)
    const signal = new AbortController().signal
    const changes = world.repository
      .paths('main')
      .map((path) => ({ path, content: Buffer.from(world.repository.text('main', path) ?? '') }))
    const main = await remote.repository.write({
      parents: [],
      base: undefined,
      changes,
      message: 'Packages',
      at: 1_700_000_000,
    })
    await remote.repository.push([{ ref: 'refs/heads/main', from: null, to: main }], signal)
    return remote
  }

  edit(name: string, color = 'red'): void {
    this.world.edit(`/ConfigMap/shop/${name}`, 'data.color', color)
  }

  /** Refuses refs from now on. @param pattern of the shell's `case`; undefined: nothing is refused */
  rule(kind: RuleKind, pattern: string | undefined): void {
    for (const hook of ['update', 'pre-receive'])
      rmSync(join(this.fixture.gitFolder, 'hooks', hook), { force: true })
    if (pattern === undefined) return
    const refuse = `${pattern}) echo "GH013: Repository rule violations found for $ref." >&2; exit 1`
    const script =
      kind === 'update'
        ? `ref=$1 old=$2 new=$3\ncase "$ref $old $new" in ${refuse};; esac`
        : `while read -r old new ref; do case "$ref $old $new" in ${refuse};; esac; done`
    writeFileSync(join(this.fixture.gitFolder, 'hooks', kind), `#!/bin/sh\n${script}\nexit 0\n`, {
      mode: 0o755,
    })
  }

  /** One turn of a process that goes on, a minute after the one before. */
  async turn(more: TestRequest = {}): Promise<TurnResult> {
    this.world.pass(1)
    const { repository, world, between } = this
    const ports = { repository, cluster: world.cluster, forge: new LocalForge(repository) }
    return runTurn(
      ports,
      { ...world.request({ bot: { email: BOT.email }, ...more }), between },
      new AbortController().signal,
    )
  }

  /** The process ends, and another one begins. */
  restart(): void {
    this.between = new TurnCache()
  }

  /** A person merges a proposal. */
  async merge(name: string): Promise<ObjectId> {
    const branch = this.branches().find((each) => each.startsWith(`proposed/apps/${name}/`)) ?? ''
    this.fixture.git('update-ref', 'refs/heads/main', `refs/heads/${branch}`)
    return this.fixture.git('rev-parse', 'main') as ObjectId
  }

  branches(): readonly string[] {
    return this.fixture
      .git('for-each-ref', '--format=%(refname:short)', 'refs/heads/proposed', 'refs/heads/drafts')
      .split('\n')
      .filter(Boolean)
  }

  tags(): readonly string[] {
    return this.fixture
      .git('for-each-ref', '--format=%(refname:short)', 'refs/tags')
      .split('\n')
      .filter(Boolean)
  }

  /** By name of the package. */
  reports(): ReadonlyMap<string, DriftReport> {
    const paths = this.fixture.git('ls-tree', '-r', '--name-only', 'drift-ledger').split('\n')
    return new Map(
      paths
        .filter((path) => path.endsWith('/report.yaml'))
        .map((path) => {
          const report = parseDocument(
            this.fixture.git('show', `drift-ledger:${path}`),
            driftReportSchema,
            path,
          )
          return [report.spec.unit.package.replace('apps/', ''), report]
        }),
    )
  }

  /** Ids of the episodes that the ledger has as ended. */
  closed(): readonly string[] {
    const paths = this.fixture.git('ls-tree', '-r', '--name-only', 'drift-ledger').split('\n')
    return paths.filter((path) => path.startsWith('closed/'))
  }

  /** A ledger that names a proposal without its branch tells the next turn that a person declined the drift. */
  assertLedgerTrue(): void {
    if (this.fixture.git('for-each-ref', 'refs/heads/drift-ledger') === '') return
    const branches = this.branches()
    for (const [name, { status }] of this.reports()) {
      if (status.lifecycle === '') continue
      const branch =
        status.branch ??
        `${status.lifecycle === 'Draft' ? 'drafts' : 'proposed'}/apps/${name}/drift-${status.episode}`
      assert.ok(branches.includes(branch), `the ledger names ${branch}, which is not there`)
    }
  }

  close(): Promise<void> {
    return this.fixture.close()
  }
}
