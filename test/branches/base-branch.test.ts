/**
 * One repository, several base branches, one ledger: release branches of different clusters work side by side, and one package
 * in one cluster belongs to one branch (docs/adr/0014). Real git, recorded clusters.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { backporchHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { configMap } from '../fakes/recorded-config-map.ts'

/** What was seen long ago is Unknown. */
const LATELY = new Date(Date.now() - 3_600_000)

describe('base branches', () => {
  let folder = ''
  let world: World
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'backporch-branches-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))
  beforeEach(() => {
    rmSync(join(folder, 'world'), { recursive: true, force: true })
    world = new World(join(folder, 'world'))
  })

  test('proposes, decides and shows release branches of two clusters separately', async () => {
    exits(await world.run('scan', 'staging', 'staging'), 3)
    exits(await world.run('scan', 'prod', 'prod'), 3)
    const [staging, prod] = [world.proposal('staging'), world.proposal('prod')]
    assert.notEqual(staging, prod)

    exits(await world.run('approve', 'staging', 'staging', '--yes'), 0)
    assert.equal(world.proposal('staging'), undefined)
    assert.equal(world.proposal('prod'), prod, 'the decision about one leaves the other alone')
    // Tags are of the whole repository, so the revision that staging published counts for prod too, once.
    exits(await world.run('scan', 'prod', 'prod'), 3)
    const refs = world.refs()
    exits(await world.run('scan', 'prod', 'prod'), 3)
    assert.equal(world.refs(), refs, 'nothing new, nothing written')
    assert.equal(world.proposal('prod'), prod)

    exits(await world.run('reject', 'prod', 'prod', '--yes'), 0)
    assert.match(
      world.git('log', '--format=%s', 'staging'),
      /^chore\(drift\): restore .* in staging/,
    )
    assert.doesNotMatch(world.git('log', '--format=%s', 'prod'), /drift/)
    assert.match(world.report('staging'), /branch: staging\n/)
    assert.match(world.report('prod'), /branch: prod\n/)
    const status = exits(await world.plain('status'), 1)
    assert.match(status.stdout, /staging.*Applying/)
    assert.match(status.stdout, /prod.*Silenced/)
  })

  test('refuses a second branch for the same package and cluster before any write, with what to do', async () => {
    exits(await world.run('scan', 'prod', 'c'), 3)
    const refs = world.refs()
    for (const command of [
      ['scan'],
      ['restore', 'apps/web'],
      ['approve', 'apps/web', '--yes'],
      ['reject', 'apps/web', '--yes'],
    ]) {
      const [name = '', ...args] = command
      const run = exits(await world.run(name, 'staging', 'c', ...args), 2)
      assert.match(run.stderr, /^error BP2012: apps\/web in c is not written from staging$/m)
      assert.match(run.stderr, /why: it follows prod: /)
      assert.match(
        run.stderr,
        /fix: give --branch prod, or name the cluster that runs staging with --cluster/,
      )
      assert.equal(world.refs(), refs, name)
    }
    // Looking is allowed: what would differ if that branch were the one.
    const diff = exits(await world.run('diff', 'staging', 'c'), 3)
    assert.match(diff.stdout, /data\.color/)
    assert.match(
      diff.stdout + diff.stderr,
      /apps\/web in c follows prod: differences to staging are not recorded/,
    )
    assert.equal(world.refs(), refs)
  })

  test('a turn with another branch does not treat a proposal merged into its own branch as rejected', async () => {
    exits(await world.run('scan', 'prod', 'c'), 3)
    world.mergeByHand('prod')
    exits(await world.run('scan', 'staging', 'c'), 2)
    exits(await world.run('diff', 'staging', 'c'), 3)
    assert.equal(world.ledger('closed'), '', 'nothing was decided')
    exits(await world.run('scan', 'prod', 'c'), 3)
    assert.doesNotMatch(world.git('log', '--format=%B', 'drift-ledger'), /declined/)
    assert.match(world.git('log', '--format=%B', 'drift-ledger'), /merged [0-9a-f]{8} \(Restore\)/)
    assert.match(exits(await world.plain('status'), 1).stdout, /Applying/)
  })

  test('a renamed branch keeps its packages', async () => {
    exits(await world.run('scan', 'prod', 'c'), 3)
    const workspace = world.proposal('c')
    world.git('branch', '-m', 'prod', 'release')
    exits(await world.run('scan', 'release', 'c'), 3)
    assert.equal(world.proposal('c'), workspace)
    assert.match(world.report('c'), /branch: release\n/)
    exits(await world.run('approve', 'release', 'c', '--yes'), 0)
    assert.match(world.git('log', '--format=%s', 'release'), /^chore\(drift\): restore /)
  })

  test('removing its report from the ledger moves a package to another branch, as the refusal says', async () => {
    exits(await world.run('scan', 'prod', 'c'), 3)
    exits(await world.run('reject', 'prod', 'c', '--yes'), 0)
    const refused = exits(await world.run('scan', 'staging', 'c'), 2)
    const [, file = ''] = /where: drift-ledger:(\S+)/.exec(refused.stderr) ?? []
    world.removeFromLedger(file)
    exits(await world.run('scan', 'staging', 'c'), 3)
    assert.match(world.report('c'), /branch: staging\n/)
    exits(await world.run('scan', 'prod', 'c'), 2)
  })
})

function exits(run: ProgramRun, code: number): ProgramRun {
  assert.equal(
    run.code,
    code,
    `${run.command}\n--- stdout\n${run.stdout}\n--- stderr\n${run.stderr}`,
  )
  return run
}

class World {
  private readonly folder: string
  private readonly repository: string
  private readonly checkout: string
  private readonly env: NodeJS.ProcessEnv

  constructor(folder: string) {
    this.folder = folder
    this.repository = join(folder, 'packages.git')
    this.checkout = join(folder, 'checkout')
    this.env = {
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      XDG_CACHE_HOME: join(folder, 'home', 'cache'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      BACKPORCH_KEY: 'c0de'.repeat(16),
    }
    mkdirSync(join(folder, 'home'), { recursive: true })
    mkdirSync(join(this.checkout, 'apps', 'web'), { recursive: true })
    mkdirSync(join(this.checkout, '.drift'), { recursive: true })
    this.inCheckout('init', '--quiet', '--initial-branch=prod')
    this.write(
      'apps/web/Kptfile',
      'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
    )
    this.write('apps/web/settings.yaml', manifest('blue'))
    this.write(
      '.drift/policy.yaml',
      'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: default}\nspec: {mode: Propose, detect: {minAge: 0s, settle: 0s}}\n',
    )
    this.commit('web')
    this.inCheckout('checkout', '--quiet', '-b', 'staging')
    this.write('apps/web/settings.yaml', manifest('green'))
    this.commit('next colour')
    execFileSync('git', ['clone', '--quiet', '--bare', this.checkout, this.repository], {
      env: this.env,
      stdio: 'pipe',
    })
    writeFileSync(join(folder, 'live.json'), JSON.stringify(LIVE))
  }

  /** One command with a base branch and a cluster; a recording proves less than a server, so drift ends with 3. */
  run(
    command: string,
    branch: string,
    cluster: string,
    ...args: readonly string[]
  ): Promise<ProgramRun> {
    return this.plain(
      command,
      ...args,
      '--branch',
      branch,
      '--cluster',
      cluster,
      '--live',
      join(this.folder, 'live.json'),
    )
  }

  plain(...args: readonly string[]): Promise<ProgramRun> {
    return backporchHere([...args, '--repo', this.repository], { cwd: this.folder, env: this.env })
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd: this.repository,
      env: this.env,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  }

  refs(): string {
    return this.git('for-each-ref', '--format=%(objectname) %(refname)')
  }

  /** Commit of the open proposal that has a record of the cluster. */
  proposal(cluster: string): string | undefined {
    const heads = this.git('for-each-ref', '--format=%(objectname)', 'refs/heads/proposed').split(
      '\n',
    )
    return heads.find(
      (head) =>
        head !== '' &&
        this.git('ls-tree', '-r', '--name-only', head, `.drift/records/${cluster}/`) !== '',
    )
  }

  report(cluster: string): string {
    return this.git('show', `drift-ledger:clusters/${cluster}/apps--web/report.yaml`)
  }

  ledger(folder: string): string {
    return this.git('ls-tree', '-r', '--name-only', 'drift-ledger', `${folder}/`)
  }

  /** As a forge does it that deletes the branch of a merged request. */
  mergeByHand(branch: string): void {
    const [head = ''] = this.git(
      'for-each-ref',
      '--format=%(refname:short)',
      'refs/heads/proposed',
    ).split('\n')
    this.inCheckout('remote', 'add', 'origin', this.repository)
    this.inCheckout('fetch', '--quiet', 'origin')
    this.inCheckout('checkout', '--quiet', '-B', 'merging', `origin/${branch}`)
    this.inCheckout('merge', '--quiet', '--no-ff', '--message', 'merged', `origin/${head}`)
    this.inCheckout('push', '--quiet', 'origin', `merging:${branch}`, `:${head}`)
  }

  removeFromLedger(path: string): void {
    this.inCheckout('remote', 'add', 'origin', this.repository)
    this.inCheckout('fetch', '--quiet', 'origin')
    this.inCheckout('checkout', '--quiet', '-B', 'ledger', 'origin/drift-ledger')
    this.inCheckout('rm', '--quiet', path)
    this.commit('move the package')
    this.inCheckout('push', '--quiet', 'origin', 'ledger:drift-ledger')
  }

  private inCheckout(...args: readonly string[]): void {
    execFileSync('git', args, { cwd: this.checkout, env: this.env, stdio: 'pipe' })
  }

  private write(path: string, text: string): void {
    writeFileSync(join(this.checkout, path), text)
  }

  private commit(message: string): void {
    this.inCheckout('add', '--all')
    this.inCheckout('commit', '--quiet', '--message', message)
  }
}

function manifest(color: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\ndata:\n  color: ${color}\n`
}

/** Somebody made it red. */
const LIVE = configMap({ color: 'red', by: 'kubectl-edit', at: LATELY })
