/** Merge and close on GitHub: styles, rules, and a process that ends anywhere. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { parseObjectId } from '@backporch/kyaml/files'
import { changeOf, expectFailure, headOf } from '../../contract/git-remotes.ts'
import { createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { mergeOf, pushProposal, SIGNAL } from './pushed-proposal.ts'

const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge' as const

describe('GitHub decisions', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  const refsNow = async (): Promise<ReadonlyMap<string, string>> =>
    (await fixture.repository.listRefs(SIGNAL)).refs
  const openOne = async () => {
    const wanted = await pushProposal(fixture)
    await (await fixture.forge()).ensureProposal(wanted, undefined, SIGNAL)
    return { wanted, decision: await mergeOf(fixture, wanted) }
  }
  const assertComplete = async (commit: string, proposal: string): Promise<void> => {
    const refs = await refsNow()
    assert.deepEqual(
      [refs.get('refs/heads/main'), refs.get('refs/tags/apps/web/v7'), refs.has(proposal)],
      [commit, commit, false],
    )
    assert.ok(refs.has('refs/heads/drift-ledger'))
  }

  it('merges with our message in a style that the settings allow', async () => {
    const { wanted, decision } = await openOne()
    fixture.emulator.state.allowed = { merge: false, squash: true, rebase: true }
    const commit = parseObjectId(await (await fixture.forge()).merge(decision, SIGNAL))
    await assertComplete(commit, wanted.ref)
    const view = await fixture.repository.commit(commit, SIGNAL)
    assert.deepEqual(view.parents, [decision.base.commit])
    assert.equal(view.message.trim(), decision.merge.message)
  })

  it('merges in the style that a ruleset allows, which the settings do not show', async () => {
    const { wanted, decision } = await openOne()
    fixture.emulator.state.ruleset = ['rebase']
    await assertComplete(await (await fixture.forge()).merge(decision, SIGNAL), wanted.ref)
  })

  it('moves no ref when the rules are not met, and reports the reason of GitHub', async () => {
    const { decision } = await openOne()
    fixture.emulator.state.blocked = true
    const before = await refsNow()
    const failure = await expectFailure((await fixture.forge()).merge(decision, SIGNAL), 'BP4002')
    assert.match(failure.why, /Required status check/)
    assert.deepEqual(await refsNow(), before)
  })

  it('completes a merge whose answer was lost', async () => {
    const { wanted, decision } = await openOne()
    fixture.emulator.faults.push({ on: MERGE, moment: 'after' })
    await assertComplete(await (await fixture.forge()).merge(decision, SIGNAL), wanted.ref)
  })

  it('reports that nothing is merged when the request was lost before it was done', async () => {
    const { decision } = await openOne()
    fixture.emulator.faults.push({ on: MERGE, moment: 'before' })
    const before = await refsNow()
    await expectFailure((await fixture.forge()).merge(decision, SIGNAL), 'BP5001')
    assert.deepEqual(await refsNow(), before)
  })

  it('completes the merge when GitHub deletes the branch by itself', async () => {
    const { wanted, decision } = await openOne()
    fixture.emulator.state.deleteBranchOnMerge = true
    await assertComplete(await (await fixture.forge()).merge(decision, SIGNAL), wanted.ref)
  })

  it('leaves what the next turn finds by content when it is killed between merge and tag', async () => {
    const { wanted, decision } = await openOne()
    const killed: PackageRepository = Object.assign(Object.create(fixture.repository), {
      listRefs: (signal: AbortSignal) => fixture.repository.listRefs(signal),
      push: () => Promise.reject(new Error('killed')),
    })
    await assert.rejects(
      (await fixture.forge({ repository: killed })).merge(decision, SIGNAL),
      /killed/,
    )
    const refs = await refsNow()
    // The branch with its record, and the record on the base branch: found-decisions.ts tags, deletes and closes from these.
    assert.equal(refs.get(wanted.ref), wanted.commit)
    assert.equal(refs.has('refs/tags/apps/web/v7'), false)
    assert.equal(refs.has('refs/heads/drift-ledger'), false)
    const listed = await fixture.repository.list(
      await headOf(fixture.repository, SIGNAL),
      'apps/web/drift-9f2c1a7b.yaml',
      SIGNAL,
    )
    assert.equal(listed.length, 1)
    const [known] = await (await fixture.forge()).readProposals('main', [wanted.ref], SIGNAL)
    assert.deepEqual(
      [known?.state, known?.decidedBy],
      ['merged', undefined],
      'our own account decided for somebody',
    )
    // A second try decides nothing twice.
    await expectFailure((await fixture.forge()).merge(decision, SIGNAL), 'BP4003')
  })

  it('pushes neither the tag nor the deletion alone when another turn wrote the ledger meanwhile', async () => {
    const { wanted, decision } = await openOne()
    const other = await fixture.repository.write({
      parents: [],
      base: undefined,
      changes: [],
      message: 'other',
      at: 1,
    })
    await fixture.repository.push(
      [{ ref: 'refs/heads/drift-ledger', from: null, to: other }],
      SIGNAL,
    )
    const commit = parseObjectId(await (await fixture.forge()).merge(decision, SIGNAL))
    const refs = await refsNow()
    assert.equal(refs.get('refs/heads/main'), commit)
    assert.deepEqual(
      [refs.has('refs/tags/apps/web/v7'), refs.get(wanted.ref)],
      [false, wanted.commit],
    )
  })

  it('merges no pull request that does not exist, was retargeted or was closed', async () => {
    const wanted = await pushProposal(fixture)
    const decision = await mergeOf(fixture, wanted)
    const forge = await fixture.forge()
    assert.match(
      (await expectFailure(forge.merge(decision, SIGNAL), 'BP2004')).why,
      /none was opened/,
    )
    const { number = 0 } = await forge.ensureProposal(wanted, undefined, SIGNAL)
    const thread = fixture.emulator.state.thread(number)
    if (thread?.pull !== undefined) thread.pull.base = 'feature/x'
    assert.match(
      (await expectFailure(forge.merge(decision, SIGNAL), 'BP2004')).why,
      /goes into feature\/x/,
    )
    await fixture.human.close(number)
    assert.match((await expectFailure(forge.merge(decision, SIGNAL), 'BP2004')).why, /is closed/)
  })

  it('merges only what was reviewed: GitHub refuses a head that moved since', async () => {
    const { wanted, decision } = await openOne()
    const next = await fixture.repository.write(
      changeOf(wanted.commit, { 'apps/web/more.yaml': 'more: 1\n' }),
    )
    fixture.emulator.faults.push({
      on: MERGE,
      moment: 'before',
      // The push comes between the look and the merge.
      hold: () =>
        fixture.repository.push([{ ref: wanted.ref, from: wanted.commit, to: next }], SIGNAL),
    })
    await expectFailure((await fixture.forge()).merge(decision, SIGNAL), 'BP4003')
    assert.equal((await refsNow()).get('refs/heads/main'), decision.base.commit)
  })

  it('closes the pull request when an earlier close was killed after its push', async () => {
    const { wanted } = await openOne()
    await fixture.repository.push([{ ref: wanted.ref, from: wanted.commit, to: null }], SIGNAL)
    const [known] = await (await fixture.forge()).readProposals('main', [wanted.ref], SIGNAL)
    assert.equal(known?.state, 'closed')
  })
})
