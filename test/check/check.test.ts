/** `check` as people run it: a local repository and a recorded cluster, one thing wrong at a time. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { commitFiles, git, makePackages, writeRecording } from '../action/stage.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { backporchHere } from '../e2e/run-here.ts'
import { type ProgramRun, runProgram } from '../e2e/run-program.ts'
import { PROGRAM } from '../program.ts'

const folder = mkdtempSync(join(tmpdir(), 'backporch-check-'))
const environment = gitTestEnvironment(folder)
let created = 0

function repository(files: Readonly<Record<string, string>> = {}): string {
  created += 1
  const path = join(folder, `repository-${created}`)
  makePackages(path, environment, files)
  return path
}

const argvOf = (repo: string): string[] => ['check', '--repo', repo, '--live', 'live']
const options = { cwd: folder, env: { ...environment, BACKPORCH_KEY: 'k'.repeat(32) } }
const check = (repo: string, ...more: readonly string[]): Promise<ProgramRun> =>
  backporchHere([...argvOf(repo), ...more], options)

describe('check', () => {
  before(() => writeRecording(join(folder, 'live')))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('passes a correct repository, and writes nothing', async () => {
    const repo = repository()
    const run = await runProgram(process.execPath, [PROGRAM, ...argvOf(repo)], options)
    assert.equal(run.code, 0, run.stdout + run.stderr)
    assert.match(run.stdout, /^✓ git: no rule of the server refuses a push to drafts\/\*\*$/m)
    assert.match(run.stdout, /^\? cannot tell whether a syncer reads \.drift\/: /m)
    assert.equal(git(repo, environment, 'for-each-ref', '--format=%(refname)'), 'refs/heads/main')
  })

  it('continues after each problem, and gives each its code and fix', async () => {
    const rule = (more: string) => `    - {managers: [x], reason: "y"${more}}\n`
    const policy =
      'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: default}\nspec:\n  ignore:\n'
    const repo = repository({
      '.drift/policy.yaml': `${policy}${rule('')}${rule(', expires: "2020-01-01"')}`,
    })
    writeFileSync(
      join(repo, 'hooks', 'update'),
      '#!/bin/sh\ncase "$1" in refs/heads/drafts/*) exit 1;; esac\n',
    )
    chmodSync(join(repo, 'hooks', 'update'), 0o755)
    commitFiles(repo, environment, 'drift-ledger', { x: 'y' })
    commitFiles(repo, environment, 'main', {
      '.drift/records/prod/a/20260101-1.yaml': 'kind: ConfigMap\n',
    })
    const run = await check(repo, '--live', 'nowhere')
    assert.equal(run.code, 1, run.stdout)
    for (const line of [
      /^✗ BP4002 git: a push to drafts\/\*\* is refused: hook declined.*\n {4}fix: allow the account/m,
      /^✓ git: no rule of the server refuses a push to proposed/m,
      /^! policy: the ignore rule at \.drift\/policy\.yaml:\d+ never ends\n {4}fix: /m,
      /^! policy: the ignore rule at \.drift\/policy\.yaml:\d+ ended on 2020-01-01/m,
      /^✗ BP1007 records: \.drift\/records\/prod\/a\/20260101-1\.yaml has lost the marks/m,
      /^! drift-ledger: commit [0-9a-f]{7} is not from backporch/m,
      /^✗ BP1010 /m,
      /^✓ key: from BACKPORCH_KEY/m,
    ]) {
      assert.match(run.stdout, line)
    }
  })

  it('checks with --pre nothing that only writing needs', async () => {
    const repo = repository()
    writeFileSync(join(repo, 'hooks', 'pre-receive'), '#!/bin/sh\nexit 1\n')
    chmodSync(join(repo, 'hooks', 'pre-receive'), 0o755)
    assert.equal((await check(repo)).code, 1)
    const run = await check(repo, '--pre', '-o', 'json')
    assert.equal(run.code, 0, run.stdout)
    const list = JSON.parse(run.stdout) as {
      kind: string
      items: readonly { check: string; state: string }[]
    }
    assert.equal(list.kind, 'CheckList')
    assert.ok(!list.items.some(({ check: name }) => name === 'git-push' || name === 'ledger'))
  })

  it('fails for an invalid policy and for a folder that is no repository', async () => {
    const broken = await check(repository({ '.drift/policy.yaml': 'kind: DriftPolicy\n' }))
    assert.equal(broken.code, 1)
    assert.match(broken.stdout, /^✗ BP1005 /m)
    const policy = (spec: string): string =>
      `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: ${spec}\n`
    const repo = repository({ '.drift/policy.yaml': policy('{mode: Warn}') })
    commitFiles(repo, environment, 'main', {
      '.drift/policy.yaml': policy('{mode: Wran}'),
      '.drift/more.policy': policy('{settle: x}'),
    })
    const late = await check(repo)
    assert.equal(late.code, 1)
    assert.match(
      late.stdout,
      /^✗ BP1005 the policy .*: \.drift\/more\.policy:4: spec\.settle: .*; \.drift\/policy\.yaml:4: spec\.mode: /m,
    )
    assert.match(
      late.stdout,
      /until then the policy of commit [0-9a-f]{7} decides, and nothing is opened, merged or settled/,
    )
    mkdirSync(join(folder, 'empty'))
    const none = await check(join(folder, 'empty'))
    assert.equal(none.code, 1)
    assert.match(none.stdout, /^✗ BP1002 [\s\S]*✓ cluster prod: a recording/m)
    assert.equal((await check(repository(), '--nonsense')).code, 2)
  })
})
