import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCanonicalJson, getPartAt, type JsonObject } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import { MemoryCluster } from '../../../../test/fakes/memory-cluster.ts'
import { getResourceId } from '../../repository/sources/declared-syncers.ts'
import { createReaderAfterMerge, type ResourceChange } from './after-merge.ts'

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

function withSpec(spec: JsonObject): JsonObject {
  return { ...own('apps', ''), spec }
}

/** Whether a unit builds what changes, or only a file declares it. */
type By = 'unit' | 'file'

function change(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  by: By,
): ResourceChange {
  const id = getResourceId(before ?? after ?? {})
  return { id, before, after, isBuilt: by === 'unit' }
}

/** `name spec` of what the cluster has after the merge. */
async function listed(
  live: readonly JsonObject[],
  ...changes: readonly ResourceChange[]
): Promise<readonly string[]> {
  const cluster = new MemoryCluster()
  cluster.list = async () => ({ objects: live, complete: true })
  const { objects } = await createReaderAfterMerge(cluster, changes).list(
    GROUP,
    'Kustomization',
    signal,
  )
  return objects.map(
    (object) =>
      `${getPartAt(object, 'metadata', 'name')} ${formatCanonicalJson(object['spec'] ?? null)}`,
  )
}

for (const by of ['unit', 'file'] as const) {
  test(`a resource declared by a ${by} gets the changes of the merge`, async () => {
    const live = [own('apps', './one'), own('other', './o')]
    const merge = change(own('apps', './one'), own('apps', './two'), by)
    assert.deepEqual(await listed(live, merge), ['apps {"path":"./two"}', 'other {"path":"./o"}'])
    const unnamed = change(own('apps', './one', ''), own('apps', './two', ''), by)
    assert.deepEqual(await listed(live, unnamed), ['apps {"path":"./two"}', 'other {"path":"./o"}'])
    const gone = change(own('apps', './one'), undefined, by)
    assert.deepEqual(await listed(live, gone), ['other {"path":"./o"}'])
  })

  test(`server defaults stay in a resource declared by a ${by}`, async () => {
    const live = [withSpec({ path: './one', force: false, sourceRef: { kind: 'G', name: 'g' } })]
    const before = withSpec({ path: './one', prune: true, sourceRef: { name: 'g' } })
    const after = withSpec({ path: './one', wait: true, sourceRef: { name: 'h' } })
    const is =
      by === 'unit'
        ? '{"force":false,"path":"./one","sourceRef":{"kind":"G","name":"h"},"wait":true}'
        : '{"force":false,"path":"./one","sourceRef":{"kind":"G","name":"g"}}'
    // A file whose `prune` the cluster lacks is not the one that it applies.
    assert.deepEqual(await listed(live, change(before, after, by)), [`apps ${is}`])
  })
}

test('a drifted resource gets what a unit applies, and keeps what only a file declares', async () => {
  const live = [own('apps', './live')]
  const [one, two] = [own('apps', './one'), own('apps', './two')]
  assert.deepEqual(await listed(live, change(one, two, 'unit')), ['apps {"path":"./two"}'])
  assert.deepEqual(await listed(live, change(one, two, 'file')), ['apps {"path":"./live"}'])
  assert.deepEqual(await listed(live, change(one, undefined, 'file')), ['apps {"path":"./live"}'])
})

test('a new resource exists after the merge if a unit builds it or a syncer can apply it', async () => {
  const more = own('more', './more')
  assert.deepEqual(await listed([], change(undefined, more, 'unit')), ['more {"path":"./more"}'])
  assert.deepEqual(await listed([], change(undefined, more, 'file')), [])
  const live = [own('apps', './one')]
  assert.deepEqual(await listed(live, change(undefined, more, 'file')), [
    'apps {"path":"./one"}',
    'more {"path":"./more"}',
  ])
  assert.deepEqual(await listed(live, change(undefined, own('more', './more', ''), 'file')), [
    'apps {"path":"./one"}',
  ])
})

test('a ConfigMap has the merged data, and exists only while a unit builds it', async () => {
  const config = (size: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'flux-system' },
    data: { size },
  })
  const id = getResourceId(config('5'))
  const read = async (live: readonly JsonObject[], ...changes: readonly ResourceChange[]) => {
    const cluster = new MemoryCluster()
    for (const object of live) cluster.put(object)
    const wanted = [{ id, apiVersion: 'v1' }]
    const state = (await createReaderAfterMerge(cluster, changes).readLive(wanted, signal)).get(
      getResourceKey(id),
    )
    return state?.state === 'present' ? getPartAt(state.object, 'data', 'size') : state?.state
  }
  assert.equal(await read([config('5')], change(config('5'), config('6'), 'unit')), '6')
  assert.equal(await read([config('4')], change(config('5'), config('6'), 'file')), '4')
  assert.equal(await read([], change(undefined, config('6'), 'unit')), '6')
  assert.equal(await read([], change(undefined, config('6'), 'file')), 'absent')
  assert.equal(await read([], change(config('5'), config('6'), 'unit')), 'absent')
  assert.equal(await read([config('5')], change(config('5'), undefined, 'unit')), 'absent')
})
