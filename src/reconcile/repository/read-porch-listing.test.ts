import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { readPorchListing } from './read-porch-listing.ts'

const signal = new AbortController().signal

class CountedRepository extends MemoryRepository {
  readonly listed: string[] = []
  running = 0
  most = 0

  override async list(...args: Parameters<MemoryRepository['list']>) {
    this.listed.push(args[1])
    this.running += 1
    this.most = Math.max(this.most, this.running)
    await new Promise(setImmediate)
    this.running -= 1
    return super.list(...args)
  }
}

async function read(repository: MemoryRepository, directory = '') {
  const view = { repository, baseBranch: 'main', refs: new Map(repository.branches), tree: [] }
  return readPorchListing(view, { repository: 'repo', directory }, signal)
}

test('each branch and tag costs one read of its Kptfile, in parallel, and other refs cost none', async () => {
  const repository = new CountedRepository()
  const head = repository.commitByHand('main', {
    'apps/web/Kptfile': 'x',
    'apps/web/deep/file.yaml': 'x',
  })
  for (let at = 1; at <= 100; at += 1) repository.branches.set(`refs/tags/apps/web/v${at}`, head)
  for (const other of ['tags/v1', 'tags/infra/dns/v1', 'heads/feature/x', 'heads/drift-ledger'])
    repository.branches.set(`refs/${other}`, head)
  const { revisions } = await read(repository, 'apps')
  assert.equal(revisions.length, 100)
  assert.deepEqual(
    [repository.listed.length, ...new Set(repository.listed)],
    [100, 'apps/web/Kptfile'],
  )
  assert.equal(repository.most, 100)
})

test('an unreadable commit ends the listing, unless it belongs to a damaged tag', async () => {
  const failing = (code: 'BP4006' | 'BP4001') => {
    const repository = new MemoryRepository()
    const head = repository.commitByHand('main', { 'a/Kptfile': 'x' })
    repository.list = async () => {
      throw new Failure({ code, what: 'w', why: 'broken', remedy: 'r' })
    }
    return { repository, at: (ref: string) => repository.branches.set(ref, head) }
  }
  const tag = failing('BP4006')
  tag.at('refs/tags/a/v1')
  assert.deepEqual(
    (await read(tag.repository)).problems.map(({ cause, subject }) => [cause, subject]),
    [['porch-tag-not-read', 'refs/tags/a/v1']],
  )
  const branch = failing('BP4006')
  branch.at('refs/heads/drafts/a/w')
  await assert.rejects(read(branch.repository), { code: 'BP4006' })
  const offline = failing('BP4001')
  offline.at('refs/tags/a/v1')
  await assert.rejects(read(offline.repository), { code: 'BP4001' })
})
