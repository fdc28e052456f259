/** What GitHub asks for is heeded and remembered, and what cannot be trusted is a failure. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { TracedRequest } from '@backporch/system/trace'
import { expectFailure } from '../../contract/git-remotes.ts'
import type { Fault } from './github-emulator.ts'
import { BOT_TOKEN, createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

const REPOSITORY = '/repos/{owner}/{repo}'
const LIST = `GET ${REPOSITORY}/pulls` as const
const OPEN = `POST ${REPOSITORY}/pulls` as const
const DOCUMENTED = { documentation_url: 'https://docs.github.com/rest' }

describe('GitHub limits and faults', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  const fault = (parts: Fault): void => void fixture.emulator.faults.push(parts)
  const limit = (
    headers: Record<string, string>,
    body: object = { message: 'API rate limit exceeded' },
  ): Fault => ({
    on: LIST,
    moment: 'before',
    answer: { status: 403, headers, body: { ...DOCUMENTED, ...body } },
  })
  const resetIn = (seconds: number): number =>
    Math.floor(fixture.clock.now().getTime() / 1000) + seconds

  it('stops sending when the budget is used up, reports until when, and continues afterwards', async () => {
    const forge = await fixture.forge()
    fault(
      limit({
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(resetIn(1800)),
      }),
    )
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5004')
    assert.match(failure.remedy, /2026-09-01T12:30:00Z/)
    assert.equal(failure.retry, 'backoff')
    const sent = fixture.emulator.requests.length
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5004')
    assert.equal(fixture.emulator.requests.length, sent, 'remembered')
    assert.deepEqual(fixture.clock.slept, [], 'a wait beyond the limit is not sat through')
    fixture.clock.pass(1_801_000)
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), [])
  })

  it('logs each request with the remaining budget, also the one that meets the limit', async () => {
    const traced: TracedRequest[] = []
    fixture.emulator.budget = { limit: 5_000, remaining: 4_000, reset: resetIn(1800) }
    const forge = await fixture.forge({ trace: (request) => traced.push(request) })
    await forge.readProposals('main', [], SIGNAL)
    fault(
      limit({
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(resetIn(1800)),
      }),
    )
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5004')
    assert.ok(traced.every(({ to }) => to.system === 'forge' && to.name === 'github'))
    assert.deepEqual(traced[0]?.budget, { name: 'core', remaining: 3_999 })
    assert.deepEqual([traced.at(-1)?.outcome, traced.at(-1)?.budget?.remaining], ['403', 0])
  })

  it('waits as long as retry-after says, if that is within the limit', async () => {
    const forge = await fixture.forge()
    fault(limit({ 'retry-after': '30' }))
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5004')
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), [])
    assert.deepEqual(fixture.clock.slept, [30_000])
  })

  it('treats a 403 with the text of a secondary limit as one, and waits one minute, then two', async () => {
    const forge = await fixture.forge()
    const body = {
      message:
        'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    }
    fault(limit({}, body))
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5004')
    // The look at the repository goes well in between, and ends the series.
    fault(limit({}, body))
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5004')
    assert.deepEqual(fixture.clock.slept, [60_000])
  })

  it('treats a 403 without that text as missing rights, and blocks nothing', async () => {
    const forge = await fixture.forge()
    fault(
      limit(
        { 'x-ratelimit-remaining': '4000' },
        { message: 'Resource not accessible by personal access token' },
      ),
    )
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5003')
    assert.match(failure.why, /Resource not accessible/)
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), [])
  })

  it('spends no budget on the second read of what did not change', async () => {
    fixture.emulator.budget = { limit: 5000, remaining: 4000, reset: resetIn(3600) }
    const { budget } = fixture.emulator
    const wanted = await pushProposal(fixture)
    const forge = await fixture.forge()
    await forge.ensureProposal(wanted, undefined, SIGNAL)
    const first = await forge.readProposals('main', [], SIGNAL)
    const left = budget.remaining
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), first)
    assert.equal(budget.remaining, left)
    assert.equal(fixture.emulator.requests.at(-1)?.status, 304)
    await fixture.human.addLabel(first[0]?.number ?? 0, 'new')
    assert.ok(
      (await forge.readProposals('main', [], SIGNAL))[0]?.labels.includes('new'),
      'a change is seen',
    )
  })

  it('retries after a transient fault, and fails after the third', async () => {
    const forge = await fixture.forge()
    const broken: Fault = {
      on: LIST,
      moment: 'before',
      times: 2,
      answer: { status: 502, text: '<h1>Bad gateway</h1>' },
    }
    fault({ ...broken })
    assert.deepEqual(await forge.readProposals('main', [], SIGNAL), [])
    fault({ ...broken, times: 3 })
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5005')
    assert.equal(failure.retry, 'backoff')
  })

  it('retries read-only requests regardless of their method', async () => {
    const { client } = await fixture.open()
    fault({ on: 'graphql', moment: 'after', times: 2 })
    assert.equal(await client.getLogin(SIGNAL), 'backporch-bot')
    assert.equal(fixture.emulator.requests.length, 3)
  })

  it('fails on a truncated answer and never reads it as an empty list', async () => {
    const forge = await fixture.forge()
    fault({ on: LIST, moment: 'before', times: 3, cutAfter: 40 })
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5001')
    fault({ on: LIST, moment: 'before', cutAfter: 0 })
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5007')
    fault({
      on: LIST,
      moment: 'before',
      answer: { status: 200, body: { message: 'everything is well' } },
    })
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5007')
    fixture.emulator.problems.length = 0
  })

  it('distinguishes a login page from an answer of GitHub', async () => {
    const forge = await fixture.forge()
    fault({
      on: `GET ${REPOSITORY}`,
      moment: 'before',
      answer: { status: 200, text: '<html>Please sign in</html>' },
    })
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5007')
    assert.doesNotMatch(failure.why, /sign in/)
    fault({ on: `GET ${REPOSITORY}`, moment: 'before', answer: { status: 200, body: {} } })
    fixture.emulator.problems.length = 0
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5007')
    fixture.emulator.problems.length = 0
  })

  it('never opens a second proposal after a lost answer, a 502, or stale lists', async () => {
    const wanted = await pushProposal(fixture)
    const forge = await fixture.forge()
    fixture.emulator.state.behind = true
    fault({ on: OPEN, moment: 'after' })
    const lost = await expectFailure(forge.ensureProposal(wanted, undefined, SIGNAL), 'BP5001')
    assert.equal(lost.retry, 'backoff')
    const refused = await expectFailure(forge.ensureProposal(wanted, undefined, SIGNAL), 'BP5006')
    assert.deepEqual([refused.retry, /already exists/.test(refused.why)], ['backoff', true])
    fixture.emulator.state.behind = false
    const opened = await forge.ensureProposal(wanted, undefined, SIGNAL)
    assert.deepEqual([opened.number, fixture.emulator.state.threads.length], [1, 1])
    const other = await pushProposal(fixture, 'drift-2')
    fault({ on: OPEN, moment: 'after', answer: { status: 502, text: 'Bad gateway' } })
    assert.equal((await forge.ensureProposal(other, undefined, SIGNAL)).number, 2)
    assert.equal(fixture.emulator.state.threads.length, 2)
  })

  it('does not treat a hidden repository as one without proposals', async () => {
    const forge = await fixture.forge()
    assert.equal(await forge.permissionOf('wendy', SIGNAL), 'write')
    fixture.emulator.state.owner = 'other'
    await expectFailure(forge.permissionOf('wendy', SIGNAL), 'BP5003')
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5003')
    assert.match(failure.why, /does not exist, or the token may not see it/)
  })

  it('names refused credentials without showing them', async () => {
    const forge = await fixture.forge()
    await forge.readProposals('main', [], SIGNAL)
    fixture.emulator.tokens.clear()
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5002')
    assert.doesNotMatch(JSON.stringify(failure) + String(failure.cause), new RegExp(BOT_TOKEN))
    await expectFailure(
      fixture.open({ credential: { kind: 'token', token: 'canary\nnext' } }),
      'BP5002',
    )
  })

  it('names single sign-on when the organisation requires it', async () => {
    const forge = await fixture.forge()
    fault(
      limit(
        {
          'x-github-sso':
            'required; url=https://github.com/orgs/acme/sso?authorization_request=canary',
        },
        { message: 'Resource protected' },
      ),
    )
    const failure = await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5002')
    assert.match(failure.why, /single sign-on/)
  })

  it('follows a renamed repository on the same host, and reports it once', async () => {
    const wanted = await pushProposal(fixture)
    const notices: string[] = []
    const { state } = fixture.emulator
    fixture.emulator.formerly = { owner: 'acme', repo: 'deploy' }
    Object.assign(state, { owner: 'acme-platform', repo: 'deployments' })
    const forge = await fixture.forge({ notice: (text) => notices.push(text) })
    const opened = await forge.ensureProposal(wanted, undefined, SIGNAL)
    assert.equal(
      (await forge.readProposals('main', [wanted.ref], SIGNAL))[0]?.number,
      opened.number,
    )
    await forge.readProposals('main', [], SIGNAL)
    assert.deepEqual(notices, [
      'acme/deploy is acme-platform/deployments now: renamed or transferred; change the remote to it',
    ])
  })

  it('does not follow to another host, nor to another repository with the same name', async () => {
    const forge = await fixture.forge()
    await forge.readProposals('main', [], SIGNAL)
    fixture.emulator.state.id += 1
    await expectFailure(forge.readProposals('main', [], SIGNAL), 'BP5008')
    fixture.emulator.formerly = {
      owner: 'acme',
      repo: 'deploy',
      location: 'http://127.0.0.1:9/api/v3/repositories/1',
    }
    const fresh = await fixture.forge()
    const failure = await expectFailure(fresh.readProposals('main', [], SIGNAL), 'BP5008')
    assert.match(failure.why, /another host/)
  })

  it('writes nothing to an archived repository, and still reads it', async () => {
    const wanted = await pushProposal(fixture)
    fixture.emulator.state.archived = true
    const forge = await fixture.forge()
    assert.deepEqual(await forge.readProposals('main', [wanted.ref], SIGNAL), [])
    await expectFailure(forge.ensureProposal(wanted, undefined, SIGNAL), 'BP5008')
    await expectFailure(
      forge.ensureIssue({ topic: 'dashboard', title: 'title', body: 'body', labels: [] }, SIGNAL),
      'BP5008',
    )
    assert.deepEqual(fixture.emulator.writes, [])
  })

  it('stops with the reason of its signal', async () => {
    const forge = await fixture.forge()
    const stop = new AbortController()
    fault({ on: LIST, moment: 'before', hold: async () => stop.abort(new Error('shutdown')) })
    await assert.rejects(forge.readProposals('main', [], stop.signal), /shutdown/)
  })
})
