/** A GitHub App as who we are: its key, its installation's tokens, and their end. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { GitHubCredential } from '../../../src/adapters/forge/github/github-credentials.ts'
import { expectFailure } from '../../contract/git-remotes.ts'
import { type GitHubGround, makeGitHubGround } from './github-ground.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  // As GitHub gives it.
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
})
const CREDENTIAL: GitHubCredential = { kind: 'app', appId: 4242, privateKey }

describe('GitHub App', () => {
  let ground: GitHubGround

  beforeEach(async () => {
    ground = await makeGitHubGround()
    ground.emulator.app = { id: 4242, publicKey, slug: 'backporch', installed: true }
  })
  afterEach(async () => {
    const problems = [...new Set(ground.emulator.problems)]
    await ground.close()
    assert.deepEqual(problems, [])
  })

  const made = (): number => ground.emulator.requests.filter(({ path }) => path.endsWith('/access_tokens')).length

  it('finds its installation, makes one token and writes as its bot', async () => {
    const wanted = await pushProposal(ground)
    const forge = await ground.forge({ credential: CREDENTIAL })
    const { number = 0 } = await forge.ensureProposal(wanted, undefined, SIGNAL)
    await forge.ensureComment(number, 'status', 'text', SIGNAL)
    assert.deepEqual(await forge.readComments(number, SIGNAL), [], 'its own comment is known as its own')
    assert.equal(ground.emulator.state.thread(number)?.user, 'backporch[bot]')
    assert.equal(made(), 1)
  })

  it('makes another token before the first one ends', async () => {
    const opened = await ground.open({ credential: { ...CREDENTIAL, installationId: 77 } })
    const forge = opened.forge(ground.repository)
    await forge.readProposals('main', [], SIGNAL)
    const first = await opened.token(SIGNAL)
    ground.clock.pass(54 * 60_000)
    assert.equal(await opened.token(SIGNAL), first)
    ground.clock.pass(2 * 60_000)
    await forge.readProposals('main', [], SIGNAL)
    assert.notEqual(await opened.token(SIGNAL), first)
    assert.equal(made(), 2)
  })

  it('makes one token for many requests at once', async () => {
    const forge = await ground.forge({ credential: CREDENTIAL })
    await Promise.all([1, 2, 3, 4].map(() => forge.readProposals('main', [], SIGNAL)))
    assert.equal(made(), 1)
    assert.equal(ground.emulator.requests.filter(({ path }) => path.endsWith('/installation')).length, 1)
  })

  it('makes another token where one was withdrawn', async () => {
    const forge = await ground.forge({ credential: CREDENTIAL })
    await forge.readProposals('main', [], SIGNAL)
    ground.emulator.tokens.clear()
    ground.clock.pass(10 * 60_000)
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), [])
    assert.equal(made(), 2)
  })

  it('says that the App is not installed', async () => {
    if (ground.emulator.app !== undefined) ground.emulator.app.installed = false
    const forge = await ground.forge({ credential: CREDENTIAL })
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5002')
    assert.match(failure.why, /App 4242 is not installed/)
  })

  it('says that the key is none, or not the one of the App, and never what it is', async () => {
    const broken = { ...CREDENTIAL, privateKey: '-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\n' }
    await expectFailure(ground.open({ credential: broken }), 'BP5002')
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const forge = await ground.forge({ credential: { ...CREDENTIAL, privateKey: other } })
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5002')
  })
})
