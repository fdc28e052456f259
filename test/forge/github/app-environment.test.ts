/** A GitHub App from the environment, through the whole program: its token is what git pushes with and what opens pull requests. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { findForgeToken } from '@backporch/forge/forges'
import { readAppCredential } from '@backporch/forge/github'
import { systemClock } from '../../../src/adapters/system/system-clock.ts'
import { makePackages, writeRecording } from '../../action/stage.ts'
import { type GitHttpBackend, startGitHttpBackend } from '../../contract/git-http-backend.ts'
import { expectFailure, gitTestEnvironment } from '../../contract/git-remotes.ts'
import { type ProgramRun, runProgram } from '../../e2e/run-program.ts'
import { PROGRAM } from '../../program.ts'
import { EmulatedGit } from './emulated-git.ts'
import { GitHubEmulator } from './github-emulator.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
})
const ID = { BACKPORCH_APP_ID: '4242' }

describe('reading the GitHub App from the environment', () => {
  const read = (environment: Readonly<Record<string, string>>, host = 'github.com') =>
    readAppCredential(host, environment, '/')

  it('reads an App ID with a private key, given as text or as a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backporch-app-'))
    try {
      writeFileSync(join(folder, 'app.pem'), privateKey)
      const wanted = { kind: 'app', appId: 4242, privateKey }
      assert.deepEqual(
        await readAppCredential(
          'github.com',
          { ...ID, BACKPORCH_APP_PRIVATE_KEY_FILE: 'app.pem' },
          folder,
        ),
        wanted,
      )
      // As stores that keep one line have it.
      const oneLine = privateKey.trim().replaceAll('\n', '\\n')
      const given = await read({
        ...ID,
        BACKPORCH_APP_PRIVATE_KEY: oneLine,
        BACKPORCH_APP_INSTALLATION_ID: '77',
      })
      assert.deepEqual(given, { ...wanted, privateKey: privateKey.trim(), installationId: 77 })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('uses the App only for GitHub, after BACKPORCH_TOKEN and before GITHUB_TOKEN', async () => {
    const app = { ...ID, BACKPORCH_APP_PRIVATE_KEY: privateKey }
    assert.equal(await read(app, 'git.example.com'), undefined)
    assert.equal(await read({ ...app, BACKPORCH_TOKEN: 'x' }), undefined)
    assert.equal((await read({ ...app, GITHUB_TOKEN: 'x' }))?.appId, 4242)
    assert.equal(
      (await read({ ...app, GITHUB_SERVER_URL: 'https://git.example.com' }, 'git.example.com'))
        ?.appId,
      4242,
    )
    assert.equal(await read({ GITHUB_TOKEN: 'x' }), undefined)
    assert.equal(findForgeToken('github.com', { GITHUB_TOKEN: 'x' }), 'x')
  })

  it('refuses an incomplete App credential and never shows the key', async () => {
    for (const environment of [
      ID,
      { BACKPORCH_APP_PRIVATE_KEY: privateKey },
      { ...ID, BACKPORCH_APP_PRIVATE_KEY: privateKey, BACKPORCH_APP_PRIVATE_KEY_FILE: 'x' },
      { ...ID, BACKPORCH_APP_PRIVATE_KEY_FILE: '/nowhere/app.pem' },
      { BACKPORCH_APP_ID: 'Iv1.12ab', BACKPORCH_APP_PRIVATE_KEY: privateKey },
      { ...ID, BACKPORCH_APP_PRIVATE_KEY: privateKey, BACKPORCH_APP_INSTALLATION_ID: '0x10' },
    ]) {
      const failure = await expectFailure(read(environment), 'BP5002')
      assert.doesNotMatch(JSON.stringify(failure) + failure.stack, /PRIVATE KEY-----|Iv1/)
    }
  })
})

describe('scan with a GitHub App', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-app-'))
  const environment = gitTestEnvironment(folder)
  let emulator: GitHubEmulator
  let backend: GitHttpBackend
  let front: Server
  let origin = ''
  const pushed: string[] = []

  before(async () => {
    const bare = join(folder, 'acme', 'deploy.git')
    makePackages(bare, environment, { '.drift/policy.yaml': PROPOSE })
    writeRecording(join(folder, 'live'))
    emulator = new GitHubEmulator({
      git: new EmulatedGit(bare, environment),
      owner: 'acme',
      repo: 'deploy',
      clock: systemClock,
    })
    await emulator.start()
    backend = await startGitHttpBackend({ root: folder, environment })
    // One origin, as GitHub's own machines are: git asks for `/acme/deploy.git/…`, everything else is the interface.
    front = createServer((request, response) => {
      const git = request.url?.startsWith('/acme/deploy.git/') === true
      const token = Buffer.from(
        request.headers.authorization?.split(' ')[1] ?? '',
        'base64',
      ).toString('utf8')
      if (git && !emulator.tokens.has(token.replace(/^x-access-token:/, ''))) {
        response.writeHead(401, { 'content-type': 'text/plain' }).end('who are you?\n')
        return
      }
      if (git) pushed.push(`${request.method} ${request.url}`)
      const { method, headers } = request
      const target = `${git ? backend.url : emulator.origin}${request.url}`
      const onward = sendRequest(target, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      onward.on('error', () => response.destroy())
      request.pipe(onward)
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  })
  beforeEach(() => {
    emulator.app = { id: 4242, publicKey, slug: 'backporch', installed: true }
  })
  after(async () => {
    front.closeAllConnections()
    front.close()
    await backend.close()
    await emulator.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const scan = (
    key: Readonly<Record<string, string>>,
    ...flags: readonly string[]
  ): Promise<ProgramRun> => {
    const home = join(folder, 'home')
    mkdirSync(home, { recursive: true })
    const args = [
      'scan',
      '--repo',
      `${origin}/acme/deploy.git`,
      '--forge',
      'github',
      '--live',
      'live',
      '--cluster',
      'prod',
      '-v',
      ...flags,
    ]
    return runProgram(process.execPath, [PROGRAM, ...args], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        BACKPORCH_KEY: 'k'.repeat(32),
        GITHUB_SERVER_URL: origin,
        ...ID,
        ...key,
      },
    })
  }

  it('reports that the App is not installed, and pushes nothing', async () => {
    if (emulator.app !== undefined) emulator.app.installed = false
    const run = await scan({ BACKPORCH_APP_PRIVATE_KEY: privateKey })
    assert.equal(run.code, 4, run.stderr)
    assert.match(
      run.stderr,
      /error BP5002: cannot act as the GitHub App[\s\S]*App 4242 is not installed[\s\S]*fix: install the App for acme\/deploy/,
    )
    assert.deepEqual(pushed, [])
  })

  it('pushes as the installation, opens the pull request as its bot, and prints neither key nor token', async () => {
    writeFileSync(join(folder, 'app.pem'), privateKey)
    const run = await scan({
      BACKPORCH_APP_PRIVATE_KEY_FILE: 'app.pem',
      GITHUB_TOKEN: 'not-this-one',
    })
    assert.equal(run.code, 1, run.stderr)
    assert.match(run.stdout, /proposed: #1/)
    emulator.state.sync()
    assert.equal(emulator.state.thread(1)?.user, 'backporch[bot]')
    assert.ok(pushed.includes('POST /acme/deploy.git/git-receive-pack'))
    assert.ok(emulator.tokens.size > 0)
    for (const secret of [...emulator.tokens.keys(), privateKey.split('\n')[1] ?? '', 'eyJ']) {
      assert.ok(!`${run.stdout}${run.stderr}`.includes(secret), 'no credential is printed')
    }
    assert.deepEqual([...new Set(emulator.problems)], [])
  })

  it('lets GitHub sign commits when the base branch requires it, but not in a dry run or with a given key', async () => {
    const git = (...args: readonly string[]): string =>
      new EmulatedGit(join(folder, 'acme', 'deploy.git'), environment).run(...args)
    const branches = git('for-each-ref', '--format=%(refname)', 'refs/heads/proposed/').split('\n')
    const branch = branches.find((name) => name.includes('apps/web')) ?? ''
    const commit = (): string => git('cat-file', 'commit', branch)
    const commits = (): number =>
      emulator.requests.filter(({ path }) => path.endsWith('/git/commits')).length
    const [plain, tree] = [commit(), git('rev-parse', `${branch}^{tree}`)]
    const again = (): void => {
      for (const ref of [...branches, 'refs/heads/drift-ledger']) git('update-ref', '-d', ref)
      emulator.state.threads.length = 0
    }
    assert.doesNotMatch(plain, /^gpgsig/m)
    emulator.state.rules = (name) => (name === 'main' ? [{ type: 'required_signatures' }] : [])
    again()
    const app = { BACKPORCH_APP_PRIVATE_KEY_FILE: 'app.pem' }
    const rehearsed = await scan(app, '--dry-run')
    assert.equal(rehearsed.code, 1, rehearsed.stderr)
    assert.equal(commits(), 0)
    const run = await scan(app)
    assert.equal(run.code, 1, run.stderr)
    assert.match(
      commit(),
      /^author backporch\[bot\] <\d+\+backporch\[bot\]@users\.noreply\.github\.com> .*\ncommitter GitHub <noreply@github\.com> .*\ngpgsig -----BEGIN PGP/m,
    )
    assert.equal(git('rev-parse', `${branch}^{tree}`), tree)
    assert.doesNotMatch(
      git('cat-file', 'commit', 'drift-ledger'),
      /^gpgsig/m,
      'no rule is about the ledger',
    )
    assert.equal(commits(), branches.length)
    assert.equal((await scan(app)).code, 1)
    assert.equal(commits(), branches.length, 'what is ours is not made again')
    again()
    const key = join(folder, 'signing-key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'backporch', '-f', key])
    assert.equal((await scan({ ...app, BACKPORCH_SIGNING_KEY_FILE: key })).code, 1)
    assert.match(commit(), /^gpgsig -----BEGIN SSH SIGNATURE-----$/m)
    assert.equal(commits(), branches.length)
    assert.deepEqual([...new Set(emulator.problems)], [])
  })
})

const PROPOSE = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: default}
spec: {mode: Propose, detect: {minAge: 0s, settle: 0s}}
`
