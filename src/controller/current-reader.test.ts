import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryCluster } from '../../test/fakes/memory-cluster.ts'
import { CurrentReaders } from './current-reader.ts'

test('a reader of an earlier session reads over the current connection', async () => {
  const readers = new CurrentReaders()
  const { signal } = new AbortController()
  const [first, second] = [new MemoryCluster('prod'), new MemoryCluster('prod')]
  first.uid = 'first'
  second.uid = 'second'
  const retained = readers.getReader(first)
  assert.equal((await retained.identify(signal)).uid, 'first')
  assert.equal(readers.getReader(second), retained)
  assert.equal((await retained.identify(signal)).uid, 'second')
  assert.notEqual(readers.getReader(new MemoryCluster('stage')), retained)
})
