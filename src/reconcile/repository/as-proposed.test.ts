import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import type { PushedBranch } from '../../record/pushed-branch.ts'
import { computeHash, computePushedContent, formatPushedPath } from '../../record/pushed-branch.ts'
import { explainAltered } from './as-proposed.ts'
import { listChangesBetween } from './changes-between.ts'

const { signal } = new AbortController()
const REF = 'refs/heads/proposed/apps/web/drift-1'
const RECORD = '.drift/records/apps/web/20231114-drift-1.record'
const TEXT = 'kind: DriftRecord\n'
const EDIT = 'apps/web/config.yaml'

/** Backporch proposed an edit; the base branch changed `meanwhile`; a person merged `landed`. */
async function mergeByHand(
  meanwhile: Readonly<Record<string, string | null>>,
  landed: Readonly<Record<string, string | null>>,
): Promise<string | undefined> {
  const repository = new MemoryRepository()
  const before = repository.commitByHand('main', { [EDIT]: 'a: 1\nb: 1\nc: 1\nd: 1\ne: 1\n' })
  repository.branches.set(REF, before)
  const commit = repository.commitByHand(REF.replace('refs/heads/', ''), {
    [EDIT]: 'a: 2\nb: 1\nc: 1\nd: 1\ne: 1\n',
    [RECORD]: TEXT,
  })
  const { content, records } = computePushedContent(
    await listChangesBetween(repository, before, commit, signal),
  )
  const pushed: PushedBranch = {
    apiVersion: 'backporch.dev/v1alpha1',
    kind: 'PushedBranch',
    metadata: {
      name: REF.replace('refs/heads/', ''),
      annotations: { 'config.kubernetes.io/local-config': 'true' },
    },
    spec: {
      commits: [{ commit, content, records: [computeHash(new TextEncoder().encode(TEXT))] }],
    },
  }
  const ledger = repository.commitByHand('drift-ledger', {
    [formatPushedPath(REF.replace('refs/heads/', ''))]: JSON.stringify(pushed),
  })
  const base = repository.commitByHand('main', meanwhile)
  const merge = repository.commitByHand(
    'main',
    { [RECORD]: TEXT, ...landed },
    { parents: [base, commit] },
  )
  const view = {
    repository,
    ledgerTree: await repository.list(ledger, ''),
    proposals: new Map(),
  } as unknown as Parameters<typeof explainAltered>[0]
  const mergeCommit = { commit: merge } as Parameters<typeof explainAltered>[1]['mergeCommit']
  assert.ok(records.length === 1)
  return explainAltered(view, { refs: [REF], text: TEXT, mergeCommit }, signal)
}

test('a merge with other lines of the same file is what backporch proposed', async () => {
  const altered = await mergeByHand(
    { [EDIT]: 'a: 1\nb: 1\nc: 1\nd: 1\ne: 2\n' },
    { [EDIT]: 'a: 2\nb: 1\nc: 1\nd: 1\ne: 2\n' },
  )
  assert.equal(altered, undefined)
})

test('a merge with another value is not what backporch proposed', async () => {
  const altered = await mergeByHand(
    { [EDIT]: 'a: 1\nb: 1\nc: 1\nd: 1\ne: 2\n' },
    { [EDIT]: 'a: 3\nb: 1\nc: 1\nd: 1\ne: 2\n' },
  )
  assert.equal(altered, 'its files are not those that backporch pushed')
})

test('a merge that keeps the removal of an edited file is not what backporch proposed', async () => {
  const altered = await mergeByHand({ [EDIT]: null }, {})
  assert.equal(altered, 'its files are not those that backporch pushed')
})
