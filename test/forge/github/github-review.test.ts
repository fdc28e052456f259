/**
 * One review from the edit to the merge on a GitHub that refuses all that github.com can refuse: the token is GITHUB_TOKEN of a workflow, which
 * is told nothing of its rights; Actions may not open pull requests; lists by author do not know bots; each branch takes signed commits only;
 * and the base branch has a merge queue and wants `drift/fresh`.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { probeGitHub } from '@backporch/forge/github'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { writeOpenHeads } from '../../../src/reconcile/turn/apply/write-open-heads.ts'
import type { ClosedEpisode } from '../../../src/record/documents/closed-episode.ts'
import { ACTIONS_LOGIN, type EmulatedPull } from './emulated-state.ts'
import { INSTALLATION_TOKEN } from './github-fixture.ts'
import { GitHubWorld } from './github-world.ts'
import { SIGNAL } from './pushed-proposal.ts'

const PULL: EmulatedPull = {
  ...{
    head: 'feature',
    sha: '',
    base: 'main',
    draft: false,
    mergedAt: null,
    mergedBy: null,
    mergeCommit: null,
  },
  ...{ reviewers: [], assignees: [], milestone: null, fork: false },
}
const NEW_BRANCHES = ['refs/heads/proposed/apps/web/drift-1', 'refs/heads/drift-ledger']

describe('a review on GitHub with every rule that can refuse it', () => {
  let world: GitHubWorld

  before(async () => {
    world = new GitHubWorld({
      packages: ['web'],
      credential: { kind: 'token', token: INSTALLATION_TOKEN },
    })
    const { emulator, repository } = world
    emulator.addInstallationToken(INSTALLATION_TOKEN, ACTIONS_LOGIN)
    await world.start()
    const { state } = emulator
    Object.assign(state, {
      queue: [],
      requiredStatuses: ['drift/fresh'],
      rules: () => [{ type: 'required_signatures' }],
    })
    repository.beforePush = (updates) => {
      const unsigned = updates.find(({ to }) => to !== null && !state.signed.has(to))
      if (unsigned !== undefined) throw refused(unsigned.ref)
    }
  })
  after(async () => {
    const problems = [...new Set(world.emulator.problems)]
    await world.stop()
    assert.deepEqual(problems, [])
  })

  const refused = (ref: string): Failure => {
    const why = 'GH013: Commits must have verified signatures.'
    return new Failure({
      code: 'BP4002',
      what: 'cannot push',
      where: ref,
      why,
      remedy: 'sign it',
      retry: 'on-change',
    })
  }
  const threads = () => {
    world.emulator.state.sync()
    return world.emulator.state.threads
  }
  const proposal = () => {
    const [thread, ...more] = threads().filter(({ pull }) => pull?.head.startsWith('proposed/'))
    assert.equal(more.length, 0)
    if (thread?.pull === undefined) throw new Error('no proposal')
    return { number: thread.number, commit: thread.pull.sha, isOpen: thread.state === 'open' }
  }
  const dashboards = (): number =>
    threads().filter(({ title }) => title === 'Drift dashboard').length
  const freshOf = (commit: string): string | undefined =>
    world.emulator.state.statuses.findLast(
      ({ sha, context }) => sha === commit && context === 'drift/fresh',
    )?.state
  const vouch = async (): Promise<number> => {
    const { refs } = await world.repository.listRefs()
    const policies = { policies: [{}] } as unknown as Parameters<
      typeof writeOpenHeads
    >[1]['policies']
    return (
      await writeOpenHeads(world.forge, { baseBranch: 'main', refs, policies }, new Map(), SIGNAL)
    ).waiting
  }
  const closed = (): ClosedEpisode['status'] | undefined => {
    const path = world.repository.paths('drift-ledger').find((name) => name.startsWith('closed/'))
    const [document] =
      path === undefined
        ? []
        : parseGoYaml(world.repository.text('drift-ledger', path) ?? '', path).documents
    return (document?.value as ClosedEpisode | undefined)?.status
  }

  it('check reports the kind of the token, and finds no blocking rule', async () => {
    const findings = await probeGitHub(
      { client: world.client, granted: () => undefined },
      NEW_BRANCHES,
      SIGNAL,
    )
    assert.deepEqual(
      findings.map(({ check, state }) => `${check} ${state}`),
      ['forge-token skipped', 'forge-token warning', 'forge-rules passed', 'forge-rules passed'],
    )
    assert.match(findings[1]?.message ?? '', /the token is GITHUB_TOKEN of a workflow/)
    assert.match(findings[1]?.fix ?? '', /Settings > Actions > General/)
  })

  it('names the setting when Actions may not open pull requests, and keeps the pushed branch', async () => {
    world.edit(0, 'web', 'color', 'red')
    const turn = world.turn()
    await assert.rejects(
      turn,
      ({ code, remedy }: Failure) =>
        code === 'BP5003' && /Settings > Actions > General/.test(remedy),
    )
    assert.deepEqual(
      world.repository.names().filter((name) => name.startsWith('proposed/')).length,
      1,
      'what was pushed waits',
    )
  })

  it('opens one signed proposal that passes the required check of the base branch', async () => {
    world.emulator.state.actionsMayOpenPullRequests = true
    for (let turn = 0; turn < 3; turn += 1) {
      world.pass()
      await world.turn()
    }
    const { commit, isOpen } = proposal()
    assert.deepEqual([isOpen, freshOf(commit), dashboards()], [true, 'success', 1])
    const { author, committer } = await world.repository.commit(commit as ObjectId)
    assert.equal(author.name, ACTIONS_LOGIN)
    assert.equal(committer.email, 'noreply@github.com')
  })

  it('sends nothing while nothing changes, also after a restart', async () => {
    assert.deepEqual(await world.writesOf(() => world.turn()), [])
    await world.restart()
    assert.deepEqual(await world.writesOf(() => world.turn()), [])
  })

  it('another edit adds a Backporch commit to the same pull request', async () => {
    const before = proposal()
    world.edit(0, 'web', 'size', 'large')
    world.pass()
    await world.turn()
    const now = proposal()
    assert.equal(now.number, before.number)
    assert.notEqual(now.commit, before.commit)
    assert.equal(freshOf(now.commit), 'success')
  })

  it('recognises our branch without the ledger, and the commit of a person on it as foreign', async () => {
    const { commit, number } = proposal()
    const [ledger] = [world.repository.head('drift-ledger')]
    world.repository.branches.delete('refs/heads/drift-ledger')
    world.pass()
    await world.turn()
    assert.equal(freshOf(proposal().commit), 'success')
    world.repository.branches.set('refs/heads/drift-ledger', ledger)
    const branch = threads().find((thread) => thread.number === number)?.pull?.head ?? ''
    const theirs = world.repository.commitByHand(branch, { 'apps/web/notes.txt': 'mine\n' })
    world.pass()
    await world.turn()
    assert.deepEqual([proposal().commit, freshOf(theirs)], [theirs, 'failure'])
    world.repository.branches.set(`refs/heads/${branch}`, commit as ObjectId)
    world.pass()
    await world.turn()
    assert.equal(freshOf(proposal().commit), 'success')
  })

  it('does not hold up a pull request of a person', async () => {
    world.repository.branches.set('refs/heads/feature', world.repository.head('main'))
    const sha = world.repository.commitByHand('feature', { 'words.txt': 'a\n' })
    world.emulator.state.addThread({
      user: 'wendy',
      title: 'words',
      body: '',
      pull: { ...PULL, sha },
    })
    assert.equal(await vouch(), 0)
    assert.equal(freshOf(sha), 'success')
  })

  it('a lost answer leaves nothing incomplete, and the next turn ends the same', async () => {
    const { emulator, repository } = world
    const losses: readonly (readonly [name: string, lose: () => void])[] = [
      [
        'a tree',
        () =>
          void emulator.faults.push({
            on: 'POST /repos/{owner}/{repo}/git/trees',
            moment: 'after',
            times: 9,
          }),
      ],
      [
        'a commit',
        () =>
          void emulator.faults.push({
            on: 'POST /repos/{owner}/{repo}/git/commits',
            moment: 'after',
            times: 9,
          }),
      ],
      [
        'a push',
        () => {
          repository.afterPush = () => {
            throw new Failure({
              code: 'BP4001',
              what: 'cannot push',
              why: 'it breaks off',
              remedy: 'again',
              retry: 'backoff',
            })
          }
        },
      ],
    ]
    for (const [index, [name, lose]] of losses.entries()) {
      const { number, commit } = proposal()
      world.edit(0, 'web', 'size', `size-${index}`)
      world.pass()
      lose()
      await assert.rejects(world.turn(), Failure, name)
      emulator.faults.length = 0
      repository.afterPush = () => undefined
      await world.turn()
      const now = proposal()
      assert.deepEqual(
        [now.number, now.commit !== commit, freshOf(now.commit)],
        [number, true, 'success'],
        name,
      )
      assert.deepEqual(await world.writesOf(() => world.turn()), [], name)
    }
  })

  it('approve queues it, its group gets its status, and the merge is the decision', async () => {
    const { number, commit } = proposal()
    assert.equal((await world.approve('apps/web')).isQueued, true)
    const group = `gh-readonly-queue/main/pr-${number}-${world.repository.head('main')}`
    world.repository.branches.set(`refs/heads/${group}`, commit as ObjectId)
    const merged = world.repository.commitByHand(group, { 'group.txt': 'a\n' })
    world.pass()
    await world.turn()
    await vouch()
    assert.deepEqual(
      [freshOf(merged), proposal().commit],
      ['success', commit],
      'nothing is pushed to it there',
    )
    world.repository.branches.delete(`refs/heads/${group}`)
    world.emulator.state.leaveQueue(number, 'merged')
    world.heal(0, 'web')
    world.pass()
    await world.turn()
    assert.equal(proposal().isOpen, false)
    assert.deepEqual([closed()?.outcome, closed()?.decidedBy], ['Merged', 'Ada <ada@example.com>'])
    world.pass()
    assert.deepEqual(
      [
        dashboards(),
        threads().filter(({ state, pull }) => state === 'open' && pull !== undefined).length,
      ],
      [1, 1],
    )
    world.assertNoDuplicates()
  })
})
