/**
 * What earlier versions wrote stays readable, and moves with the next decision (docs/adr/0067-names-that-no-applier-reads.md). The bundle was
 * made by commit 4bddee18: one adopted drift, with its record on main, then another one that is proposed.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { backporchHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { type Colour, recordingOf } from '../fakes/recorded-config-map.ts'

const BUNDLE = fileURLToPath(new URL('fixtures/earlier-names.bundle', import.meta.url))
const FIRST = '.drift/records/prod/apps--web/20261121-316f652b'
const OPEN = 'proposed/apps/web/drift-9d6fe2de'
const MERGE = '2213fa5'

class Earlier {
  readonly git: (...args: readonly string[]) => string
  private readonly folder = mkdtempSync(join(tmpdir(), 'backporch-earlier-'))
  private readonly env: NodeJS.ProcessEnv

  constructor(t: TestContext) {
    t.after(() => rmSync(this.folder, { recursive: true, force: true }))
    this.env = {
      PATH: process.env['PATH'],
      HOME: join(this.folder, 'home'),
      XDG_CACHE_HOME: join(this.folder, 'home', 'cache'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      BACKPORCH_KEY: 'c0de'.repeat(16),
    }
    mkdirSync(join(this.folder, 'home'))
    const run = (cwd: string, args: readonly string[]): string =>
      execFileSync('git', args, {
        cwd,
        env: this.env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim()
    run(this.folder, ['clone', '--quiet', '--mirror', BUNDLE, this.remote])
    this.git = (...args) => run(this.remote, args)
  }

  get remote(): string {
    return join(this.folder, 'remote.git')
  }

  run(...args: readonly string[]): Promise<ProgramRun> {
    return backporchHere([...args, '--repo', this.remote], { cwd: this.folder, env: this.env })
  }

  /** With the cluster as a recording of one edit. */
  observe(color: Colour, ...args: readonly string[]): Promise<ProgramRun> {
    const live = join(this.folder, 'live.json')
    writeFileSync(
      live,
      JSON.stringify(
        recordingOf([{ color, by: 'kubectl-edit', at: new Date('2026-11-21T09:30:00Z') }]),
      ),
    )
    return this.run(...args, '--live', live, '--cluster', 'prod')
  }

  ours(branch: string): string[] {
    return this.git('ls-tree', '-r', '--name-only', branch, '.drift').split('\n')
  }
}

test('reads policy, record and ledger of an earlier version', async (t) => {
  const earlier = new Earlier(t)
  const history = await earlier.run('history')
  assert.equal(history.code, 0, history.stderr)
  assert.match(history.stdout, new RegExp(` adopt .* ${MERGE}$`, 'm'))
  const status = await earlier.run('status')
  assert.match(status.stdout, /^prod +apps\/web +v1 .* restore +drift-9d6fe2de /m)
  const check = await earlier.observe('green', 'check')
  assert.match(check.stdout, /^✓ policy: 1 valid/m)
  assert.match(check.stdout, /^✓ records: 1, all inert for syncers$/m)
  assert.match(
    check.stdout,
    /^\? pipelines: none found here; .* would read \.drift\/policy\.yaml and 1 more\n +fix: git mv \.drift\/policy\.yaml \.drift\/default\.policy; the records move/m,
  )
  assert.equal((await earlier.observe('red', 'diff')).code, 0)
})

test('rebuilds an open proposal of an earlier version once, with the current names of its records', async (t) => {
  const earlier = new Earlier(t)
  const first = await earlier.observe('green', 'scan')
  assert.match(first.stdout, new RegExp(`updated: ${OPEN}`))
  const wanted = [
    '.drift/policy.yaml',
    `${FIRST}.record`,
    '.drift/records/prod/apps--web/20261121-9d6fe2de.record',
  ]
  assert.deepEqual(earlier.ours(OPEN), wanted)
  const text = `${earlier.git('show', `main:${FIRST}.yaml`)}\n---\nbackporch: no manifest`
  assert.equal(earlier.git('show', `${OPEN}:${FIRST}.record`), text)
  const head = earlier.git('rev-parse', OPEN)
  const second = await earlier.observe('green', 'scan')
  assert.equal(second.code, 1, second.stderr)
  assert.equal(earlier.git('rev-parse', OPEN), head)
})

for (const isLost of [false, true])
  test(`approves an open proposal of an earlier version at once${isLost ? ', without a ledger' : ''}; the earlier decision stays in place`, async (t) => {
    const earlier = new Earlier(t)
    if (isLost) earlier.git('update-ref', '-d', 'refs/heads/drift-ledger')
    const approved = await earlier.observe('green', 'approve', 'apps/web', '--yes')
    assert.equal(approved.code, 0, approved.stderr)
    assert.deepEqual(earlier.ours('main'), [
      '.drift/policy.yaml',
      `${FIRST}.record`,
      '.drift/records/prod/apps--web/20261121-9d6fe2de.record',
    ])
    const history = await earlier.run('history')
    assert.match(
      history.stdout,
      new RegExp(` restore .* ${earlier.git('rev-parse', 'main').slice(0, 7)}$`, 'm'),
    )
    assert.match(history.stdout, new RegExp(` adopt .* ${MERGE}$`, 'm'))
  })

test('treats a proposal of an earlier version merged with git as a decision, and moves its record with the next one', async (t) => {
  const earlier = new Earlier(t)
  earlier.git('update-ref', 'refs/heads/main', OPEN)
  const found = await earlier.observe('green', 'scan')
  assert.match(`${found.stdout}${found.stderr}`, /drift-9d6fe2de was merged/)
  const settled = await earlier.observe('red', 'scan')
  assert.equal(settled.code, 0, settled.stderr)
  assert.match((await earlier.run('history')).stdout, / adopt .*\n.* restore .* 3a833a1$/m)
  await earlier.observe('blue', 'scan')
  const [branch = ''] = earlier
    .git('for-each-ref', '--format=%(refname:short)', 'refs/heads/proposed')
    .split('\n')
  assert.ok(
    !earlier.ours(branch).some((path) => path.includes('records') && path.endsWith('.yaml')),
    earlier.ours(branch).join(),
  )
})
