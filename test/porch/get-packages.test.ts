/** `get packages` lists what Porch's git adapter lists (docs/facts/porch-listing.md), of real repositories. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { commitFiles, git } from '../action/stage.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { backporchHere } from '../e2e/run-here.ts'

const folder = mkdtempSync(join(tmpdir(), 'backporch-porch-'))
const environment = gitTestEnvironment(folder)
const options = { cwd: folder, env: { ...environment, BACKPORCH_KEY: 'ab'.repeat(32) } }
const SLASH_NAMES = join(import.meta.dirname, 'fixtures', 'slash-names.bundle')
const kptfile = (name: string): string =>
  `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`
let created = 0

const backporch = (repo: string, ...argv: readonly string[]) =>
  backporchHere([...argv, '--repo', repo], options)

async function rowsOf(
  repo: string,
  ...flags: readonly string[]
): Promise<{ readonly rows: readonly string[]; readonly notes: string }> {
  const columns = [
    '--no-headers',
    '--columns',
    'name,package,workspacename,revision,latest,lifecycle',
  ]
  const { code, stdout, stderr } = await backporch(repo, 'get', 'packages', ...columns, ...flags)
  assert.equal(code, 0, stderr)
  return {
    rows: stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/ +/g, ' ')])),
    notes: stderr,
  }
}

/** A bare repository with the packages apps/web and infra/dns, called `deploy`. */
function makeRepository(): string {
  created += 1
  const repo = join(folder, String(created), 'deploy.git')
  mkdirSync(repo, { recursive: true })
  git(repo, environment, 'init', '--quiet', '--bare', '--initial-branch=main')
  commitFiles(repo, environment, 'main', {
    'apps/web/Kptfile': kptfile('web'),
    'infra/dns/Kptfile': kptfile('dns'),
    'lib/x.txt': 'x\n',
  })
  return repo
}

function commitWithMessage(repo: string, message: string): string {
  return git(repo, environment, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', message)
}

const line = (path: string, workspace: string): string =>
  `kpt:${JSON.stringify({ package: path, workspaceName: workspace, revision: '1' })}`

describe('get packages', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('lists package tags with the workspaces that Porch gives them, and skips every other tag', async () => {
    const repo = makeRepository()
    const ours = commitWithMessage(
      repo,
      `Approving\n\n${line('infra/dns', 'other')}\n${line('apps/web', 'drift-1')}`,
    )
    const child = git(
      repo,
      environment,
      'commit-tree',
      'main^{tree}',
      '-p',
      ours,
      '-m',
      'the line is in the history only',
    )
    const tag = (...args: readonly string[]) => git(repo, environment, 'tag', ...args)
    tag('apps/web/v1', ours)
    tag('-a', '-m', line('apps/web', 'of-the-tag'), 'apps/web/v2', ours)
    tag('apps/web/v003', child)
    tag('apps/web/rc1', ours)
    tag('lib/v1', 'main')
    tag('apps/web/nested/v1', 'main')
    tag('v1.0.0', 'main')
    tag('keys/ada', git(repo, environment, 'rev-parse', 'main:lib/x.txt'))
    const { rows, notes } = await rowsOf(repo)
    assert.deepEqual(rows, [
      'deploy.apps.web.drift-1 apps/web drift-1 1 false Published',
      'deploy.apps.web.drift-1 apps/web drift-1 2 false Published',
      'deploy.apps.web.v3 apps/web v3 3 true Published',
      'deploy.apps.web.main apps/web main -1 false Published',
      'deploy.apps.web.rc1 apps/web rc1 -1 false Published',
      'deploy.infra.dns.main infra/dns main -1 false Published',
    ])
    assert.match(notes, /refs\/tags\/keys\/ada: its commit cannot be read/)
    assert.doesNotMatch(notes, /lib\/v1|nested/)
  })

  it('skips branches whose commit lacks the Kptfile, with one note for all', async () => {
    const repo = makeRepository()
    commitFiles(repo, environment, 'drafts/apps/web/w', { 'apps/web/x.txt': 'x\n' })
    for (const name of ['drafts/lib/w', 'proposed/apps/w', 'drafts/gone/w'])
      git(repo, environment, 'branch', name, 'main')
    const { rows, notes } = await rowsOf(repo)
    assert.deepEqual(
      rows.filter((row) => !row.endsWith('Published')),
      ['deploy.apps.web.w apps/web w 0 false Draft'],
    )
    assert.match(
      notes,
      /^note: Porch does not list it, because its commit has no Kptfile [^\n]*: refs\/heads\/\S+ and 2 more$/m,
    )
  })

  it('takes name and directory of the Porch Repository from flags', async () => {
    const repo = makeRepository()
    git(repo, environment, 'branch', 'drafts/infra/dns/w', 'main')
    assert.deepEqual((await rowsOf(repo, '--name', 'blueprints', '--directory', '/apps/')).rows, [
      'blueprints.web.main web main -1 false Published',
    ])
    const json = JSON.parse(
      (await backporch(repo, 'get', 'packages', '--name', 'b', '--directory', 'apps', '-o', 'json'))
        .stdout,
    )
    assert.deepEqual([json.items[0].name, json.items[0].packagePath], ['b.web.main', 'apps/web'])
    assert.match(
      (await rowsOf(repo, '--directory', 'none')).notes,
      /^no package revision in none$/m,
    )
    for (const [flag, value] of [
      ['--directory', '../x'],
      ['--name', 'A_b'],
    ] as const)
      assert.match(
        (await backporch(repo, 'get', 'packages', flag, value)).stderr,
        /^error BP1001: /,
      )
  })

  it('lists one unnamed package for a Kptfile at the root, and named ones for a registered directory', async () => {
    const repo = makeRepository()
    commitFiles(repo, environment, 'main', { Kptfile: kptfile('all') })
    const { rows, notes } = await rowsOf(repo)
    assert.deepEqual(rows, ['- . main -1 false Published'])
    assert.match(notes, /a Kptfile at the root makes all of it one package without a name/)
    assert.equal((await backporch(repo, 'get', 'packages', '-o', 'name')).stdout, '')
    assert.deepEqual((await rowsOf(repo, '--directory', 'apps')).rows, [
      'deploy.web.main web main -1 false Published',
    ])
  })

  it('does not use a draft, a proposal or the ledger as base branch because HEAD names it', async () => {
    for (const head of ['drafts/apps/web/w', 'proposed/apps/web/w', 'drift-ledger']) {
      const repo = makeRepository()
      commitFiles(repo, environment, head, { 'apps/new/Kptfile': kptfile('new') })
      git(repo, environment, 'symbolic-ref', 'HEAD', `refs/heads/${head}`)
      const { rows, notes } = await rowsOf(repo)
      assert.ok(rows.includes('deploy.apps.web.main apps/web main -1 false Published'), head)
      assert.doesNotMatch(rows.join('\n'), /new/)
      assert.match(
        notes,
        new RegExp(
          `^note: ${head}: HEAD of the repository names this branch, .*; the base branch is main$`,
          'm',
        ),
      )
      assert.match((await backporch(repo, 'render')).stderr, /the base branch is main/)
      assert.doesNotMatch(
        (await backporch(repo, 'status', '--branch', 'main')).stderr,
        /HEAD of the repository/,
      )
      git(repo, environment, 'branch', '-m', 'main', 'trunk')
      const failed = await backporch(repo, 'get', 'packages')
      assert.equal(failed.code, 2)
      assert.match(
        failed.stderr,
        new RegExp(`^error BP1003: HEAD of the repository names "${head}", .* is no base branch`),
      )
      assert.match(failed.stderr, /^ {2}fix: name one of them: --branch trunk$/m)
    }
  })

  it('reads Kptfiles that a Porch server named by path, and check reports what cannot be rendered', async () => {
    const repo = join(folder, 'slash.git')
    git(folder, environment, 'clone', '--quiet', '--mirror', SLASH_NAMES, repo)
    assert.match(git(repo, environment, 'show', 'main:apps/web/Kptfile'), /^ {2}name: apps\/web$/m)
    const { rows } = await rowsOf(repo)
    assert.ok(
      rows.includes('slash.infra.net.dns.v1 infra/net/dns v1 1 true Published'),
      rows.join('\n'),
    )
    assert.equal((await backporch(repo, 'render', 'apps/web', 'infra/net/dns')).code, 0)
    const { stdout } = await backporch(repo, 'check', '--live', 'nowhere')
    assert.match(stdout, /^✓ packages: 3 of 4 can be read and rendered$/m)
    assert.match(
      stdout,
      /^! BP1201 packages: cannot be used: shop\/api\/Kptfile:11 .*set-namespace:v0\.4\.5/m,
    )
  })
})
