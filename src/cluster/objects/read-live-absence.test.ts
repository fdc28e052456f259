/** Absence is claimed from whole lists only: whatever else a server answers, no object is called missing for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getResourceKey, type LiveView, type ResourceId } from '@backporch/kyaml/resource'
import {
  listOf,
  query,
  type Routes,
  scriptedApi,
  statusAnswer,
} from '../../../test/apiserver/scripted-api.ts'
import { TEST_SCHEMA } from '../../../test/fakes/live-object.ts'
import { detectDrift } from '../../drift/detect/detect-drift.ts'

const signal = new AbortController().signal
const LIST = 'GET /api/v1/namespaces/shop/configmaps'
const IDS = Array.from(
  { length: 6 },
  (_, index): ResourceId => ({
    group: '',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: `c${index}`,
  }),
)
const WANTED = IDS.map((id) => ({ id, apiVersion: 'v1' }))

/** What a package that declares the ids would be told to be missing. */
function missingIn(view: LiveView, ids: readonly ResourceId[] = IDS): readonly string[] {
  return ids.flatMap((id) => {
    const live = view.get(getResourceKey(id))
    assert.ok(live, `no answer for ${getResourceKey(id)}`)
    const object = {
      apiVersion: 'v1',
      kind: id.kind,
      metadata: { name: id.name, namespace: id.namespace },
    }
    const desired = {
      id,
      apiVersion: 'v1',
      object,
      location: { path: 'a.yaml', document: 0, item: undefined, line: 1 },
    }
    return detectDrift(
      { desired, live, schema: TEST_SCHEMA, prediction: undefined },
      undefined,
    ).items.flatMap(({ change }) => (change === 'missing' ? [id.name] : []))
  })
}

test('reports an object as missing when a complete list does not contain it', async (t) => {
  const api = await scriptedApi(t, {
    [LIST]: () => ({ body: listOf('ConfigMap', ['c0', 'c1', 'c2', 'c4', 'c5']) }),
  })
  assert.deepEqual(missingIn(await api.cluster.readLive(WANTED, signal)), ['c3'])
})

test('reports a missing Secret also with metadata-only access, where an empty list has null items', async (t) => {
  const secret: ResourceId = { group: '', kind: 'Secret', namespace: 'shop', name: 's' }
  const empty = {
    body: {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      items: null,
    },
  }
  const api = await scriptedApi(t, {
    'GET /api/v1/namespaces/shop/secrets': ({ headers }) =>
      String(headers['accept']).includes('PartialObjectMetadataList')
        ? empty
        : statusAnswer(403, 'Forbidden', 'no content'),
  })
  assert.deepEqual(
    missingIn(await api.cluster.readLive([{ id: secret, apiVersion: 'v1' }], signal), [secret]),
    ['s'],
  )
})

const firstPage = (more: object = {}) => ({
  body: listOf('ConfigMap', ['c0'], { continue: 'page2', ...more }),
})

const FAULTS: { readonly [what: string]: Routes[string] } = {
  'expires midway each time': (request) =>
    query(request, 'continue') === null ? firstPage() : statusAnswer(410, 'Expired', 'too old'),
  'is forbidden in the namespace': () => statusAnswer(403, 'Forbidden', 'not here'),
  'is forbidden from the second page on': (request) =>
    query(request, 'continue') === null
      ? firstPage()
      : statusAnswer(403, 'Forbidden', 'not any more'),
  'ends in the middle of a page': (request) =>
    query(request, 'continue') === null
      ? firstPage()
      : { body: listOf('ConfigMap', ['c1']), fault: 'reset' },
  'has pages of two resource versions': (request) =>
    query(request, 'continue') === null
      ? firstPage()
      : { body: listOf('ConfigMap', ['c1'], { resourceVersion: '101' }) },
  'has no resource version': () => ({ body: listOf('ConfigMap', ['c0'], { resourceVersion: '' }) }),
  'may come from a stale cache': () => ({
    body: listOf('ConfigMap', ['c0'], { resourceVersion: '0' }),
  }),
  'repeats its pages in a cycle': () => firstPage(),
  'ends after the first page although more should follow': () => ({
    body: listOf('ConfigMap', ['c0'], { remainingItemCount: 5 }),
  }),
  'ends after fewer items than the first page counted': (request) =>
    query(request, 'continue') === null
      ? firstPage({ remainingItemCount: 5 })
      : { body: listOf('ConfigMap', ['c1']) },
  'has an empty last page': (request) =>
    query(request, 'continue') === null
      ? firstPage({ remainingItemCount: 1 })
      : { body: listOf('ConfigMap', []) },
  'repeats the first page under another token': (request) =>
    query(request, 'continue') === null
      ? firstPage({ remainingItemCount: 1 })
      : { body: listOf('ConfigMap', ['c0']) },
  'has null items': () => ({
    body: { ...listOf('ConfigMap', []), items: null },
  }),
  'has null items on the second page': (request) =>
    query(request, 'continue') === null
      ? firstPage()
      : { body: { ...listOf('ConfigMap', []), items: null } },
  'has no items at all': () => ({
    body: { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '100' } },
  }),
  'is not a list': () => ({ body: { kind: 'Status', apiVersion: 'v1' } }),
}

for (const [what, answer] of Object.entries(FAULTS)) {
  test(`reports nothing as missing for a list that ${what}`, async (t) => {
    const api = await scriptedApi(t, answer === undefined ? {} : { [LIST]: answer })
    const view = await api.cluster.readLive(WANTED, signal)
    assert.deepEqual(missingIn(view), [])
    assert.deepEqual([...new Set([...view.values()].map(({ state }) => state))], ['unreadable'])
  })
}

test('does not use the continue token of a 410, which would mix two snapshots', async (t) => {
  const expired = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 410,
    reason: 'Expired',
    metadata: { continue: 'inconsistent' },
  }
  const api = await scriptedApi(t, {
    [LIST]: (request) => {
      const token = query(request, 'continue')
      if (token === null) return firstPage()
      return token === 'page2'
        ? { status: 410, body: expired }
        : { body: listOf('ConfigMap', ['c1']) }
    },
  })
  const view = await api.cluster.readLive(WANTED, signal)
  assert.deepEqual(missingIn(view), [])
  assert.deepEqual(
    api.requested().filter((line) => line.includes('inconsistent')),
    [],
  )
})

test('accepts a list that is incomplete at first and complete on the retry', async (t) => {
  let reads = 0
  const api = await scriptedApi(t, {
    [LIST]: (request) => {
      if (query(request, 'continue') !== null)
        return { body: listOf('ConfigMap', reads === 1 ? [] : ['c1', 'c2', 'c4', 'c5']) }
      reads += 1
      return firstPage({ remainingItemCount: 4 })
    },
  })
  assert.deepEqual(missingIn(await api.cluster.readLive(WANTED, signal)), ['c3'])
})

test('an underestimated remaining item count hides no missing object', async (t) => {
  const api = await scriptedApi(t, {
    [LIST]: (request) =>
      query(request, 'continue') === null
        ? firstPage({ remainingItemCount: 1 })
        : { body: listOf('ConfigMap', ['c1', 'c2', 'c4', 'c5']) },
  })
  assert.deepEqual(missingIn(await api.cluster.readLive(WANTED, signal)), ['c3'])
})

test('a forbidden namespace makes only its own objects unreadable', async (t) => {
  const api = await scriptedApi(t, {
    [LIST]: () => statusAnswer(403, 'Forbidden', 'not here'),
    'GET /api/v1/namespaces/other/configmaps': () => ({ body: listOf('ConfigMap', []) }),
  })
  const other = { ...IDS[0], group: '', kind: 'ConfigMap', name: 'c0', namespace: 'other' }
  const view = await api.cluster.readLive([...WANTED, { id: other, apiVersion: 'v1' }], signal)
  assert.deepEqual([missingIn(view), missingIn(view, [other])], [[], ['c0']])
})
