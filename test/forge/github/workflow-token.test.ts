/** `check` of the command line with the token of a workflow: GitHub tells it nothing about its rights, and the rehearsed push does. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '../../../src/adapters/system/system-clock.ts'
import { makePackages, writeRecording } from '../../action/stage.ts'
import { gitTestEnvironment } from '../../contract/git-remotes.ts'
import { backporchHere } from '../../e2e/run-here.ts'
import type { ProgramRun } from '../../e2e/run-program.ts'
import { EmulatedGit } from './emulated-git.ts'
import { GitHubEmulator } from './github-emulator.ts'
import { INSTALLATION_TOKEN } from './github-fixture.ts'
import { GitHubServer } from './github-server.ts'

describe('check with the token of a workflow', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-workflow-'))
  const environment = gitTestEnvironment(folder)
  const readOnly = new Set<string>()
  let server: GitHubServer
  let emulator: GitHubEmulator

  before(async () => {
    const bare = join(folder, 'acme', 'deploy.git')
    makePackages(bare, environment)
    writeRecording(join(folder, 'live'))
    mkdirSync(join(folder, 'home'))
    emulator = new GitHubEmulator({ git: new EmulatedGit(bare, environment), owner: 'acme', repo: 'deploy', clock: systemClock })
    emulator.addInstallationToken(INSTALLATION_TOKEN, 'github-actions[bot]')
    server = new GitHubServer({ root: folder, environment, emulator, readOnly })
    await server.start()
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
    assert.deepEqual([...new Set(emulator.problems)], [])
  })

  const check = (): Promise<ProgramRun> =>
    backporchHere(['check', '--repo', server.remote, '--forge', 'github', '--live', 'live'], {
      cwd: folder,
      env: {
        ...environment,
        HOME: join(folder, 'home'),
        BACKPORCH_KEY: 'k'.repeat(32),
        GITHUB_SERVER_URL: server.origin,
        GITHUB_TOKEN: INSTALLATION_TOKEN,
      },
    })

  it('passes a token that may push', async () => {
    readOnly.clear()
    const run = await check()
    assert.equal(run.code, 0, run.stdout + run.stderr)
    assert.match(run.stdout, /^✓ git: no rule of the server refuses a push to drafts\/\*\*$/m)
    assert.match(run.stdout, /^\? GitHub acme\/deploy: the token is of an App that is installed for this repository; /m)
    assert.doesNotMatch(run.stdout + run.stderr, /BP5003|ghs_canary/)
  })

  it('fails one that may only read, by the push', async () => {
    readOnly.add(INSTALLATION_TOKEN)
    const run = await check()
    assert.equal(run.code, 1, run.stdout + run.stderr)
    assert.match(run.stdout, /^✗ BP4005 .*: the server answered 403: Permission to acme\/deploy\.git denied\.\n {4}fix: give a token/m)
  })
})
