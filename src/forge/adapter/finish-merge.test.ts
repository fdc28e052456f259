import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import type { ProposalMerge } from '../ports/hosted-forge.ts'
import { finishMerge } from './finish-merge.ts'

const signal = new AbortController().signal
const BRANCH = 'proposed/apps/web/drift-1a2b3c4d'
const REF = `refs/heads/${BRANCH}`
const TAG = 'refs/tags/apps/web/v2'

/** Merged on the forge, and nothing else done yet. */
function merged() {
  const repository = new MemoryRepository()
  const base = repository.commitByHand('main', { a: 'b' })
  const head = repository.commitByHand(BRANCH, { a: 'c' })
  const commit = repository.commitByHand('main', { a: 'c' })
  const ledger = repository.commitByHand('ledger', { x: 'y' })
  const decision: ProposalMerge = {
    proposal: { ref: REF, commit: head },
    base: { ref: 'refs/heads/main', commit: base },
    merge: { parents: [base, head], base, changes: [], message: 'merge', at: 0 },
    tag: TAG,
    along: [{ ref: 'refs/heads/drift-ledger', from: null, to: ledger }],
  }
  return {
    repository,
    commit,
    ledger,
    finish: () => finishMerge(repository, decision, commit, signal),
  }
}

test('one push contains the tag, the deleted branch and the ledger', async () => {
  const { repository, commit, ledger, finish } = merged()
  await finish()
  assert.equal(repository.pushes.length, 1)
  assert.deepEqual(
    [
      repository.branches.get(TAG),
      repository.branches.get(REF),
      repository.branches.get('refs/heads/drift-ledger'),
    ],
    [commit, undefined, ledger],
  )
})

test('pushes tag and ledger although the forge deletes the branch at the same time', async () => {
  const { repository, commit, ledger, finish } = merged()
  repository.beforePush = () => void repository.branches.delete(REF)
  await finish()
  assert.deepEqual(
    [repository.branches.get(TAG), repository.branches.get('refs/heads/drift-ledger')],
    [commit, ledger],
  )
})

test('leaves the merge to a concurrent writer of the ledger, and never pushes half of it', async () => {
  const { repository, finish } = merged()
  let pushes = 0
  repository.beforePush = () => {
    pushes += 1
    repository.commitByHand('drift-ledger', { other: String(pushes) })
  }
  await finish()
  assert.equal(pushes, 3)
  assert.deepEqual([repository.branches.has(TAG), repository.branches.has(REF)], [false, true])
})

test('a rejected push reports that the merge is done, and how to complete it', async () => {
  const { repository, finish } = merged()
  repository.beforePush = () => {
    throw new Failure({
      code: 'BP4002',
      what: 'refused',
      where: 'here',
      why: 'protected',
      remedy: 'ask',
      retry: 'on-change',
    })
  }
  await assert.rejects(finish(), (thrown) => {
    assert.ok(thrown instanceof Failure)
    const { code, what, where, why, remedy, retry } = thrown
    assert.deepEqual(
      { code, what, where, why, remedy, retry },
      {
        code: 'BP4002',
        what: `the pull request is merged, but ${TAG} and the ledger could not be pushed`,
        where: 'here',
        why: 'protected',
        remedy: 'run backporch scan: it completes the merge',
        retry: 'on-change',
      },
    )
    return true
  })
})
