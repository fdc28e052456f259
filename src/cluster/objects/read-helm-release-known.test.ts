import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import { scriptedApi } from '../../../test/apiserver/scripted-api.ts'
import { config, list, NO_TEXTS, REF, SECRETS, stored } from '../../../test/fakes/helm-releases.ts'
import type { StoredRelease } from './helm-storage.ts'
import { KnownRevisions } from './known-revisions.ts'

const signal = new AbortController().signal

describe('a release that was read before', () => {
  /** The answers to three questions, and what was read of Secrets for each: `content` or `metadata`. */
  async function three(t: TestContext, revisions: readonly ReturnType<typeof revision>[]) {
    const reads: string[] = []
    let asked = 0
    const api = await scriptedApi(t, {
      ...NO_TEXTS,
      [SECRETS]: ({ headers }) => {
        const isMetadata = String(headers['accept']).includes('PartialObjectMetadataList')
        reads.push(`${asked}: ${isMetadata ? 'metadata' : 'content'}`)
        const item = revisions[asked] ?? revision('9', 'a', 1)
        return list(isMetadata ? { ...item, data: undefined } : item)
      },
    })
    const sources: string[] = []
    for (; asked < revisions.length; asked += 1) {
      const [answer] = await api.cluster.readInventories([REF], signal)
      assert.ok(answer !== undefined && !(answer instanceof Failure))
      sources.push(`${answer.source}: ${answer.resources.map(getResourceKey)}`)
    }
    return { reads, sources }
  }

  function revision(resourceVersion: string, name: string, version: number) {
    const item = stored(config(name), version)
    return { ...item, metadata: { ...item.metadata, uid: `uid-${version}`, resourceVersion } }
  }

  test('is not reread while its revision has the same resourceVersion', async (t) => {
    const { reads, sources } = await three(t, [
      revision('5', 'a', 1),
      revision('5', 'a', 1),
      revision('5', 'a', 1),
    ])
    assert.deepEqual(reads, ['0: content', '1: metadata', '2: metadata'])
    assert.deepEqual(
      sources,
      Array.from({ length: 3 }, () => 'Helm release shop/web revision 1: /ConfigMap/shop/a'),
    )
  })

  test('is reread when the revision is rewritten and when Helm creates a new one', async (t) => {
    const { reads, sources } = await three(t, [
      revision('5', 'a', 1),
      revision('6', 'b', 1),
      revision('7', 'c', 2),
    ])
    assert.deepEqual(reads, [
      '0: content',
      '1: metadata',
      '1: content',
      '2: metadata',
      '2: content',
    ])
    assert.deepEqual(sources, [
      'Helm release shop/web revision 1: /ConfigMap/shop/a',
      'Helm release shop/web revision 1: /ConfigMap/shop/b',
      'Helm release shop/web revision 2: /ConfigMap/shop/c',
    ])
  })
})

test('the cache of releases has a size limit and keeps the latest revision of a release', () => {
  const revisions = new KnownRevisions(10)
  const release = (uid: string, resourceVersion: string, data: string): StoredRelease => ({
    current: {
      store: 'Secret',
      version: 1,
      status: 'deployed',
      object: { metadata: { uid, resourceVersion }, data: { release: data } },
    },
    later: undefined,
  })
  const isKept = (name: string, one: StoredRelease): boolean =>
    revisions.findWholeRelease('Secret/shop', name, one) !== undefined
  revisions.keep('Secret/shop', 'web', release('1', '5', '12345678'))
  revisions.keep('Secret/shop', 'api', release('2', '6', '1234'))
  assert.deepEqual(
    [isKept('web', release('1', '5', '')), isKept('api', release('2', '6', ''))],
    [true, false],
  )
  revisions.keep('Secret/shop', 'web', release('3', '7', '123456'))
  revisions.keep('Secret/shop', 'api', release('2', '6', '1234'))
  assert.deepEqual(
    [
      isKept('web', release('1', '5', '')),
      isKept('web', release('3', '7', '')),
      isKept('api', release('2', '6', '')),
    ],
    [false, true, true],
  )
})
