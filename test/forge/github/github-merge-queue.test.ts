/** A base branch with a merge queue: a proposal goes through it, and nothing of ours takes it out. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Failure } from '@backporch/kyaml/failure'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { ClosedEpisode } from '../../../src/record/documents/closed-episode.ts'
import { GitHubWorld } from './github-world.ts'

/** A world of its own with a queue, for as long as the work takes. */
async function inQueue(work: (other: GitHubWorld) => Promise<void>): Promise<void> {
  const other = new GitHubWorld({ packages: ['web'] })
  await other.start()
  try {
    other.emulator.state.queue = []
    await work(other)
  } finally {
    await other.stop()
  }
}

/** The open proposals of drift. */
const proposalsOf = ({ emulator: { state } }: GitHubWorld) =>
  state.threads.filter(({ pull }) => pull?.head.startsWith('proposed/'))

/** A person puts it into the queue. */
function enqueue({ emulator: { state } }: GitHubWorld, number: number): void {
  state.queue?.push(number)
  state.enqueuers.set(number, 'wendy')
}

function freshOn({ emulator: { state } }: GitHubWorld, commit: string | undefined): string {
  const found = state.statuses.findLast(
    ({ sha, context }) => sha === commit && context === 'drift/fresh',
  )
  return `${found?.state}: ${found?.description}`
}

describe('a merge queue on GitHub', () => {
  let world: GitHubWorld

  before(async () => {
    world = new GitHubWorld({ packages: ['web'] })
    await world.start()
    world.emulator.state.queue = []
    world.edit(0, 'web', 'color', 'red')
    await world.turn()
  })
  after(async () => {
    const problems = [...new Set(world.emulator.problems)]
    await world.stop()
    assert.deepEqual(problems, [])
  })

  const proposal = () => {
    const { state } = world.emulator
    state.sync()
    const thread = state.threads.find(({ pull }) => pull?.head.startsWith('proposed/'))
    if (thread?.pull === undefined) throw new Error('no proposal')
    return { number: thread.number, commit: thread.pull.sha, isOpen: thread.state === 'open' }
  }
  const freshOf = (commit: string): string | undefined => {
    const found = world.emulator.state.statuses.findLast(
      ({ sha, context }) => sha === commit && context === 'drift/fresh',
    )
    return found === undefined ? undefined : `${found.state}: ${found.description}`
  }
  const closed = (): ClosedEpisode['status'] | undefined => {
    const path = world.repository.paths('drift-ledger').find((name) => name.startsWith('closed/'))
    const [document] =
      path === undefined
        ? []
        : parseGoYaml(world.repository.text('drift-ledger', path) ?? '', path).documents
    return (document?.value as ClosedEpisode | undefined)?.status
  }

  it('approve adds the proposal to the queue, and the ledger records who approved', async () => {
    const { number, commit } = proposal()
    const decided = await world.approve('apps/web')
    assert.deepEqual(
      [decided.isQueued, decided.commit, decided.revision],
      [true, undefined, undefined],
    )
    assert.deepEqual(world.emulator.state.queue, [number])
    const path =
      world.repository.paths('drift-ledger').find((name) => name.startsWith('pushed/proposed/')) ??
      ''
    assert.match(
      world.repository.text('drift-ledger', path) ?? '',
      /approved:\n {4}by: Ada <ada@example\.com>\n {4}at: "?2026-11-21T/,
    )
    assert.deepEqual([proposal(), closed()], [{ number, commit, isOpen: true }, undefined])
  })

  it('a turn does not push to a queued proposal, and approve reports the queue', async () => {
    const { commit } = proposal()
    const base = world.repository.commitByHand('main', { 'apps/web/README.md': 'more\n' })
    world.pass()
    await world.turn()
    assert.equal(proposal().commit, commit, `${base} moved the package`)
    assert.equal(freshOf(commit)?.startsWith('success'), true)
    await assert.rejects(
      world.approve('apps/web'),
      ({ code, why }: Failure) => code === 'BP2005' && /is in the merge queue/.test(why),
    )
  })

  it('drift/fresh fails when live changed after review, and the dequeued proposal is rebuilt', async () => {
    const { commit, number } = proposal()
    world.edit(0, 'web', 'size', 'huge')
    world.pass()
    await world.turn()
    assert.equal(proposal().commit, commit)
    assert.match(freshOf(commit) ?? '', /^failure: live changed after the review/)
    world.emulator.state.leaveQueue(number, 'dropped')
    world.pass()
    await world.turn()
    const next = proposal()
    assert.notEqual(next.commit, commit)
    assert.match(freshOf(next.commit) ?? '', /^success: /)
  })

  it('drift/fresh fails when live matches git again, and the dequeued proposal is closed', () =>
    inQueue(async (other) => {
      const { state } = other.emulator
      other.edit(0, 'web', 'color', 'red')
      await other.turn()
      const [{ number, pull } = assert.fail('no proposal')] = proposalsOf(other)
      enqueue(other, number)
      other.heal(0, 'web')
      other.pass()
      await other.turn()
      assert.match(freshOn(other, pull?.sha), /^failure: live changed after the review/)
      assert.deepEqual(state.queue, [number])
      state.leaveQueue(number, 'dropped')
      other.pass()
      await other.turn()
      assert.equal(state.thread(number)?.state, 'closed')
    }))

  it('a merge by the queue is a decision of the person who approved', async () => {
    const { number } = proposal()
    await world.approve('apps/web')
    world.emulator.state.leaveQueue(number, 'merged')
    world.pass()
    await world.turn()
    assert.equal(proposal().isOpen, false)
    assert.deepEqual([closed()?.outcome, closed()?.decidedBy], ['Merged', 'Ada <ada@example.com>'])
  })

  it('a person who queues the proposal on GitHub is the decider of its merge', () =>
    inQueue(async (other) => {
      other.edit(0, 'web', 'color', 'red')
      await other.turn()
      const [{ number } = assert.fail('no proposal')] = proposalsOf(other)
      enqueue(other, number)
      other.emulator.state.leaveQueue(number, 'merged')
      other.pass()
      await other.turn()
      const path =
        other.repository.paths('drift-ledger').find((name) => name.startsWith('closed/')) ?? ''
      assert.match(
        other.repository.text('drift-ledger', path) ?? '',
        /outcome: Merged\n {2}decidedBy: wendy\n/,
      )
    }))

  it('a queued joint proposal is not pushed to, and its merge is one decision per cluster', () =>
    inQueue(async (other) => {
      const { state } = other.emulator
      const policy = other.repository.text('main', '.drift/policy.yaml') ?? ''
      other.repository.commitByHand('main', {
        '.drift/policy.yaml': policy.replace('limits: {', 'limits: {massMinClusters: 2, '),
      })
      for (const cluster of [0, 1] as const) other.edit(cluster, 'web', 'color', 'red')
      await other.turn()
      const [{ number, pull, title } = assert.fail('no proposal'), ...more] = proposalsOf(other)
      assert.deepEqual([more.length, /in 2 clusters/.test(title)], [0, true], title)
      enqueue(other, number)
      const commit = pull?.sha
      other.repository.commitByHand('main', { 'apps/web/README.md': 'more\n' })
      other.pass()
      await other.turn()
      assert.equal(state.thread(number)?.pull?.sha, commit)
      other.edit(1, 'web', 'size', 'huge')
      other.pass()
      await other.turn()
      state.sync()
      assert.equal(state.thread(number)?.pull?.sha, commit, 'nothing is pushed to it')
      assert.match(freshOn(other, commit), /^failure: live changed after the review/)
      state.leaveQueue(number, 'merged')
      other.pass()
      await other.turn()
      const closed = other.repository
        .paths('drift-ledger')
        .filter((name) => name.startsWith('closed/'))
      const decisions = closed.map((path) =>
        /outcome: (\w+)\n {2}decidedBy: (\w+)\n/.exec(
          other.repository.text('drift-ledger', path) ?? '',
        ),
      )
      assert.deepEqual(
        decisions.map((found) => found?.slice(1)),
        [
          ['Merged', 'wendy'],
          ['Merged', 'wendy'],
        ],
      )
    }))

  it('reports why GitHub refuses to queue it', () =>
    inQueue(async (other) => {
      other.emulator.state.blocked = true
      other.edit(0, 'web', 'color', 'red')
      await other.turn()
      await assert.rejects(
        other.approve('apps/web'),
        ({ code, what, why }: Failure) =>
          code === 'BP4002' && /into the merge queue/.test(what) && /not mergeable/.test(why),
      )
    }))
})
