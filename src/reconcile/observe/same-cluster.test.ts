import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { hashIdentity } from '../../plan/observation/ledger-files.ts'
import { formatLedgerObservationPath } from '../../record/record-paths.ts'
import { readRepository } from '../repository/repository-view.ts'
import { assertSameCluster } from './same-cluster.ts'

const { signal } = new AbortController()

/** A ledger that knows the cluster `prod` by this identity. */
async function checked(
  identity: string,
  uid: string | undefined,
  name = 'prod',
  hasNoUid = false,
): Promise<string> {
  const repository = new MemoryRepository()
  repository.commitByHand('main', { 'README.md': '' })
  const annotations = '{config.kubernetes.io/local-config: "true"}'
  const status = `{changedAt: "2026-01-01T00:00:00Z", version: v1.34.3, identity: "${identity}"}`
  const text = `apiVersion: backporch.dev/v1alpha1\nkind: ClusterObservation\nmetadata: {name: prod, annotations: ${annotations}}\nstatus: ${status}\n`
  repository.commitByHand('drift-ledger', { [formatLedgerObservationPath('prod')]: text })
  const view = await readRepository(repository, 'main', signal)
  try {
    await assertSameCluster(
      view,
      name,
      { uid, hasNoUid, version: '', observedAt: '', recorded: false, namespace: 'default' },
      signal,
    )
    return 'the same'
  } catch (thrown) {
    return (thrown as { code: string }).code
  }
}

test('rejects another cluster behind a known name before reading its objects', async () => {
  assert.equal(await checked(hashIdentity('one'), 'one'), 'the same')
  assert.equal(await checked(hashIdentity('one'), 'two'), 'BP3015')
})

test('rejects a cluster without kube-system when the known one had it', async () => {
  assert.equal(await checked(hashIdentity('one'), undefined, 'prod', true), 'BP3015')
  assert.equal(await checked('', undefined, 'prod', true), 'the same')
})

test('accepts a cluster by its name when it is new or its identity is unreadable', async () => {
  assert.equal(await checked(hashIdentity('one'), 'two', 'test'), 'the same')
  assert.equal(await checked(hashIdentity('one'), undefined), 'the same')
  assert.equal(await checked('', 'two'), 'the same')
})
