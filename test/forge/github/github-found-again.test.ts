/** What is ours on GitHub is found again, whatever the filters of its lists know: nothing is made twice. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { CheckRun } from '@backporch/forge/check-run'
import type { GitHubCredential } from '@backporch/forge/github'
import type { HostedForge, WantedIssue } from '@backporch/forge/hosted-forge'
import { expectFailure } from '../../contract/git-remotes.ts'
import type { ListFilter } from './emulated-state.ts'
import { createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { GitHubWorld } from './github-world.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const APP = { id: 4242, publicKey, slug: 'backporch', installed: true }
const BOT = 'backporch[bot]'
const CREDENTIAL: GitHubCredential = { kind: 'app', appId: APP.id, privateKey }
const DASHBOARD: WantedIssue = {
  topic: 'dashboard',
  title: 'Drift dashboard',
  body: 'text\n',
  labels: ['drift'],
}
const RUN: CheckRun = {
  key: '0123456789abcdef',
  state: 'undecided',
  title: '3 changes',
  summary: 'text\n',
  url: '',
  annotations: [],
  buttons: [],
}
const FILTERS = [
  'creator',
  'labels',
  'head',
  'check_name',
  'app_id',
  'content',
] as const satisfies readonly ListFilter[]

describe('finding objects of a GitHub App again', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
    fixture.emulator.app = { ...APP }
    fixture.emulator.granted = { checks: 'write' }
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  /** Another process: it remembers nothing. */
  const open = (): Promise<HostedForge> => fixture.forge({ credential: CREDENTIAL })
  const issues = () => fixture.emulator.state.threads.filter(({ pull }) => pull === undefined)
  const pulls = () => fixture.emulator.state.threads.filter(({ pull }) => pull !== undefined)

  it('keeps one issue and finds it by its label in one list', async () => {
    for (let time = 0; time < 3; time += 1) await (await open()).ensureIssue(DASHBOARD, SIGNAL)
    assert.equal(issues().length, 1)
    const { requests } = fixture.emulator
    const from = requests.length
    assert.equal((await (await open()).readIssue('dashboard', SIGNAL))?.number, issues()[0]?.number)
    assert.equal(requests.slice(from).filter(({ path }) => path.endsWith('/issues')).length, 1)
  })

  it('finds the issue whose label somebody removed, and restores the label', async () => {
    await (await open()).ensureIssue(DASHBOARD, SIGNAL)
    const [issue = assert.fail()] = issues()
    issue.labels = []
    assert.equal((await (await open()).readIssue('dashboard', SIGNAL))?.number, issue.number)
    await (await open()).ensureIssue(DASHBOARD, SIGNAL)
    assert.deepEqual([issues().length, issue.labels.includes('drift-topic/dashboard')], [1, true])
    issue.labels = []
    await (await open()).closeIssue('dashboard', SIGNAL)
    assert.equal(issue.state, 'closed')
  })

  it('keeps the oldest of duplicate issues, and ignores issues of other authors', async () => {
    const { state } = fixture.emulator
    await (await open()).ensureIssue(DASHBOARD, SIGNAL)
    const [{ title, body, labels } = assert.fail()] = issues()
    for (const user of ['wendy', BOT, BOT]) state.addThread({ user, title, body, labels })
    assert.equal((await (await open()).ensureIssue(DASHBOARD, SIGNAL)).number, 1)
    assert.deepEqual(
      issues().map(({ user, state: now }) => [user, now]),
      [
        [BOT, 'open'],
        ['wendy', 'open'],
        [BOT, 'closed'],
        [BOT, 'closed'],
      ],
    )
  })

  it('reads the whole issue list once, then only changes, however often the issue is refused', async () => {
    const { state, faults, requests } = fixture.emulator
    for (let count = 0; count < 250; count += 1)
      state.addThread({ user: 'wendy', title: `${count}`, body: '' })
    const forge = await open()
    const pagesOf = async (work: () => Promise<unknown>): Promise<number> => {
      const from = requests.length
      await work()
      return requests
        .slice(from)
        .filter(({ method, path }) => method === 'GET' && path.endsWith('/issues')).length
    }
    const answer = {
      status: 403,
      body: { message: 'Resource not accessible by integration', documentation_url: '' },
    }
    const refused = (): Promise<unknown> => {
      faults.push({ on: 'POST /repos/{owner}/{repo}/issues', moment: 'before', answer })
      return expectFailure(forge.ensureIssue(DASHBOARD, SIGNAL), 'BP5003')
    }
    assert.deepEqual([await pagesOf(refused), await pagesOf(refused)], [4, 2])
    // Another process opens it, and somebody removes its label.
    await (await open()).ensureIssue(DASHBOARD, SIGNAL)
    const issue = state.threads.at(-1) ?? assert.fail()
    issue.labels = []
    assert.equal((await forge.ensureIssue(DASHBOARD, SIGNAL)).number, issue.number)
  })

  for (const filter of FILTERS)
    for (const how of ['blind', 'ignored'] as const)
      it(`creates nothing twice when the filter ${filter} is ${how}`, async () => {
        const { state } = fixture.emulator
        state.brokenFilters.set(filter, how)
        state.bots.add('other[bot]')
        state.apps.set('other[bot]', 1)
        const proposal = await pushProposal(fixture)
        const another = await pushProposal(fixture, 'drift-2')
        state.checkRuns.push(
          foreignRun(7, proposal.commit, 1, 'backporch'),
          foreignRun(8, proposal.commit, APP.id, 'other'),
        )
        for (let time = 0; time < 2; time += 1) {
          const forge = await open()
          assert.equal((await forge.ensureIssue(DASHBOARD, SIGNAL)).number, 1)
          assert.equal((await forge.ensureProposal(proposal, undefined, SIGNAL)).number, 2)
          await forge.ensureComment(2, 'status', 'text', SIGNAL)
          await forge.checkRuns?.ensureCheckRun(proposal.commit, RUN, SIGNAL)
        }
        // Somebody changes the base: GitHub would take a second pull request of the branch.
        await fixture.human.retarget(2, 'release')
        await (await open()).ensureProposal(proposal, undefined, SIGNAL)
        await (await open()).ensureProposal(another, undefined, SIGNAL)
        assert.deepEqual(
          [
            issues().length,
            pulls().map(({ pull }) => pull?.head),
            state.comments.length,
            state.checkRuns.length,
          ],
          [1, [proposal, another].map(({ ref }) => ref.slice('refs/heads/'.length)), 1, 3],
        )
        assert.deepEqual(
          state.checkRuns.map(({ app, name, external_id }) => [
            app,
            name,
            external_id?.split('.')[0],
          ]),
          [
            [1, 'backporch', RUN.key],
            [APP.id, 'other', RUN.key],
            [APP.id, 'backporch', RUN.key],
          ],
        )
      })

  for (const how of ['blind', 'ignored'] as const)
    it(`knows which comments it answered when the filter content is ${how}`, async () => {
      const { state } = fixture.emulator
      state.brokenFilters.set('content', how)
      await (await open()).ensureProposal(await pushProposal(fixture), undefined, SIGNAL)
      const comment = state.addComment(1, 'wendy', '/adopt')
      comment.reactions.push({ id: 1, user: 'ada', content: '+1' })
      const read = async () => (await (await open()).readComments(1, SIGNAL))[0] ?? assert.fail()
      await (await open()).react(await read(), 'seen', SIGNAL)
      assert.equal((await read()).answered, false)
      await (await open()).react(await read(), 'done', SIGNAL)
      assert.equal((await read()).answered, true)
      const { requests } = fixture.emulator
      const from = requests.length
      await (await open()).react(await read(), 'done', SIGNAL)
      assert.deepEqual(
        requests
          .slice(from)
          .filter(({ method, path }) => method === 'POST' && path.endsWith('/reactions')),
        [],
      )
    })
})

describe('turns of a GitHub App', () => {
  it('keep one dashboard across turns and processes', async () => {
    const world = new GitHubWorld({ packages: ['web'], credential: CREDENTIAL })
    world.emulator.app = { ...APP }
    await world.start()
    try {
      const dashboards = () =>
        world.emulator.state.threads
          .filter(({ title }) => title === 'Drift dashboard')
          .map(({ number }) => number)
      for (const color of ['red', 'green', 'white', 'black']) {
        world.pass()
        world.edit(0, 'web', 'color', color)
        await world.turn()
        await world.restart()
      }
      assert.equal(dashboards().length, 1)
      assert.deepEqual([...new Set(world.emulator.problems)], [])
    } finally {
      await world.stop()
    }
  })
})

function foreignRun(id: number, commit: string, app: number, name: string) {
  const output = { title: '', summary: '', annotations: [] }
  const parts = {
    status: 'completed',
    conclusion: 'success',
    details_url: null,
    output,
    actions: [],
  }
  return { id, app, name, head_sha: commit, external_id: `${RUN.key}.0.0`, ...parts }
}
