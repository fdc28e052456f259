/** Pull requests, comments and issues of GitHub where the contract of all forges says nothing. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { expectFailure } from '../../contract/git-remotes.ts'
import { BOT_LOGIN, createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

const REPOSITORY = '/repos/{owner}/{repo}'

describe('GitHub proposals and comments', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  const pullOf = (head: string, fork: boolean) => {
    const sha = fixture.emulator.state.git.branches().get('feature/x') ?? ''
    return {
      head,
      sha,
      base: 'main',
      draft: false,
      mergedAt: null,
      mergedBy: null,
      mergeCommit: null,
      reviewers: [],
      assignees: [],
      milestone: null,
      fork,
    }
  }

  it('creates labels with colour and description, once', async () => {
    const forge = await fixture.forge()
    await forge.ensureProposal(await pushProposal(fixture), undefined, SIGNAL)
    await forge.ensureProposal(await pushProposal(fixture, 'drift-2'), undefined, SIGNAL)
    const { labels } = fixture.emulator.state
    assert.deepEqual(labels.get('drift-risk/low'), {
      color: '0e8a16',
      description: 'How risky the difference is',
    })
    assert.deepEqual(labels.get('drift'), {
      color: '5319e7',
      description: 'What a cluster runs differs from git',
    })
    assert.equal(
      fixture.emulator.writes.filter(
        ({ method, path }) =>
          method === 'POST' && path.endsWith('/labels') && !path.includes('/issues/'),
      ).length,
      2,
    )
  })

  it('requests every valid reviewer, teams too, when GitHub refuses all because of one', async () => {
    const wanted = {
      ...(await pushProposal(fixture)),
      reviewers: ['wendy', 'nobody', 'acme/platform', 'acme/no-team', '@ada'],
    }
    await (await fixture.forge()).ensureProposal(wanted, undefined, SIGNAL)
    assert.deepEqual([...(fixture.emulator.state.thread(1)?.pull?.reviewers ?? [])].sort(), [
      'ada',
      'team:platform',
      'wendy',
    ])
  })

  it('adds reviewers and labels to a pull request whose opening was interrupted before them', async () => {
    const wanted = { ...(await pushProposal(fixture)), reviewers: ['wendy'] }
    const stop = new AbortController()
    fixture.emulator.faults.push({
      on: `POST ${REPOSITORY}/pulls/{pull_number}/requested_reviewers`,
      moment: 'before',
      hold: async () => stop.abort(new Error('killed')),
    })
    await assert.rejects(
      (await fixture.forge()).ensureProposal(wanted, undefined, stop.signal),
      /killed/,
    )
    const thread = fixture.emulator.state.thread(1)
    thread?.pull?.reviewers.splice(0)
    const forge = await fixture.forge()
    const [known] = await forge.readProposals('main', [wanted.ref], SIGNAL)
    await forge.ensureProposal(wanted, known, SIGNAL)
    assert.deepEqual(
      [thread?.pull?.reviewers, thread?.labels],
      [['wendy'], ['drift', 'drift-risk/low']],
    )
  })

  it('opens a proposal without draft where drafts are unsupported, and does not retry', async () => {
    fixture.emulator.state.drafts = false
    const wanted = { ...(await pushProposal(fixture)), draft: true }
    const forge = await fixture.forge()
    await forge.ensureProposal(wanted, undefined, SIGNAL)
    const [known] = await forge.readProposals('main', [], SIGNAL)
    assert.equal(known?.draft, false)
    const before = fixture.emulator.writes.length
    await forge.ensureProposal(wanted, known, SIGNAL)
    assert.equal(fixture.emulator.writes.length, before)
  })

  it('restores the base of a retargeted proposal, and opens no second one', async () => {
    const wanted = await pushProposal(fixture)
    const forge = await fixture.forge()
    await forge.ensureProposal(wanted, undefined, SIGNAL)
    const pull = fixture.emulator.state.thread(1)?.pull
    if (pull !== undefined && pull !== null) pull.base = 'feature/x'
    const [known] = await forge.readProposals('main', [wanted.ref], SIGNAL)
    assert.equal(known?.baseBranch, 'feature/x')
    await forge.ensureProposal(wanted, known, SIGNAL)
    assert.deepEqual([fixture.emulator.state.threads.length, pull?.base], [1, 'main'])
  })

  it('reads every page, and no pull request of a fork', async () => {
    const { state } = fixture.emulator
    for (let index = 0; index < 130; index += 1) {
      state.addThread({
        user: BOT_LOGIN,
        title: `${index}`,
        body: '',
        pull: pullOf(`proposed/a/d-${index}`, index === 5),
      })
      state.git.run('update-ref', `refs/heads/proposed/a/d-${index}`, pullOf('', false).sha)
    }
    // The branches are at a commit that is on main already, which would close them: a commit of their own.
    const tree = state.git.run('rev-parse', 'main^{tree}')
    const commit = state.git.run('commit-tree', tree, '-p', 'main', '-m', 'own')
    for (let index = 0; index < 130; index += 1)
      state.git.run('update-ref', `refs/heads/proposed/a/d-${index}`, commit)
    const read = await (await fixture.forge()).readProposals(
      'main',
      ['refs/heads/proposed/a/d-5'],
      SIGNAL,
    )
    assert.equal(read.length, 129)
    assert.ok(!read.some(({ ref }) => ref.endsWith('/d-5')), 'the one of a fork is not ours')
  })

  it('removes duplicate comments of its own, and never one of somebody else', async () => {
    const forge = await fixture.forge()
    const { state } = fixture.emulator
    await forge.ensureProposal(await pushProposal(fixture), undefined, SIGNAL)
    const text = '<!-- backporch:topic:status -->\nold'
    for (const login of [BOT_LOGIN, 'wendy', BOT_LOGIN]) state.addComment(1, login, text)
    await forge.ensureComment(1, 'status', 'new', SIGNAL)
    assert.deepEqual(
      state.comments.map(({ user, body }) => [user, body.split('\n')[1]]),
      [
        [BOT_LOGIN, 'new'],
        ['wendy', 'old'],
      ],
    )
  })

  it('finds our issue whose label somebody removed, and closes duplicates', async () => {
    const forge = await fixture.forge()
    const { number } = await forge.ensureIssue(
      { topic: 'dashboard', title: 'Drift', body: 'one', labels: ['drift'] },
      SIGNAL,
    )
    const { state } = fixture.emulator
    const thread = state.thread(number)
    if (thread !== undefined) thread.labels = []
    state.addThread({
      user: 'wendy',
      title: 'mine',
      body: '<!-- backporch:topic:dashboard -->\nfake',
    })
    const fresh = await fixture.forge()
    assert.equal(
      (
        await fresh.ensureIssue(
          { topic: 'dashboard', title: 'Drift', body: 'two', labels: ['drift'] },
          SIGNAL,
        )
      ).number,
      number,
    )
    assert.deepEqual(thread?.labels, ['drift', 'drift-topic/dashboard'])
    const twice = state.addThread({
      user: BOT_LOGIN,
      title: 'Drift',
      body: '<!-- backporch:topic:dashboard -->\ntwo',
      labels: ['drift-topic/dashboard'],
    })
    await fresh.ensureIssue(
      { topic: 'dashboard', title: 'Drift', body: 'two', labels: ['drift'] },
      SIGNAL,
    )
    assert.deepEqual([thread?.state, twice.state], ['open', 'closed'])
  })

  it('recognises comments of bots', async () => {
    const forge = await fixture.forge()
    const { state } = fixture.emulator
    await forge.ensureProposal(await pushProposal(fixture), undefined, SIGNAL)
    state.bots.add('renovate[bot]')
    state.addComment(1, 'renovate[bot]', 'rebased')
    const [comment] = await forge.readComments(1, SIGNAL)
    assert.deepEqual([comment?.author, comment?.bot], ['renovate[bot]', true])
  })

  it('reports what GitHub refuses in one line', async () => {
    const wanted = await pushProposal(fixture)
    const failure = await expectFailure(
      (await fixture.forge()).ensureProposal(
        { ...wanted, baseBranch: 'not-there' },
        undefined,
        SIGNAL,
      ),
      'BP5006',
    )
    assert.match(failure.why, /PullRequest base invalid/)
    assert.equal(failure.where?.startsWith('acme/deploy on 127.0.0.1:'), true)
  })
})
