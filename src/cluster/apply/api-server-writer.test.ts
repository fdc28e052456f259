import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import type { WantedObject } from '@backporch/kyaml/resource'
import {
  DISCOVERY,
  listOf,
  query,
  type Routes,
  scriptedApi,
  statusAnswer,
} from '../../../test/apiserver/scripted-api.ts'
import type { ApprovedWrite } from '../ports/cluster.ts'
import { findPointer } from './guarded-patch.ts'

const signal = new AbortController().signal
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const AUTHORISED = { commit: COMMIT, episode: 'a1b2c3d4' }
const target: WantedObject = {
  apiVersion: 'v1',
  id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'c' },
}
const path: FieldPath = [createFieldStep('data'), createFieldStep('extra/key')]
const OBJECT = '/api/v1/namespaces/shop/configmaps/c'

const apply: ApprovedWrite = {
  kind: 'apply',
  resource: {
    ...target,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', resourceVersion: '7', uid: 'u' },
      data: { a: '1' },
    },
  },
}
const remove: ApprovedWrite = {
  kind: 'remove-field',
  target,
  path,
  expected: 'x',
  resourceVersion: '7',
}
const deletion: ApprovedWrite = { kind: 'delete', target, uid: 'u', resourceVersion: '7' }

function live(resourceVersion = '7', value = 'x') {
  return {
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', resourceVersion },
      data: { 'extra/key': value },
    },
  }
}

function rejectsWith(code: string) {
  return (thrown: unknown): boolean => {
    assert.ok(thrown instanceof Failure)
    assert.equal(thrown.code, code, thrown.message)
    return true
  }
}

for (const commit of ['', 'main', COMMIT.slice(1), COMMIT.toUpperCase(), `${COMMIT}0`]) {
  test(`sends nothing for the invalid commit ${JSON.stringify(commit)}`, async (t) => {
    const api = await scriptedApi(t, {})
    for (const change of [apply, remove, deletion])
      await assert.rejects(
        api.writer.write(change, { commit, episode: 'a1b2c3d4' }, signal),
        rejectsWith('BP3013'),
      )
    assert.equal(api.server.requests.length, 0)
  })
}

test('rejects an episode that would inject text into the header', async (t) => {
  const api = await scriptedApi(t, {})
  await assert.rejects(
    api.writer.write(apply, { commit: COMMIT, episode: 'x) evil' }, signal),
    rejectsWith('BP3013'),
  )
})

test('every write names the commit in its field manager and, with the episode, in its User-Agent', async (t) => {
  const routes: Routes = {
    [`GET ${OBJECT}`]: () => live(),
    [`PATCH ${OBJECT}`]: () => live('8'),
    [`DELETE ${OBJECT}`]: () => ({ body: {} }),
  }
  const api = await scriptedApi(t, routes)
  for (const change of [apply, remove, deletion]) await api.writer.write(change, AUTHORISED, signal)
  const writes = api.server.requests.filter(({ method }) => method !== 'GET')
  assert.deepEqual(
    writes.map(({ method, headers }) => `${method} ${headers['content-type']}`),
    [
      'PATCH application/apply-patch+yaml',
      'PATCH application/json-patch+json',
      'DELETE application/json',
    ],
  )
  for (const write of writes) {
    assert.equal(write.headers['user-agent'], `backporch/test (commit ${COMMIT}; episode a1b2c3d4)`)
    if (write.method === 'PATCH')
      assert.equal(query(write, 'fieldManager'), 'backporch.dev/0123456789ab')
    assert.equal(query(write, 'dryRun'), null)
  }
})

test('an apply sends uid and resourceVersion as preconditions and reports a conflict as a live change', async (t) => {
  const api = await scriptedApi(t, {
    [`PATCH ${OBJECT}`]: () => statusAnswer(409, 'Conflict', 'the object has been modified'),
  })
  await assert.rejects(api.writer.write(apply, AUTHORISED, signal), rejectsWith('BP2005'))
  const sent = JSON.parse(api.server.requests.find(({ method }) => method === 'PATCH')?.body ?? '')
  assert.deepEqual(sent.metadata, { name: 'c', resourceVersion: '7', uid: 'u' })
})

test('a field removal tests version and value before it removes', async (t) => {
  const api = await scriptedApi(t, {
    [`GET ${OBJECT}`]: () => live(),
    [`PATCH ${OBJECT}`]: () => live('8'),
  })
  await api.writer.write(remove, AUTHORISED, signal)
  assert.deepEqual(
    JSON.parse(api.server.requests.find(({ method }) => method === 'PATCH')?.body ?? ''),
    [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'test', path: '/data/extra~1key', value: 'x' },
      { op: 'remove', path: '/data/extra~1key' },
    ],
  )
})

for (const [what, answer] of Object.entries({
  'another version': live('8'),
  'another value': live('7', 'y'),
  'no such field': {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', resourceVersion: '7' } },
  },
  'no object': statusAnswer(404, 'NotFound', 'not found', { name: 'c', kind: 'configmaps' }),
})) {
  test(`does not remove a field from ${what}`, async (t) => {
    const api = await scriptedApi(t, { [`GET ${OBJECT}`]: () => answer })
    await assert.rejects(api.writer.write(remove, AUTHORISED, signal), rejectsWith('BP2005'))
    assert.ok(api.server.requests.every(({ method }) => method === 'GET'))
  })
}

test('a 422 to a removal is a rejection of an unchanged object, and a conflict for a changed one', async (t) => {
  for (const [version, code] of [
    ['7', 'BP3011'],
    ['8', 'BP2005'],
  ] as const) {
    let reads = 0
    const api = await scriptedApi(t, {
      [`GET ${OBJECT}`]: () => (reads++ === 0 ? live() : live(version)),
      [`PATCH ${OBJECT}`]: () =>
        statusAnswer(
          422,
          'Invalid',
          'the server rejected our request due to an error in our request',
        ),
    })
    await assert.rejects(api.writer.write(remove, AUTHORISED, signal), rejectsWith(code))
  }
})

test('a deletion names uid and version, accepts a missing object, and stops at a changed one', async (t) => {
  const gone = await scriptedApi(t, {
    [`DELETE ${OBJECT}`]: () =>
      statusAnswer(404, 'NotFound', 'x', { name: 'c', kind: 'configmaps' }),
  })
  await gone.writer.write(deletion, AUTHORISED, signal)
  assert.deepEqual(
    JSON.parse(gone.server.requests.find(({ method }) => method === 'DELETE')?.body ?? '')
      .preconditions,
    {
      uid: 'u',
      resourceVersion: '7',
    },
  )
  const changed = await scriptedApi(t, {
    [`DELETE ${OBJECT}`]: () => statusAnswer(409, 'Conflict', 'x'),
  })
  await assert.rejects(changed.writer.write(deletion, AUTHORISED, signal), rejectsWith('BP2005'))
  const noPath = await scriptedApi(t, {})
  await assert.rejects(noPath.writer.write(deletion, AUTHORISED, signal), rejectsWith('BP3009'))
})

test('does not resend a write whose answer was lost', async (t) => {
  const api = await scriptedApi(t, {
    [`PATCH ${OBJECT}`]: () => ({ body: { a: 'xxxxxx' }, fault: 'reset' }),
  })
  await assert.rejects(api.writer.write(apply, AUTHORISED, signal), rejectsWith('BP3001'))
  assert.equal(api.server.requests.filter(({ method }) => method === 'PATCH').length, 1)
})

test('the reader sends only reads and dry runs', async (t) => {
  const forbidden = () => statusAnswer(403, 'Forbidden', 'no')
  const api = await scriptedApi(t, {
    ...DISCOVERY,
    'GET /version': () => ({ body: { gitVersion: 'v1.34.3' } }),
    'GET /api/v1/namespaces/kube-system': forbidden,
    [`PATCH ${OBJECT}`]: forbidden,
    'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews': () => ({
      body: { status: { allowed: true } },
    }),
    'GET /api/v1/namespaces/shop/configmaps': () => ({ body: listOf('ConfigMap', []) }),
    'GET /apis/kpt.dev/v1alpha1/namespaces/shop/resourcegroups': () => ({
      body: listOf('ResourceGroup', []),
    }),
    'GET /openapi/v3': () => ({ body: { paths: {} } }),
  })
  assert.equal((await api.cluster.identify(signal)).uid, undefined)
  await api.cluster.readLive([target], signal)
  await api.cluster.predict({ ...target, object: {} }, 'kubectl', signal)
  assert.deepEqual(
    await api.cluster.readInventories([{ namespace: 'shop', name: 'inv', id: 'inv-1' }], signal),
    [undefined],
  )
  await assert.rejects(api.cluster.findServedKind('v1', 'ConfigMap', signal))
  const writes = api.server.requests.filter(({ method }) => method !== 'GET')
  assert.ok(writes.length >= 3)
  for (const write of writes)
    assert.equal(query(write, 'dryRun'), 'All', `${write.method} ${write.path}`)
})

test('a keyed path becomes a JSON pointer into the current object', () => {
  const object = {
    spec: {
      containers: [{ name: 'a' }, { name: 'b/~', env: [{ name: 'X', value: '1' }] }],
      list: ['p', 'q'],
    },
  }
  const container: FieldPath = [
    createFieldStep('spec'),
    createFieldStep('containers'),
    { kind: 'item', keys: { name: 'b/~' } },
  ]
  assert.equal(
    findPointer(object, [
      ...container,
      createFieldStep('env'),
      { kind: 'item', keys: { name: 'X' } },
      createFieldStep('value'),
    ]),
    '/spec/containers/1/env/0/value',
  )
  assert.equal(
    findPointer(object, [
      createFieldStep('spec'),
      createFieldStep('list'),
      { kind: 'member', value: 'q' },
    ]),
    '/spec/list/1',
  )
  assert.equal(findPointer({ 'a/b~c': 1 }, [createFieldStep('a/b~c')]), '/a~1b~0c')
  assert.equal(
    findPointer(object, [
      createFieldStep('spec'),
      createFieldStep('containers'),
      { kind: 'item', keys: { name: 'z' } },
    ]),
    undefined,
  )
  assert.equal(
    findPointer(object, [createFieldStep('spec'), createFieldStep('nothing')]),
    undefined,
  )
})
