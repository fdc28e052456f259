/** A GitHub App as who we are: its key, its installation's tokens, and their end. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { GitHubCredential } from '@backporch/forge/github'
import { expectFailure } from '../../contract/git-remotes.ts'
import { createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  // As GitHub gives it.
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
})
const CREDENTIAL: GitHubCredential = { kind: 'app', appId: 4242, privateKey }

describe('GitHub App', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
    fixture.emulator.app = { id: 4242, publicKey, slug: 'backporch', installed: true }
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  const created = (): number =>
    fixture.emulator.requests.filter(({ path }) => path.endsWith('/access_tokens')).length

  it('finds its installation, creates one token and writes as its bot', async () => {
    const wanted = await pushProposal(fixture)
    const forge = await fixture.forge({ credential: CREDENTIAL })
    const { number = 0 } = await forge.ensureProposal(wanted, undefined, SIGNAL)
    await forge.ensureComment(number, 'status', 'text', SIGNAL)
    assert.deepEqual(
      await forge.readComments(number, SIGNAL),
      [],
      'its own comment is known as its own',
    )
    assert.equal(fixture.emulator.state.thread(number)?.user, 'backporch[bot]')
    assert.equal(created(), 1)
  })

  it('creates another token before the first one expires', async () => {
    const opened = await fixture.open({ credential: { ...CREDENTIAL, installationId: 77 } })
    const forge = opened.forge(fixture.repository)
    await forge.readProposals('main', [], SIGNAL)
    const first = await opened.token(SIGNAL)
    fixture.clock.pass(54 * 60_000)
    assert.equal(await opened.token(SIGNAL), first)
    fixture.clock.pass(2 * 60_000)
    await forge.readProposals('main', [], SIGNAL)
    assert.notEqual(await opened.token(SIGNAL), first)
    assert.equal(created(), 2)
  })

  it('creates one token for many concurrent requests', async () => {
    const forge = await fixture.forge({ credential: CREDENTIAL })
    await Promise.all([1, 2, 3, 4].map(() => forge.readProposals('main', [], SIGNAL)))
    assert.equal(created(), 1)
    assert.equal(
      fixture.emulator.requests.filter(({ path }) => path.endsWith('/installation')).length,
      1,
    )
  })

  it('creates another token when the first one was revoked', async () => {
    const forge = await fixture.forge({ credential: CREDENTIAL })
    await forge.readProposals('main', [], SIGNAL)
    fixture.emulator.tokens.clear()
    fixture.clock.pass(10 * 60_000)
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), [])
    assert.equal(created(), 2)
  })

  it('reports that the App is not installed', async () => {
    if (fixture.emulator.app !== undefined) fixture.emulator.app.installed = false
    const forge = await fixture.forge({ credential: CREDENTIAL })
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5002')
    assert.match(failure.why, /App 4242 is not installed/)
  })

  it('reports a key that is invalid or of another App, without showing it', async () => {
    const broken = {
      ...CREDENTIAL,
      privateKey: '-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\n',
    }
    await expectFailure(fixture.open({ credential: broken }), 'BP5002')
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString()
    const forge = await fixture.forge({ credential: { ...CREDENTIAL, privateKey: other } })
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5002')
  })
})
