/** People may require `drift/fresh`: every pull request into the base branch and every merge group gets it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import { MOST_HEADS } from '../../../src/plan/turn/forge/plan-open-heads.ts'
import {
  type Refusals,
  type WrittenHeads,
  writeOpenHeads,
} from '../../../src/reconcile/turn/apply/write-open-heads.ts'
import { GitHubWorld } from './github-world.ts'

const SIGNAL = new AbortController().signal
const PULL = {
  ...{
    head: '',
    sha: '',
    base: 'main',
    draft: false,
    mergedAt: null,
    mergedBy: null,
    mergeCommit: null,
  },
  ...{ reviewers: [], assignees: [], milestone: null, fork: false },
}
const NO_DRIFT = 'success: no drift proposal'

describe('required drift/fresh status', () => {
  let world: GitHubWorld

  before(async () => {
    world = new GitHubWorld({ packages: ['web'] })
    await world.start()
    world.edit(0, 'web', 'color', 'red')
    await world.turn()
  })
  after(async () => {
    const problems = [...new Set(world.emulator.problems)]
    await world.stop()
    assert.deepEqual(problems, [])
  })

  /** A pull request of a person; its branch is one of a fork where it says so. */
  const open = (branch: string, fork = false): ObjectId => {
    const { repository, emulator } = world
    repository.branches.set(`refs/heads/${branch}`, repository.head('main'))
    const commit = repository.commitByHand(branch, { [`${branch}.txt`]: 'a' })
    // The branch of a fork is none of this repository.
    if (fork) repository.branches.delete(`refs/heads/${branch}`)
    const pull = { ...PULL, head: branch, sha: commit, fork }
    emulator.state.addThread({ user: 'wendy', title: branch, body: '', pull })
    return commit
  }
  const pass = async (refusals: Refusals = new Map()): Promise<WrittenHeads> => {
    const { repository, forge } = world
    const { refs } = await repository.listRefs()
    const policies = { policies: [{}] } as unknown as Parameters<
      typeof writeOpenHeads
    >[1]['policies']
    return writeOpenHeads(forge, { baseBranch: 'main', refs, policies }, refusals, SIGNAL)
  }
  const freshOf = (commit: string): string | undefined => {
    const found = world.emulator.state.statuses.filter(
      ({ sha, context }) => sha === commit && context === 'drift/fresh',
    )
    return found.map(({ state, description }) => `${state}: ${description}`).join(', ') || undefined
  }
  const proposal = () => {
    const thread = world.emulator.state.threads.find(({ pull }) =>
      pull?.head.startsWith('proposed/'),
    )
    if (thread?.pull === undefined) throw new Error('no proposal')
    return { number: thread.number, commit: thread.pull.sha }
  }

  it('is set once per head of a pull request of a person and of a fork', async () => {
    const [own, forked] = [open('feature/x'), open('patch-1', true)]
    assert.deepEqual(await pass(), { waiting: 0, notes: [] })
    assert.deepEqual([freshOf(own), freshOf(forked)], [NO_DRIFT, NO_DRIFT])
    assert.deepEqual(await world.writesOf(pass), [])
    const next = world.repository.commitByHand('feature/x', { 'feature.txt': 'b' })
    world.emulator.state.sync()
    await pass()
    assert.equal(freshOf(next), NO_DRIFT)
    assert.equal(freshOf(proposal().commit)?.includes('no drift proposal'), false)
  })

  it('is success on a merge group of people, and copies the status of a proposal in a group', async () => {
    const { repository, emulator } = world
    const { number, commit } = proposal()
    const group = (pull: number, onto: string): ObjectId => {
      const name = `gh-readonly-queue/main/pr-${pull}-${onto}`
      repository.branches.set(`refs/heads/${name}`, repository.head('main'))
      return repository.commitByHand(name, { [`group-${pull}.txt`]: 'a' })
    }
    const people = group(90, repository.head('main'))
    const drift = group(number, people)
    const behind = group(91, drift)
    const status = (state: 'pending' | 'success', description: string) =>
      world.forge.ensureStatuses(
        commit as ObjectId,
        [{ context: 'drift/fresh', state, description, url: undefined }],
        SIGNAL,
      )
    await status('pending', 'the cluster is not observed')
    await pass()
    const pending = 'pending: the cluster is not observed'
    assert.deepEqual(
      [freshOf(people), freshOf(drift), freshOf(behind)],
      [NO_DRIFT, pending, pending],
    )
    await status('success', 'it matches')
    await pass()
    assert.deepEqual(
      [drift, behind].map((one) => freshOf(one)),
      [`${pending}, success: it matches`, `${pending}, success: it matches`],
    )
    assert.deepEqual(await world.writesOf(pass), [])
    for (const ref of repository.branches.keys())
      if (ref.includes('gh-readonly-queue')) repository.branches.delete(ref)
    emulator.state.sync()
  })

  it('does not say "no drift proposal" on a commit that is also the head of a proposal', async () => {
    const { commit } = proposal()
    world.repository.branches.set('refs/heads/copy', commit as ObjectId)
    world.emulator.state.addThread({
      user: 'wendy',
      title: 'copy',
      body: '',
      pull: { ...PULL, head: 'copy', sha: commit },
    })
    await pass()
    assert.equal(freshOf(commit)?.includes('no drift proposal'), false)
  })

  it('covers many pull requests over several passes, newest first', async () => {
    const heads = Array.from({ length: MOST_HEADS + 3 }, (_, index) => open(`many-${index}`))
    assert.deepEqual(await pass(), { waiting: 3, notes: [] })
    assert.deepEqual(
      heads.map((commit) => freshOf(commit) === NO_DRIFT),
      heads.map((_, index) => index >= 3),
    )
    assert.deepEqual(await pass(), { waiting: 0, notes: [] })
    assert.ok(heads.every((commit) => freshOf(commit) === NO_DRIFT))
  })

  it('reaches the other heads when one head refuses it', async () => {
    const { repository, emulator } = world
    const { number, commit } = proposal()
    await world.forge.ensureStatuses(
      commit as ObjectId,
      [{ context: 'drift/fresh', state: 'failure', description: 'moved', url: undefined }],
      SIGNAL,
    )
    const name = `gh-readonly-queue/main/pr-${number}-${repository.head('main')}`
    repository.branches.set(`refs/heads/${name}`, repository.head('main'))
    const group = repository.commitByHand(name, { 'group.txt': 'full' })
    const pending = {
      sha: group,
      context: 'drift/fresh',
      state: 'pending',
      description: '',
      target_url: null,
    }
    emulator.state.statuses.push(...Array.from({ length: 1000 }, () => pending))
    const refusals: Refusals = new Map()
    const late = open('after-the-group')
    const { waiting, notes } = await pass(refusals)
    assert.deepEqual([waiting, notes.map(({ subject }) => subject)], [1, [group.slice(0, 8)]])
    assert.match(notes[0]?.text ?? '', /^BP5006: .*maximum number of statuses/)
    assert.equal(freshOf(late), NO_DRIFT)
    assert.deepEqual(await world.writesOf(() => pass(refusals)), [], 'it is not asked again')
    assert.deepEqual(await pass(refusals), { waiting: 1, notes })
    repository.branches.delete(`refs/heads/${name}`)
    emulator.state.sync()
    assert.deepEqual(await pass(refusals), { waiting: 0, notes: [] })
    assert.equal(refusals.size, 0)
  })

  it('becomes a note when the token may not write statuses', async () => {
    open('late')
    const refused = {
      status: 403,
      body: {
        message: 'Resource not accessible by integration',
        documentation_url: 'https://docs.github.com/rest',
      },
    }
    world.emulator.faults.push({
      on: 'POST /repos/{owner}/{repo}/statuses/{sha}',
      moment: 'before',
      answer: refused,
    })
    const { waiting, notes } = await pass()
    assert.deepEqual([waiting, notes.map(({ cause }) => cause)], [1, ['status-not-written']])
    assert.match(notes[0]?.text ?? '', /^BP5003: /)
    assert.deepEqual(await pass(), { waiting: 0, notes: [] })
  })
})
