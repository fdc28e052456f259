import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { MemoryCluster } from '../../../../test/fakes/memory-cluster.ts'
import { afterMerge } from './after-merge.ts'

const { signal } = new AbortController()
const GROUP = 'kustomize.toolkit.fluxcd.io'

function own(name: string, path: string, namespace = 'flux-system'): JsonObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'Kustomization',
    metadata: { name, ...(namespace === '' ? {} : { namespace }) },
    spec: { path },
  }
}

/** `name path` of what the cluster has after the merge. */
async function listed(
  live: readonly JsonObject[],
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): Promise<readonly string[]> {
  const cluster = new MemoryCluster()
  for (const object of live) cluster.put(object)
  const declared = (objects: readonly JsonObject[]) =>
    objects.map((object) => ({ object, path: 'a.yaml', document: 0, line: 1 }))
  const { objects } = await afterMerge(cluster, {
    before: declared(before),
    after: declared(after),
  }).list(GROUP, 'Kustomization', signal)
  return objects.map(
    (object) =>
      `${(object['metadata'] as JsonObject)['name']} ${(object['spec'] as JsonObject)['path']}`,
  )
}

test('a resource that is as the base branch declares it gets what the merge declares', async () => {
  const live = [own('apps', './one'), own('other', './o')]
  assert.deepEqual(await listed(live, [own('apps', './one')], [own('apps', './two')]), [
    'apps ./two',
    'other ./o',
  ])
  assert.deepEqual(await listed(live, [own('apps', './one', '')], [own('apps', './two', '')]), [
    'apps ./two',
    'other ./o',
  ])
  assert.deepEqual(await listed(live, [own('apps', './one')], []), ['other ./o'])
})

test('one that the cluster has otherwise, or that is declared twice, stays', async () => {
  const live = [own('apps', './live')]
  assert.deepEqual(await listed(live, [own('apps', './one')], [own('apps', './two')]), [
    'apps ./live',
  ])
  const twice = [own('apps', './live'), own('apps', './live')]
  assert.deepEqual(await listed(live, twice, [own('apps', './two'), own('apps', './two')]), [
    'apps ./live',
  ])
})

test('a new one is there where a syncer is that could apply it', async () => {
  assert.deepEqual(
    await listed(
      [own('apps', './one')],
      [own('apps', './one')],
      [own('apps', './one'), own('more', './more')],
    ),
    ['apps ./one', 'more ./more'],
  )
  assert.deepEqual(await listed([own('apps', './one')], [], [own('more', './more', '')]), [
    'apps ./one',
  ])
})
