/** What `check` says of a repository on GitHub, line by line. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type GitHubCredential, probeGitHub } from '@backporch/forge/github'
import { expectFailure } from '../../contract/git-remotes.ts'
import { ACTIONS_LOGIN } from './emulated-state.ts'
import {
  BOT_LOGIN,
  BOT_TOKEN,
  createGitHubFixture,
  type GitHubFixture,
  INSTALLATION_TOKEN,
  type OpenOptions,
} from './github-fixture.ts'
import { SIGNAL } from './pushed-proposal.ts'

const DRAFT = 'refs/heads/drafts/backporch-check/drift-check'
const LEDGER = 'refs/heads/drift-ledger'
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
})
const APP: GitHubCredential = { kind: 'app', appId: 4242, privateKey }

describe('check on GitHub', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
    fixture.emulator.app = { id: 4242, publicKey, slug: 'backporch', installed: true }
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    const writes = fixture.emulator.writes.length
    await fixture.close()
    assert.deepEqual(problems, [])
    assert.equal(writes, 0, 'a probe changes nothing')
  })

  const probe = async (
    refs: readonly string[] = [],
    options: OpenOptions = {},
  ): Promise<string[]> => {
    const findings = await probeGitHub(await fixture.open(options), refs, SIGNAL)
    for (const { state, fix } of findings)
      if (state === 'failed' || state === 'warning') assert.ok(fix, 'says what to do')
    return findings.map(({ check, state, code, message }) =>
      [check, state, ...(code === undefined ? [] : [code]), message].join(' | '),
    )
  }

  it('passes a classic token with the scope repo', async () => {
    fixture.emulator.scopes.set(BOT_TOKEN, 'gist, repo')
    assert.deepEqual(await probe([DRAFT, LEDGER]), [
      'forge-permissions | passed | GitHub acme/deploy: the account may push',
      'forge-token | passed | GitHub acme/deploy: the token has the scope repo',
      'forge-rules | passed | GitHub acme/deploy: no rule blocks drafts/backporch-check/drift-check',
      'forge-rules | passed | GitHub acme/deploy: no rule blocks drift-ledger',
    ])
  })

  it('takes public_repo for enough where the repository is public, and for too little where it is not', async () => {
    fixture.emulator.scopes.set(BOT_TOKEN, 'public_repo')
    assert.ok(
      (await probe()).includes(
        'forge-token | passed | GitHub acme/deploy: the token has the scope public_repo',
      ),
    )
    fixture.emulator.state.hidden = true
    assert.ok(
      (await probe()).includes(
        'forge-token | failed | BP5003 | GitHub acme/deploy: the token does not have the scope repo',
      ),
    )
    fixture.emulator.scopes.set(BOT_TOKEN, '')
    assert.ok(
      (await probe()).includes(
        'forge-token | failed | BP5003 | GitHub acme/deploy: the token does not have the scope repo',
      ),
    )
  })

  it('says that a fine-grained token does not tell what it may', async () => {
    const lines = await probe()
    const [token] = lines.filter((line) => line.startsWith('forge-token'))
    assert.match(
      token ?? '',
      /^forge-token \| skipped \| .*not shown by GitHub \(it needs contents, pull requests, statuses and issues: write\)/,
    )
  })

  it('fails an account that may only read', async () => {
    fixture.emulator.state.roles.set(BOT_LOGIN, 'read')
    assert.ok(
      (await probe()).includes(
        'forge-permissions | failed | BP5003 | GitHub acme/deploy: the account may not push',
      ),
    )
  })

  for (const told of ['omitted', 'false'] as const)
    it(`asks for the repositories of an installation token whose rights are ${told}, and leaves the rest to the rehearsed push`, async () => {
      const { emulator } = fixture
      emulator.addInstallationToken(INSTALLATION_TOKEN, 'drift-app[bot]')
      emulator.state.installationPermissions = told
      emulator.state.otherRepositories = 130
      const asInstallation = { credential: { kind: 'token', token: INSTALLATION_TOKEN } } as const
      assert.deepEqual(await probe([], asInstallation), [
        'forge-token | skipped | GitHub acme/deploy: the token is of an App that is installed for this repository; what it may write is ' +
          'not shown by GitHub (it needs contents, pull requests, statuses and issues: write)',
      ])
      // A public repository is shown to every App.
      emulator.state.installed = false
      assert.deepEqual(await probe([], asInstallation), [
        'forge-permissions | failed | BP5003 | GitHub acme/deploy: the App of the token is not installed for this repository',
      ])
    })

  it('warns of the token of a workflow, and names the setting', async () => {
    fixture.emulator.addInstallationToken(INSTALLATION_TOKEN, ACTIONS_LOGIN)
    const [, workflow] = await probe([], {
      credential: { kind: 'token', token: INSTALLATION_TOKEN },
    })
    assert.match(
      workflow ?? '',
      /^forge-token \| warning \| GitHub acme\/deploy: the token is GITHUB_TOKEN of a workflow: a setting /,
    )
  })

  it('fails an App that lacks a permission, names it, and passes one that has all of them', async () => {
    fixture.emulator.granted = {
      metadata: 'read',
      contents: 'write',
      pull_requests: 'read',
      issues: 'write',
    }
    assert.deepEqual(await probe([], { credential: APP }), [
      'forge-token | failed | BP5003 | GitHub acme/deploy: the App lacks pull_requests: write, statuses: write',
      'forge-token | warning | GitHub acme/deploy: the App lacks checks: write, so pull requests have no check with buttons',
    ])
    fixture.emulator.granted = {
      contents: 'write',
      pull_requests: 'write',
      statuses: 'write',
      issues: 'write',
      checks: 'write',
    }
    assert.deepEqual(await probe([], { credential: APP }), [
      'forge-token | passed | GitHub acme/deploy: the App has contents, pull_requests, statuses, issues',
    ])
  })

  it('says that the App is not installed', async () => {
    if (fixture.emulator.app !== undefined) fixture.emulator.app.installed = false
    const failure = await expectFailure(probe([], { credential: APP }), 'BP5002')
    assert.match(failure.why, /not installed/)
  })

  it('warns of a ruleset that covers our branches, with each of its reasons once', async () => {
    fixture.emulator.state.rules = (branch) =>
      branch.startsWith('drafts/')
        ? [
            { type: 'creation' },
            { type: 'non_fast_forward' },
            { type: 'required_linear_history' },
            { type: 'creation' },
            {
              type: 'commit_message_pattern',
              parameters: { operator: 'regex', pattern: '^[A-Z]+-[0-9]+ ' },
            },
          ]
        : [{ type: 'required_linear_history' }]
    const rules = (await probe([DRAFT, LEDGER])).filter((line) => line.startsWith('forge-rules'))
    assert.deepEqual(rules, [
      'forge-rules | warning | BP4002 | GitHub acme/deploy: a ruleset covers drafts/backporch-check/drift-check: no account may create it; ' +
        'it may only move forwards, and a proposal is rewritten in place; commit messages have to fit a pattern, ' +
        'unless the account is on its bypass list, which GitHub does not show',
      'forge-rules | passed | GitHub acme/deploy: no rule blocks drift-ledger',
    ])
  })

  it('says once that a free plan has no rules to tell, and asks no more', async () => {
    fixture.emulator.state.rules = 'refused'
    const rules = (await probe([DRAFT, LEDGER])).filter((line) => line.startsWith('forge-rules'))
    assert.equal(rules.length, 1)
    assert.match(rules[0] ?? '', /^forge-rules \| skipped \| .*not shown/)
    assert.equal(fixture.emulator.requests.filter(({ path }) => path.includes('/rules/')).length, 1)
  })

  it('fails an archived repository, and warns of one that was renamed or has no issues', async () => {
    const { state } = fixture.emulator
    state.archived = true
    state.issues = false
    fixture.emulator.formerly = { owner: 'acme', repo: 'deploy' }
    Object.assign(state, { owner: 'acme-platform', repo: 'deployments' })
    const lines = await probe()
    assert.deepEqual(lines.slice(0, 3), [
      'forge | failed | BP5008 | GitHub acme/deploy is archived',
      'forge | warning | BP5008 | GitHub acme/deploy is acme-platform/deployments now: renamed or transferred',
      'forge | warning | GitHub acme/deploy has no issues, so there is no dashboard and no report of a storm',
    ])
  })

  it('says that the token is refused, or that the repository is not shown', async () => {
    fixture.emulator.tokens.clear()
    await expectFailure(probe(), 'BP5002')
    fixture.emulator.tokens.set(BOT_TOKEN, BOT_LOGIN)
    fixture.emulator.state.owner = 'other'
    await expectFailure(probe(), 'BP5003')
  })
})
