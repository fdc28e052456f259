/** Commands that only read work in the checkouts that CI systems make, by the git commands of their runners (docs/facts/ci-checkouts.md). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { backporchHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { recordingOf } from '../fakes/recorded-config-map.ts'

interface Checkout {
  readonly name: string
  /** After `git init` and `git remote add origin`. */
  readonly commands: readonly string[]
  readonly hasLedger: boolean
  /** Whether the commit has what the pull request changes. */
  readonly isMerge?: boolean
}

const HEADS = '+refs/heads/*:refs/remotes/origin/*'
const MERGE = '+refs/pull/5/merge:refs/remotes/pull/5/merge'
const CHECKOUTS: readonly Checkout[] = [
  {
    name: 'actions/checkout of a push',
    commands: [
      `fetch -q --no-tags origin ${HEADS}`,
      'checkout -q --force -B main refs/remotes/origin/main',
    ],
    hasLedger: true,
  },
  {
    name: 'actions/checkout of a pull request with the whole history',
    commands: [
      `fetch -q --prune origin ${HEADS} +refs/tags/*:refs/tags/* ${MERGE}`,
      'checkout -q --force refs/remotes/pull/5/merge',
    ],
    hasLedger: true,
    isMerge: true,
  },
  {
    name: 'actions/checkout of a pull request with one commit',
    commands: [
      `fetch -q --no-tags --depth=1 origin ${MERGE}`,
      'checkout -q --force refs/remotes/pull/5/merge',
    ],
    hasLedger: false,
    isMerge: true,
  },
  {
    name: 'GitLab CI',
    commands: [
      'fetch -q origin +refs/heads/main:refs/remotes/origin/main',
      'checkout -q -f --detach refs/remotes/origin/main',
    ],
    hasLedger: false,
  },
  {
    name: 'Jenkins',
    commands: [`fetch -q origin ${HEADS}`, 'checkout -q -f refs/remotes/origin/main'],
    hasLedger: true,
  },
  {
    name: 'Tekton',
    commands: ['fetch -q --depth=1 origin main', 'checkout -q FETCH_HEAD'],
    hasLedger: false,
  },
  {
    name: 'a detached HEAD next to a local branch',
    commands: [
      `fetch -q origin ${HEADS}`,
      'checkout -q -B main refs/remotes/origin/main',
      'checkout -q --detach',
    ],
    hasLedger: true,
  },
]

describe('checkouts of CI', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-checkouts-'))
  const remote = join(folder, 'remote.git')
  const env = {
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
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  const live = ['--live', join(folder, 'live.json'), '--cluster', 'prod']
  const run = (repository: string, ...args: readonly string[]): Promise<ProgramRun> =>
    backporchHere([...args, '--repo', repository], { cwd: folder, env })

  before(async () => {
    const author = join(folder, 'author')
    mkdirSync(join(author, 'apps', 'web'), { recursive: true })
    mkdirSync(env.HOME)
    git(author, 'init', '--quiet', '--initial-branch=main')
    const commit = (message: string, files: Readonly<Record<string, string>>): void => {
      for (const [path, text] of Object.entries(files)) writeFileSync(join(author, path), text)
      git(author, 'add', '--all')
      git(author, 'commit', '--quiet', '--message', message)
    }
    const kptfile = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'
    commit('web', { 'apps/web/Kptfile': kptfile, 'apps/web/settings.yaml': manifest('blue') })
    git(folder, 'clone', '--quiet', '--bare', author, remote)
    writeFileSync(
      join(folder, 'live.json'),
      JSON.stringify(recordingOf([{ color: 'red', by: 'kubectl-edit', at: LATELY }])),
    )
    assert.equal((await run(remote, 'scan', ...live)).code, 1)
    git(author, 'checkout', '--quiet', '-b', 'feature')
    commit('green', { 'apps/web/settings.yaml': manifest('green') })
    git(author, 'checkout', '--quiet', 'main')
    git(author, 'merge', '--quiet', '--no-ff', '--message', 'merged', 'feature')
    git(author, 'push', '--quiet', remote, 'feature', 'main:refs/pull/5/merge')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const { name, commands, hasLedger, isMerge = false } of CHECKOUTS)
    test(`diff, check, preview, status and history work in ${name}`, async () => {
      const checkout = mkdtempSync(join(folder, 'checkout-'))
      git(checkout, 'init', '--quiet')
      git(checkout, 'remote', 'add', 'origin', `file://${remote}`)
      for (const command of commands) git(checkout, ...command.split(' '))
      const refs = git(checkout, 'for-each-ref')

      const diff = await run(checkout, 'diff', 'apps/web', ...live, '-o', 'json')
      assert.equal(diff.code, 1, diff.stderr)
      const [change] = JSON.parse(diff.stdout).items[0].spec.changes
      assert.deepEqual(
        [change.path, change.git, change.live],
        ['data.color', isMerge ? 'green' : 'blue', 'red'],
      )

      const check = await run(checkout, 'check', ...live)
      assert.doesNotMatch(check.stdout + check.stderr, /no commit|BP1003/)
      const preview = await run(
        checkout,
        'preview',
        '--head',
        git(checkout, 'rev-parse', 'HEAD'),
        ...live,
      )
      assert.equal(preview.code, 0, preview.stderr)

      const [status, history] = [await run(checkout, 'status'), await run(checkout, 'history')]
      if (hasLedger) {
        assert.match(status.stdout, /apps\/web.*Drifted/)
        assert.equal(status.code, 1)
        assert.equal(history.code, 0, history.stderr)
      } else
        for (const { stderr } of [status, history])
          assert.match(
            stderr,
            /^note: .* has no drift-ledger; where origin has one: git -C \S+ fetch origin .* drift-ledger:drift-ledger$/m,
          )
      assert.equal(git(checkout, 'for-each-ref'), refs, 'nothing is written')
    })

  test('refuses a writing command in a detached HEAD, with what to do', async () => {
    const checkout = mkdtempSync(join(folder, 'checkout-'))
    git(folder, 'clone', '--quiet', `file://${remote}`, checkout)
    git(checkout, 'checkout', '--quiet', '--detach')
    git(checkout, 'branch', '-D', 'main')
    const scan = await run(checkout, 'scan', ...live)
    assert.equal(scan.code, 2)
    assert.match(
      scan.stderr,
      /^error BP1003: .*\n.*\n {2}why: it has no branch: .*\n {2}fix: .*--repo/m,
    )
  })
})

/** What was seen long ago is Unknown. */
const LATELY = new Date(Date.now() - 3_600_000)

function manifest(color: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\ndata:\n  color: ${color}\n`
}
