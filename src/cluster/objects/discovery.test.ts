import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WantedObject } from '@backporch/kyaml/resource'
import { discoveryList, listOf, scriptedApi } from '../../../test/apiserver/scripted-api.ts'

const signal = new AbortController().signal
const widget: WantedObject = {
  apiVersion: 'example.com/v1',
  id: { group: 'example.com', kind: 'Widget', namespace: 'shop', name: 'w' },
}

function groupOf(freshness: string, kinds: readonly string[]) {
  const resources = kinds.map((kind) => ({
    resource: `${kind.toLowerCase()}s`,
    responseKind: { group: 'example.com', version: 'v1', kind },
    scope: 'Namespaced',
    verbs: ['list'],
  }))
  return { metadata: { name: 'example.com' }, versions: [{ version: 'v1', freshness, resources }] }
}

async function stateOf(api: Awaited<ReturnType<typeof scriptedApi>>): Promise<string> {
  const state = [...(await api.cluster.readLive([widget], signal)).values()][0]
  return state?.state === 'unreadable' ? state.failure.code : (state?.state ?? 'none')
}

test('does not report a group with an unavailable API service as unserved', async (t) => {
  const api = await scriptedApi(t, {
    'GET /apis': () => ({ body: discoveryList(groupOf('Stale', [])) }),
  })
  assert.equal(await stateOf(api), 'BP3005')
})

test('uses the kinds that a stale group still lists', async (t) => {
  const api = await scriptedApi(t, {
    'GET /apis': () => ({ body: discoveryList(groupOf('Stale', ['Widget'])) }),
    'GET /apis/example.com/v1/namespaces/shop/widgets': () => ({ body: listOf('Widget', ['w']) }),
  })
  assert.equal(await stateOf(api), 'present')
})

test('finds a kind that was added after discovery was read', async (t) => {
  let installed = false
  const api = await scriptedApi(t, {
    'GET /apis': () => ({
      body: discoveryList(...(installed ? [groupOf('Current', ['Widget'])] : [])),
    }),
    'GET /apis/example.com/v1/namespaces/shop/widgets': () => ({ body: listOf('Widget', []) }),
  })
  assert.equal(await stateOf(api), 'BP3009')
  installed = true
  api.clock.advance(3_000)
  assert.equal(await stateOf(api), 'absent')
})

test('finds a kind that was added after the clock was set back by an hour', async (t) => {
  let installed = false
  const api = await scriptedApi(t, {
    'GET /apis': () => ({
      body: discoveryList(...(installed ? [groupOf('Current', ['Widget'])] : [])),
    }),
    'GET /apis/example.com/v1/namespaces/shop/widgets': () => ({ body: listOf('Widget', []) }),
  })
  assert.equal(await stateOf(api), 'BP3009')
  installed = true
  api.clock.advance(-3_600_000)
  assert.equal(await stateOf(api), 'absent')
})

test('without a version, takes the preferred version of the group that has the kind', async (t) => {
  const beta = { ...groupOf('Current', ['Gadget', 'Widget']).versions[0], version: 'v1beta1' }
  const v1 = groupOf('Current', ['Gadget'])
  const api = await scriptedApi(t, {
    'GET /apis': () => ({ body: discoveryList({ ...v1, versions: [...v1.versions, beta] }) }),
    'GET /apis/example.com/v1/namespaces/shop/gadgets': () => ({ body: listOf('Gadget', ['g']) }),
    'GET /apis/example.com/v1beta1/namespaces/shop/widgets': () => ({
      body: listOf('Widget', ['w']),
    }),
    'GET /api/v1/namespaces/shop/configmaps': () => ({ body: listOf('ConfigMap', ['c']) }),
  })
  const any = (group: string, kind: string, name: string): WantedObject => ({
    apiVersion: '',
    id: { group, kind, namespace: 'shop', name },
  })
  const wanted = [
    any('example.com', 'Gadget', 'g'),
    any('example.com', 'Widget', 'w'),
    any('', 'ConfigMap', 'c'),
    any('', 'Widget', 'w'),
  ]
  const states = [...(await api.cluster.readLive(wanted, signal)).values()]
  assert.deepEqual(
    states.map((state) => (state.state === 'unreadable' ? state.failure.code : state.state)),
    ['present', 'present', 'present', 'BP3009'],
  )
})

test('requests discovery once', async (t) => {
  const api = await scriptedApi(t, {
    'GET /api/v1/namespaces/shop/configmaps': () => ({ body: listOf('ConfigMap', []) }),
  })
  for (const name of ['a', 'b'])
    await api.cluster.readLive(
      [{ apiVersion: 'v1', id: { group: '', kind: 'ConfigMap', namespace: 'shop', name } }],
      signal,
    )
  assert.equal(api.server.requests.filter(({ path }) => path === '/api').length, 1)
})

test('without aggregated discovery, requests only the group version in question', async (t) => {
  const api = await scriptedApi(t, {
    'GET /api': () => ({ body: { kind: 'APIVersions', versions: ['v1'] } }),
    'GET /apis': () => ({
      body: {
        kind: 'APIGroupList',
        groups: [
          { name: 'example.com', versions: [{ groupVersion: 'example.com/v1', version: 'v1' }] },
        ],
      },
    }),
    'GET /apis/example.com/v1': () => ({
      body: {
        kind: 'APIResourceList',
        resources: [
          { name: 'widgets/status', kind: 'Widget', namespaced: true, verbs: ['get'] },
          { name: 'widgets', kind: 'Widget', namespaced: true, verbs: ['list'] },
        ],
      },
    }),
    'GET /apis/example.com/v1/namespaces/shop/widgets': () => ({ body: listOf('Widget', ['w']) }),
  })
  assert.equal(await stateOf(api), 'present')
})

test('without aggregated discovery, a group that answers 503 is unavailable, not unserved', async (t) => {
  const api = await scriptedApi(t, {
    'GET /api': () => ({ body: { kind: 'APIVersions', versions: ['v1'] } }),
    'GET /apis': () => ({
      body: {
        kind: 'APIGroupList',
        groups: [{ name: 'example.com', versions: [{ groupVersion: 'example.com/v1' }] }],
      },
    }),
    'GET /apis/example.com/v1': () => ({ status: 503 }),
  })
  assert.equal(await stateOf(api), 'BP3005')
})

test('distinguishes an arbitrary web page from an API server', async (t) => {
  const api = await scriptedApi(t, { 'GET /apis': () => ({ body: { hello: 'world' } }) })
  assert.equal(await stateOf(api), 'BP3008')
})
