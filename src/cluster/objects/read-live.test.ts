import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getResourceKey, type LiveState, type WantedObject } from '@backporch/kyaml/resource'
import { listOf, query, scriptedApi, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'

const signal = new AbortController().signal
const CONFIG_MAPS = 'GET /api/v1/namespaces/shop/configmaps'

function wanted(kind: string, name: string, namespace = 'shop', apiVersion = 'v1'): WantedObject {
  const group = apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : ''
  return { apiVersion, id: { group, kind, namespace, name } }
}

function many(count: number): readonly WantedObject[] {
  return Array.from({ length: count }, (_, index) => wanted('ConfigMap', `c${index}`))
}

function codeOf(state: LiveState | undefined): string {
  return state?.state === 'unreadable' ? state.failure.code : (state?.state ?? 'no answer')
}

test('a paged list finds each wanted object and reports absence only after the last page', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: (request) =>
      query(request, 'continue') === null
        ? { body: listOf('ConfigMap', ['c0', 'c1', 'other'], { continue: 'page2' }) }
        : { body: listOf('ConfigMap', ['c2', 'c4']) },
  })
  const view = await api.cluster.readLive(many(6), signal)
  assert.deepEqual(
    [...view].map(([key, state]) => `${key} ${state.state}`),
    ['c0 present', 'c1 present', 'c2 present', 'c3 absent', 'c4 present', 'c5 absent'].map(
      (line) => `/ConfigMap/shop/${line}`,
    ),
  )
  assert.deepEqual(api.requested(), [
    `${CONFIG_MAPS}?limit=500`,
    `${CONFIG_MAPS}?limit=500&continue=page2`,
  ])
})

test('items get the apiVersion and kind that a list omits', async (t) => {
  const api = await scriptedApi(t, { [CONFIG_MAPS]: () => ({ body: listOf('ConfigMap', ['c0']) }) })
  const state = (await api.cluster.readLive([wanted('ConfigMap', 'c0')], signal)).get(
    '/ConfigMap/shop/c0',
  )
  assert.ok(state?.state === 'present')
  assert.deepEqual(
    [state.object['apiVersion'], state.object['kind'], state.metadataOnly],
    ['v1', 'ConfigMap', false],
  )
})

test('keeps integers beyond 2^53 exactly', async (t) => {
  const text = JSON.stringify(listOf('ConfigMap', ['c0'])).replace(
    '"data":{"name":"c0"}',
    '"data":{"big":9007199254740993}',
  )
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: () => ({ body: text, headers: { 'content-type': 'application/json' } }),
  })
  const state = (await api.cluster.readLive([wanted('ConfigMap', 'c0')], signal)).get(
    '/ConfigMap/shop/c0',
  )
  assert.ok(state?.state === 'present')
  assert.deepEqual(state.object['data'], { big: 9007199254740993n })
})

test('reads a few objects of one kind by name', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: (request) => ({
      body: listOf(
        'ConfigMap',
        query(request, 'fieldSelector') === 'metadata.name=c0' ? ['c0'] : [],
      ),
    }),
  })
  const view = await api.cluster.readLive(many(2), signal)
  assert.deepEqual([...view.values()].map(codeOf), ['present', 'absent'])
  assert.deepEqual(
    api.requested().toSorted(),
    ['c0', 'c1'].map((name) => `${CONFIG_MAPS}?limit=500&fieldSelector=metadata.name=${name}`),
  )
})

test('escapes selector separators in a name', async (t) => {
  const names = ['cn=admins', 'a,b', 'a\\b', 'a!=b', 'a==b']
  const api = await scriptedApi(t, { [CONFIG_MAPS]: () => ({ body: listOf('ConfigMap', []) }) })
  for (const name of names) await api.cluster.readLive([wanted('ConfigMap', name)], signal)
  assert.deepEqual(
    api.requested().map((line) => line.slice(line.indexOf('metadata.name='))),
    ['cn\\=admins', 'a\\,b', 'a\\\\b', 'a!\\=b', 'a\\=\\=b'].map((name) => `metadata.name=${name}`),
  )
})

test('restarts a list that expires on a later page', async (t) => {
  let first = 0
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: (request) => {
      if (query(request, 'continue') === null) {
        first += 1
        // In the second reading c0 is gone: what the broken reading saw must not be kept.
        return { body: listOf('ConfigMap', first === 1 ? ['c0'] : ['c1'], { continue: 'next' }) }
      }
      return first === 1
        ? statusAnswer(410, 'Expired', 'too old')
        : { body: listOf('ConfigMap', ['c2']) }
    },
  })
  const view = await api.cluster.readLive(many(5), signal)
  assert.deepEqual([...view.values()].map(codeOf), [
    'absent',
    'present',
    'present',
    'absent',
    'absent',
  ])
})

const broken = {
  'expires each time': (request: Parameters<typeof query>[0]) =>
    query(request, 'continue') === null
      ? { body: listOf('ConfigMap', ['c0'], { continue: 'next' }) }
      : statusAnswer(410, 'Expired', 'too old'),
  'repeats its pages in a cycle': () => ({
    body: listOf('ConfigMap', ['c0'], { continue: 'next' }),
  }),
  'has pages of two resource versions': (request: Parameters<typeof query>[0]) =>
    query(request, 'continue') === null
      ? { body: listOf('ConfigMap', ['c0'], { continue: 'next' }) }
      : { body: listOf('ConfigMap', [], { resourceVersion: '101' }) },
  'has no resource version': () => ({ body: listOf('ConfigMap', [], { resourceVersion: '' }) }),
  'has resource version 0': () => ({ body: listOf('ConfigMap', [], { resourceVersion: '0' }) }),
}
for (const [what, answer] of Object.entries(broken)) {
  test(`a list that ${what} makes its objects unreadable, not absent`, async (t) => {
    const api = await scriptedApi(t, { [CONFIG_MAPS]: answer })
    const view = await api.cluster.readLive(many(5), signal)
    assert.deepEqual([...view.values()].map(codeOf), Array(5).fill('BP3010'))
  })
}

const strange = {
  'a Status with 200': { body: { kind: 'Status', status: 'Success' } },
  'HTML with 200': { body: '<html>log in</html>', headers: { 'content-type': 'text/html' } },
  'an empty body': { body: '', headers: { 'content-type': 'application/json' } },
  'items: null': { body: { ...listOf('ConfigMap', []), items: null } },
  'an item that is not an object': { body: { ...listOf('ConfigMap', []), items: [7] } },
  'an item without a name': { body: { ...listOf('ConfigMap', []), items: [{ metadata: null }] } },
  'truncated JSON': {
    body: '{"kind":"ConfigMapList","items":[',
    headers: { 'content-type': 'application/json' },
  },
}
for (const [what, answer] of Object.entries(strange)) {
  test(`does not accept ${what} as an empty list`, async (t) => {
    const api = await scriptedApi(t, { [CONFIG_MAPS]: () => answer })
    const view = await api.cluster.readLive(many(5), signal)
    assert.deepEqual([...view.values()].map(codeOf), Array(5).fill('BP3008'))
  })
}

test('a 500 on the second page makes the objects unreadable', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: (request) =>
      query(request, 'continue') === null
        ? { body: listOf('ConfigMap', ['c0'], { continue: 'n' }) }
        : { status: 500 },
  })
  const view = await api.cluster.readLive(many(5), signal)
  assert.deepEqual([...view.values()].map(codeOf), Array(5).fill('BP3005'))
})

test('a failing kind does not affect the others', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: () => ({ body: listOf('ConfigMap', ['c0']) }),
    'GET /apis/apps/v1/namespaces/shop/deployments': () =>
      statusAnswer(
        403,
        'Forbidden',
        'deployments.apps is forbidden: User "eve" cannot list resource "deployments" in API group "apps"',
        {
          kind: 'deployments',
        },
      ),
  })
  const view = await api.cluster.readLive(
    [
      wanted('Deployment', 'web', 'shop', 'apps/v1'),
      wanted('ConfigMap', 'c0'),
      wanted('Widget', 'w', 'shop', 'example.com/v1'),
    ],
    signal,
  )
  assert.deepEqual([...view.values()].map(codeOf), ['BP3003', 'present', 'BP3009'])
  const forbidden = view.get('apps/Deployment/shop/web')
  assert.ok(forbidden?.state === 'unreadable')
  assert.equal(
    forbidden.failure.remedy,
    'bind user "eve" to a Role in namespace shop with apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]',
  )
})

test('reads Secrets by name even in large numbers', async (t) => {
  const path = 'GET /api/v1/namespaces/shop/secrets'
  const api = await scriptedApi(t, { [path]: () => ({ body: listOf('Secret', []) }) })
  await api.cluster.readLive(
    Array.from({ length: 9 }, (_, index) => wanted('Secret', `s${index}`)),
    signal,
  )
  assert.equal(api.requested().length, 9)
  for (const line of api.requested()) assert.match(line, /fieldSelector=metadata\.name=s\d$/)
})

test('reads only the metadata of a Secret whose content is forbidden', async (t) => {
  const api = await scriptedApi(t, {
    'GET /api/v1/namespaces/shop/secrets': ({ headers }) =>
      String(headers['accept']).includes('PartialObjectMetadataList')
        ? { body: { ...listOf('PartialObjectMetadata', ['db']), apiVersion: 'meta.k8s.io/v1' } }
        : statusAnswer(403, 'Forbidden', 'no'),
  })
  const state = (await api.cluster.readLive([wanted('Secret', 'db')], signal)).get(
    '/Secret/shop/db',
  )
  assert.deepEqual(state, {
    state: 'present',
    metadataOnly: true,
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', resourceVersion: '5' } },
  })
})

test('looks for an object without a namespace in that of the context, under its own key', async (t) => {
  const api = await scriptedApi(t, {
    'GET /api/v1/namespaces/default/configmaps': () => ({ body: listOf('ConfigMap', ['c0']) }),
  })
  const view = await api.cluster.readLive([wanted('ConfigMap', 'c0', '')], signal)
  assert.equal(view.get('/ConfigMap//c0')?.state, 'present')
})

test('lists a cluster-scoped kind without a namespace', async (t) => {
  const api = await scriptedApi(t, {
    'GET /apis/rbac.authorization.k8s.io/v1/clusterroles': () => ({
      body: listOf('ClusterRole', ['admin']),
    }),
  })
  const one = wanted('ClusterRole', 'admin', '', 'rbac.authorization.k8s.io/v1')
  assert.equal(
    (await api.cluster.readLive([one], signal)).get(getResourceKey(one.id))?.state,
    'present',
  )
})

test('an unreachable cluster makes every object unreadable, and identify throws', async (t) => {
  const api = await scriptedApi(t, {})
  await api.server.close()
  const view = await api.cluster.readLive([...many(6), wanted('Secret', 's')], signal)
  assert.deepEqual([...view.values()].map(codeOf), Array(7).fill('BP3001'))
  await assert.rejects(api.cluster.identify(signal), { code: 'BP3001' })
})

test('a cluster that rejects the credentials makes every object unreadable within few requests', async (t) => {
  const api = await scriptedApi(t, {
    [CONFIG_MAPS]: () => ({ status: 401 }),
    'GET /api/v1/namespaces/shop/secrets': () => ({ status: 401 }),
  })
  const secrets = Array.from({ length: 100 }, (_, index) => wanted('Secret', `s${index}`))
  const view = await api.cluster.readLive([...many(6), ...secrets], signal)
  assert.deepEqual(new Set([...view.values()].map(codeOf)), new Set(['BP3002']))
  assert.ok(api.requested().length < 30, `${api.requested().length} requests`)
})

test('an aborted signal yields no state for any object', async (t) => {
  const api = await scriptedApi(t, { [CONFIG_MAPS]: () => ({ fault: 'silent' }) })
  const control = new AbortController()
  const refused = assert.rejects(api.cluster.readLive(many(5), control.signal), /enough/)
  await waitUntil('the list is asked for', () =>
    api.requested().some((line) => line.startsWith(CONFIG_MAPS)),
  )
  control.abort(new Error('enough'))
  await refused
})

const EVERYWHERE = 'GET /api/v1/configmaps'
const scattered = (count: number): readonly WantedObject[] =>
  Array.from({ length: count }, (_, index) => wanted('ConfigMap', 'settings', `team-${index}`))
const inTeams = (numbers: readonly number[], more: Readonly<Record<string, unknown>> = {}) => {
  const list = listOf(
    'ConfigMap',
    numbers.map(() => 'settings'),
    more,
  ) as { items: { metadata: object }[] }
  for (const [index, item] of list.items.entries())
    item.metadata = { ...item.metadata, namespace: `team-${numbers[index]}` }
  return { body: list }
}

test('lists a kind of many namespaces once', async (t) => {
  const api = await scriptedApi(t, { [EVERYWHERE]: () => inTeams([0, 1, 2, 3, 4, 5, 6, 99]) })
  const view = await api.cluster.readLive(scattered(8), signal)
  assert.deepEqual([...view.values()].map(codeOf), [
    ...Array.from({ length: 7 }, () => 'present'),
    'absent',
  ])
  assert.deepEqual(api.requested(), [`${EVERYWHERE}?limit=500`])
})

for (const [why, answer] of [
  [
    'that may not be listed cluster-wide',
    () => statusAnswer(403, 'Forbidden', 'not in all namespaces'),
  ],
  [
    'with too many objects in the cluster',
    () => inTeams([0], { continue: 'more', remainingItemCount: 161 }),
  ],
  ['with an unknown number of objects', () => inTeams([0], { continue: 'more' })],
  ['whose list is interrupted', () => statusAnswer(404, 'NotFound', 'gone')],
] as const)
  test(`lists each namespace on its own for a kind ${why}`, async (t) => {
    const single = Object.fromEntries(
      Array.from({ length: 8 }, (_, team) => [
        `GET /api/v1/namespaces/team-${team}/configmaps`,
        () => inTeams(team === 3 ? [] : [team]),
      ]),
    )
    const api = await scriptedApi(t, { [EVERYWHERE]: answer, ...single })
    const view = await api.cluster.readLive(scattered(8), signal)
    assert.deepEqual(
      [...view.values()].map(codeOf),
      [0, 1, 2, 3, 4, 5, 6, 7].map((team) => (team === 3 ? 'absent' : 'present')),
    )
    assert.equal(api.requested().length, 9)
  })

test('tries a forbidden cluster-wide list once, and not again in every turn', async (t) => {
  const single = Object.fromEntries(
    Array.from({ length: 8 }, (_, team) => [
      `GET /api/v1/namespaces/team-${team}/configmaps`,
      () => inTeams([team]),
    ]),
  )
  const api = await scriptedApi(t, {
    [EVERYWHERE]: () => statusAnswer(403, 'Forbidden', 'not in all namespaces'),
    ...single,
  })
  for (let turn = 0; turn < 3; turn += 1) await api.cluster.readLive(scattered(8), signal)
  assert.equal(api.requested().filter((path) => path.startsWith(EVERYWHERE)).length, 1)
})

test('never lists Secrets cluster-wide', async (t) => {
  const single = Object.fromEntries(
    Array.from({ length: 8 }, (_, team) => [
      `GET /api/v1/namespaces/team-${team}/secrets`,
      () => ({ body: listOf('Secret', []) }),
    ]),
  )
  const api = await scriptedApi(t, single)
  await api.cluster.readLive(
    Array.from({ length: 8 }, (_, index) => wanted('Secret', 'token', `team-${index}`)),
    signal,
  )
  assert.equal(api.requested().length, 8)
})
