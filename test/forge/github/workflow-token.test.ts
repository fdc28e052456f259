/** `check` and `scan` with the token of a workflow: GitHub tells it nothing about its rights, and a setting may keep it from opening pull requests. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { GITHUB_SETUP } from '@backporch/forge/github'
import { parse } from 'yaml'
import { systemClock } from '../../../src/adapters/system/system-clock.ts'
import { makePackages, writeRecording } from '../../action/stage.ts'
import { gitTestEnvironment } from '../../contract/git-remotes.ts'
import { backporchHere } from '../../e2e/run-here.ts'
import type { ProgramRun } from '../../e2e/run-program.ts'
import { EmulatedGit } from './emulated-git.ts'
import { ACTIONS_LOGIN } from './emulated-state.ts'
import { GitHubEmulator } from './github-emulator.ts'
import { INSTALLATION_TOKEN } from './github-fixture.ts'
import { GitHubServer } from './github-server.ts'

describe('the token of a workflow', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-workflow-'))
  const environment = gitTestEnvironment(folder)
  const readOnly = new Set<string>()
  let server: GitHubServer
  let emulator: GitHubEmulator

  before(async () => {
    const bare = join(folder, 'acme', 'deploy.git')
    makePackages(bare, environment, { '.drift/policy.yaml': PROPOSE })
    writeRecording(join(folder, 'live'))
    mkdirSync(join(folder, 'home'))
    emulator = new GitHubEmulator({
      git: new EmulatedGit(bare, environment),
      owner: 'acme',
      repo: 'deploy',
      clock: systemClock,
    })
    emulator.addInstallationToken(INSTALLATION_TOKEN, ACTIONS_LOGIN)
    server = new GitHubServer({ root: folder, environment, emulator, readOnly })
    await server.start()
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
    assert.deepEqual([...new Set(emulator.problems)], [])
  })

  const run = (command: string, ...more: readonly string[]): Promise<ProgramRun> =>
    backporchHere(
      [command, '--repo', server.remote, '--forge', 'github', '--live', 'live', ...more],
      {
        cwd: folder,
        env: {
          ...environment,
          HOME: join(folder, 'home'),
          BACKPORCH_KEY: 'k'.repeat(32),
          GITHUB_SERVER_URL: server.origin,
          GITHUB_TOKEN: INSTALLATION_TOKEN,
        },
      },
    )

  it('passes check when it may push, with a warning about what it may not do by itself', async () => {
    readOnly.clear()
    const { code, stdout, stderr } = await run('check')
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^✓ git: no rule of the server refuses a push to drafts\/\*\*$/m)
    assert.match(
      stdout,
      /^\? GitHub acme\/deploy: the token is of an App that is installed for this repository; /m,
    )
    assert.match(
      stdout,
      /^! GitHub acme\/deploy: the token is GITHUB_TOKEN of a workflow: .* wait for an approval.*\n {4}fix: .*Settings > Actions > General/m,
    )
    assert.doesNotMatch(stdout + stderr, /BP5003|ghs_canary/)
  })

  it('fails the push of check when it may only read', async () => {
    readOnly.add(INSTALLATION_TOKEN)
    const { code, stdout, stderr } = await run('check')
    assert.equal(code, 1, stdout + stderr)
    assert.match(
      stdout,
      /^✗ BP4005 .*: the server answered 403: Permission to acme\/deploy\.git denied\.\n {4}fix: give a token/m,
    )
  })

  it('opens no pull request while the setting is off, and the failure names the setting', async () => {
    readOnly.clear()
    const refused = await run('scan', '--cluster', 'prod')
    assert.equal(refused.code, 2, refused.stdout + refused.stderr)
    assert.match(
      refused.stderr,
      /error BP5003: cannot open a pull request[\s\S]*GitHub Actions is not permitted to create or approve pull requests[\s\S]*fix: .*Settings > Actions > General.*GitHub App/,
    )
    assert.deepEqual(emulator.state.threads, [])
    emulator.state.actionsMayOpenPullRequests = true
    const opened = await run('scan', '--cluster', 'prod')
    assert.equal(opened.code, 1, opened.stdout + opened.stderr)
    assert.deepEqual(
      emulator.state.threads.filter(({ pull }) => pull !== undefined).map(({ user }) => user),
      [ACTIONS_LOGIN, ACTIONS_LOGIN],
    )
  })
})

it('the guide grants the token of a workflow the permissions that an account needs', () => {
  const guide = readFileSync(
    new URL('../../../docs/guides/github-action.md', import.meta.url),
    'utf8',
  )
  const [, block = ''] = /## With `GITHUB_TOKEN`[\s\S]*?```yaml\n([\s\S]*?)```/.exec(guide) ?? []
  const needed = GITHUB_SETUP.rights
    .map(({ name }) => /^([\w ]+): read and write$/.exec(name)?.[1])
    .filter((name) => name !== undefined)
  const called: Readonly<Record<string, string>> = { 'Commit statuses': 'statuses' }
  const names = needed
    .map((name) => called[name] ?? name.toLowerCase().replaceAll(' ', '-'))
    .filter((name) => name !== 'checks')
  assert.deepEqual(parse(block), {
    permissions: Object.fromEntries(names.map((name) => [name, 'write'])),
  })
})

const PROPOSE = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: default}
spec: {mode: Propose, detect: {minAge: 0s, settle: 0s}}
`
