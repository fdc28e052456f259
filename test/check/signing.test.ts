/** A signing key as people give it: every command that writes signs, the real git verifies it, `check` says what is wrong with a key, and no part of it is told. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { BOT } from '@backporch/git-store/commit'
import { runAction } from '../../src/cli/action/run-action.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { git, makePackages, writeRecording } from '../action/stage.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { backporchHere, runHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'

const isThere = spawnSync('ssh-keygen', ['-?'], { stdio: 'ignore' }).error === undefined
const skip = isThere || process.env['CI'] === 'true' ? false : 'ssh-keygen is not installed'
const POLICY = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: default}
spec: {mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, digest: off}}
`

describe('a signing key', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-signing-'))
  const environment = gitTestEnvironment(folder)
  const signers = join(folder, 'signers')
  after(() => rmSync(folder, { recursive: true, force: true }))
  const generate = (name: string, passphrase = ''): string => {
    const created = spawnSync('ssh-keygen', [
      '-q',
      '-t',
      'ed25519',
      '-N',
      passphrase,
      '-C',
      'backporch',
      '-f',
      join(folder, name),
    ])
    assert.equal(created.status, 0, String(created.stderr))
    return join(folder, name)
  }
  let key = ''
  before(() => {
    writeRecording(join(folder, 'live'))
    key = generate('signing-key')
    writeFileSync(signers, `${BOT.email} ${readFileSync(`${key}.pub`, 'utf8')}`)
  })
  const run = (args: readonly string[], more: NodeJS.ProcessEnv): Promise<ProgramRun> =>
    backporchHere(args, {
      cwd: folder,
      env: { ...environment, BACKPORCH_KEY: 'k'.repeat(32), ...more },
    })
  /** The commits that the bot made, on all branches and tags, with what git says of their signatures. */
  const botCommits = (repository: string): string[] =>
    git(
      repository,
      environment,
      '-c',
      `gpg.ssh.allowedSignersFile=${signers}`,
      'log',
      '--all',
      '--format=%G? %GS %D',
      `--author=${BOT.email}`,
    ).split('\n')
  /** No line of the key's body is in the text. */
  const assertUntold = (text: string): void => {
    for (const line of readFileSync(key, 'utf8').split('\n').slice(1, -2))
      assert.ok(!text.includes(line.slice(0, 24)), 'the key is told')
  }

  for (const decision of ['approve', 'reject'] as const) {
    it(`signs what scan, ignore and ${decision} write, is not passed to git, and is never printed`, async () => {
      const repository = join(folder, `${decision}.git`)
      makePackages(repository, environment, { '.drift/policy.yaml': POLICY })
      // The server's hook runs as a child of the push, on this machine.
      const observed = join(folder, `${decision}.environment`)
      writeFileSync(join(repository, 'hooks', 'post-receive'), `#!/bin/sh\nenv >> '${observed}'\n`)
      chmodSync(join(repository, 'hooks', 'post-receive'), 0o755)
      const more = { BACKPORCH_SIGNING_KEY: readFileSync(key, 'utf8') }
      const flags = [
        '--repo',
        `file://${repository}`,
        '--live',
        'live',
        '--cluster',
        'prod',
        '--debug',
      ]
      const reported: string[] = []
      const say = async (expected: number, ...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await run([...args, ...flags], more)
        assert.equal(code, expected, stdout + stderr)
        reported.push(stdout, stderr)
        return stdout
      }
      await say(1, 'scan', '-v')
      await say(0, 'ignore', 'apps/web', '1', '-m', 'KEDA scales it')
      await say(0, decision, 'apps/web', '--yes', '-m', 'as agreed')
      const commits = botCommits(repository)
      for (const commit of commits)
        assert.match(commit, new RegExp(`^G ${BOT.email}`), commits.join('\n'))
      const locations = [
        'drift-ledger',
        'drift/ignore-',
        ...(decision === 'approve' ? ['main', 'tag: '] : []),
      ]
      for (const location of locations)
        assert.ok(commits.join('\n').includes(location), `${location}: ${commits.join('\n')}`)
      assert.match(
        await say(0, 'check'),
        /^✓ signing key: SHA256:\S+, from BACKPORCH_SIGNING_KEY$/m,
      )
      assertUntold(reported.join('\n'))
      const given = readFileSync(observed, 'utf8')
      assert.match(given, /^PATH=/m)
      assert.doesNotMatch(given, /SIGNING_KEY|PRIVATE KEY/)
    })
  }

  it('signs the proposal of init', async () => {
    const repository = join(folder, 'fresh.git')
    makePackages(repository, environment)
    const result = await run(
      ['init', '--yes', '--repo', repository, '--live', 'live', '--cluster', 'prod'],
      {
        BACKPORCH_SIGNING_KEY_FILE: 'signing-key',
      },
    )
    assert.equal(result.code, 0, result.stdout + result.stderr)
    assert.deepEqual(botCommits(repository).sort(), [
      `G ${BOT.email} drift-ledger`,
      `G ${BOT.email} drift/configure`,
    ])
  })

  it('is an input of the GitHub Action', async () => {
    const repository = join(folder, 'action.git')
    makePackages(repository, environment, { '.drift/policy.yaml': POLICY })
    const inputs = {
      REPO: repository,
      LIVE: 'live',
      CLUSTERS: 'prod',
      'FAIL-ON': 'none',
      'SIGNING-KEY': readFileSync(key, 'utf8'),
    }
    const env = {
      ...environment,
      BACKPORCH_KEY: 'k'.repeat(32),
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, value]) => [`INPUT_${name}`, value]),
      ),
    }
    const { code, stdout, stderr } = await runHere('the action', { cwd: folder, env }, (world) =>
      runAction(world, runCli),
    )
    assert.equal(code, 0, stdout + stderr)
    const commits = botCommits(repository)
    assert.ok(commits.length >= 2)
    for (const commit of commits) assert.match(commit, /^G /)
    assertUntold(
      stdout +
        stderr +
        readFileSync(join(folder, 'output'), 'utf8') +
        readFileSync(join(folder, 'summary'), 'utf8'),
    )
  })

  it('fails check with a fix when it is unusable, and signs nothing', async () => {
    const repository = join(folder, 'refused.git')
    makePackages(repository, environment, { '.drift/policy.yaml': POLICY })
    const position = ['--repo', repository, '--live', 'live', '--cluster', 'prod']
    const more = { BACKPORCH_SIGNING_KEY_FILE: generate('locked', 'hunter22') }
    const checked = await run(['check', ...position], more)
    assert.equal(checked.code, 1, checked.stdout + checked.stderr)
    assert.match(
      checked.stdout,
      /^✗ BP1012 commits cannot be signed .*encrypted with a passphrase.*\n {4}fix: give one without a passphrase: ssh-keygen/m,
    )
    const scanned = await run(['scan', ...position], more)
    assert.equal(scanned.code, 2)
    assert.match(scanned.stderr, /^error BP1012: /)
    assert.equal(
      git(repository, environment, 'for-each-ref', '--format=%(refname)'),
      'refs/heads/main',
    )
  })

  it('check warns about a world-readable key and about a ledger commit without its signature', async () => {
    const repository = join(folder, 'warned.git')
    makePackages(repository, environment, { '.drift/policy.yaml': POLICY })
    const at = ['--repo', repository, '--live', 'live', '--cluster', 'prod']
    assert.equal((await run(['scan', ...at], {})).code, 1)
    const open = generate('open')
    chmodSync(open, 0o644)
    const { code, stdout } = await run(['check', ...at], { BACKPORCH_SIGNING_KEY_FILE: open })
    assert.equal(code, 0, stdout)
    assert.match(
      stdout,
      /^! signing key: SHA256:\S+, from \S+\/open, which every user of this machine may read\n {4}fix: chmod 600 /m,
    )
    assert.match(
      stdout,
      /^! drift-ledger: commit [0-9a-f]{7}, its last one, has no signature of the signing key\n {4}fix: scan once/m,
    )
  })
})
