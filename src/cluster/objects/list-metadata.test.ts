import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import {
  DISCOVERY,
  discoveryList,
  listOf,
  scriptedApi,
  statusAnswer,
} from '../../../test/apiserver/scripted-api.ts'
import type { ScriptedRequest } from '../../../test/apiserver/scripted-server.ts'
import type { Inventory, ListedLocation } from '../ports/cluster.ts'

const signal = new AbortController().signal
const CONFIG_MAPS = 'GET /api/v1/namespaces/shop/configmaps'
const ROLES = 'GET /apis/rbac.authorization.k8s.io/v1/clusterroles'
const location = (kind: string, namespace: string, group = ''): ListedLocation => ({
  group,
  kind,
  namespace,
})

/** Metadata as a server gives it, under a kind of its own. */
function metadata(kind: string, namespace: string, ...names: readonly string[]) {
  const { items, ...list } = listOf(kind, names)
  return {
    body: {
      ...list,
      items: items.map((item) => ({ ...item, metadata: { ...item.metadata, namespace } })),
    },
  }
}

function keys(answer: Inventory | Failure | undefined): readonly string[] {
  assert.ok(answer !== undefined && !(answer instanceof Failure), String(answer))
  return answer.resources.map(getResourceKey)
}

test('lists a kind of two questions once, by metadata, and an unserved kind is empty', async (t) => {
  const observed: ScriptedRequest[] = []
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: (request) => {
      observed.push(request)
      return metadata('ConfigMap', 'shop', 'a', 'b')
    },
    [ROLES]: () => metadata('ClusterRole', '', 'r'),
  })
  const listing = [
    location('ConfigMap', 'shop'),
    location('ClusterRole', 'ignored', 'rbac.authorization.k8s.io'),
    location('Unknown', 'shop', 'x.io'),
  ]
  const [one, two] = await api.cluster.readInventories(
    [
      { listing, labelSelector: undefined },
      { listing: listing.slice(0, 1), labelSelector: undefined },
    ],
    signal,
  )
  assert.deepEqual(keys(one), [
    '/ConfigMap/shop/a',
    '/ConfigMap/shop/b',
    'rbac.authorization.k8s.io/ClusterRole//r',
  ])
  assert.deepEqual(keys(two), ['/ConfigMap/shop/a', '/ConfigMap/shop/b'])
  assert.deepEqual(
    api.requested().toSorted(),
    [`${CONFIG_MAPS}?limit=500`, `${ROLES}?limit=500`].toSorted(),
  )
  assert.match(String(observed[0]?.headers['accept']), /PartialObjectMetadataList/)
  assert.ok(one !== undefined && !(one instanceof Failure))
  assert.deepEqual(Object.keys(one.objects?.[0] ?? {}), ['apiVersion', 'kind', 'metadata'])
})

test('reports a forbidden part beside the readable rest, and fails when every part is forbidden', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: () => statusAnswer(403, 'Forbidden', 'not here'),
    'GET /api/v1/namespaces/shop/services': () => metadata('Service', 'shop', 'web'),
  })
  const [part, all] = await api.cluster.readInventories(
    [
      {
        listing: [location('ConfigMap', 'shop'), location('Service', 'shop')],
        labelSelector: 'a=b',
      },
      { listing: [location('ConfigMap', 'shop')], labelSelector: 'a=b' },
    ],
    signal,
  )
  assert.deepEqual(keys(part), ['/Service/shop/web'])
  assert.deepEqual(
    part !== undefined && !(part instanceof Failure) && part.unread?.map(({ code }) => code),
    ['BP3003'],
  )
  assert.equal(all instanceof Failure && all.code, 'BP3003')
})

test('lists a kind of many namespaces once cluster-wide, or per namespace when that is forbidden', async (t) => {
  const teams = Array.from({ length: 8 }, (_, team) => `team-${team}`)
  const listing = teams.map((team) => location('ConfigMap', team))
  const everywhere = 'GET /api/v1/configmaps'
  const one = await scriptedApi(t, { [everywhere]: () => metadata('ConfigMap', 'team-3', 'x') })
  const [found] = await one.cluster.readInventories([{ listing, labelSelector: undefined }], signal)
  assert.deepEqual(
    [keys(found), one.requested()],
    [['/ConfigMap/team-3/x'], [`${everywhere}?limit=500`]],
  )
  const routes = teams.map(
    (team) =>
      [
        `GET /api/v1/namespaces/${team}/configmaps`,
        () => metadata('ConfigMap', team, team),
      ] as const,
  )
  const each = await scriptedApi(t, {
    [everywhere]: () => statusAnswer(403, 'Forbidden', 'no'),
    ...Object.fromEntries(routes),
  })
  const [all] = await each.cluster.readInventories([{ listing, labelSelector: undefined }], signal)
  assert.deepEqual(keys(all).length, 8)
})

test('lists all kinds of a namespace except controller-written ones, and reports forbidden kinds', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: () => metadata('ConfigMap', 'shop', 'a'),
    'GET /api/v1/namespaces/shop/services': () => metadata('Service', 'shop', 'web'),
    'GET /api/v1/namespaces/shop/secrets': () => statusAnswer(403, 'Forbidden', 'no Secrets'),
    'GET /apis/apps/v1/namespaces/shop/deployments': () => metadata('Deployment', 'shop', 'web'),
    'GET /apis/kpt.dev/v1alpha1/namespaces/shop/resourcegroups': () =>
      metadata('ResourceGroup', 'shop'),
  })
  const [answer] = await api.cluster.readInventories([{ namespaces: ['shop'] }], signal)
  assert.deepEqual(keys(answer), [
    '/ConfigMap/shop/a',
    '/Service/shop/web',
    'apps/Deployment/shop/web',
  ])
  assert.deepEqual(
    answer !== undefined && !(answer instanceof Failure) && answer.unread?.map(({ code }) => code),
    ['BP3003'],
  )
  assert.equal(
    api.requested().some((line) => line.includes('clusterroles')),
    false,
  )
})

test('a kind removed after discovery has no objects, and a failing list of a discovered kind is reported', async (t) => {
  const apps = DISCOVERY['GET /apis']
  let looks = 0
  const removed = await scriptedApi(t, {
    [CONFIG_MAPS]: () => metadata('ConfigMap', 'shop', 'a'),
    'GET /api/v1/namespaces/shop/services': () => metadata('Service', 'shop'),
    'GET /api/v1/namespaces/shop/secrets': () => metadata('Secret', 'shop'),
    // The paths are gone at once, and discovery says so at its third look.
    'GET /apis': (request) =>
      ++looks < 3 && apps !== undefined ? apps(request) : { body: discoveryList() },
  })
  const [answer] = await removed.cluster.readInventories([{ namespaces: ['shop'] }], signal)
  assert.deepEqual(
    [keys(answer), answer !== undefined && 'unread' in answer, looks],
    [['/ConfigMap/shop/a'], false, 3],
  )

  const missing = await scriptedApi(t, { [CONFIG_MAPS]: () => metadata('ConfigMap', 'shop', 'a') })
  const listing = [location('ConfigMap', 'shop'), location('Service', 'shop')]
  const [part] = await missing.cluster.readInventories(
    [{ listing, labelSelector: undefined }],
    signal,
  )
  assert.deepEqual(
    part !== undefined && !(part instanceof Failure) && part.unread?.map(({ code }) => code),
    ['BP3009'],
  )
})
