import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@backporch/kyaml/resource'
import {
  listOf,
  query,
  type Routes,
  scriptedApi,
  statusAnswer,
} from '../../../test/apiserver/scripted-api.ts'

const signal = new AbortController().signal
const PATH = 'PATCH /api/v1/namespaces/shop/configmaps/c'
const REVIEW = 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const SECRET_VALUE = 'c3VwZXItc2VjcmV0LXZhbHVl'

function resource(kind = 'ConfigMap', data: Record<string, string> = { a: '1' }): Resource {
  return {
    apiVersion: 'v1',
    id: { group: '', kind, namespace: 'shop', name: 'c' },
    object: {
      apiVersion: 'v1',
      kind,
      metadata: {
        name: 'c',
        labels: { x: 'y' },
        uid: 'u',
        resourceVersion: '7',
        creationTimestamp: '2026-01-01T00:00:00Z',
        managedFields: [],
      },
      data,
      status: { phase: 'x' },
    },
  }
}

async function predicted(t: Parameters<typeof scriptedApi>[0], routes: Routes, of = resource()) {
  const api = await scriptedApi(t, routes)
  const prediction = await api.cluster.predict(of, 'kubectl', signal)
  const code = prediction.state === 'predicted' ? '' : ` ${prediction.failure.code}`
  return { api, prediction, verdict: `${prediction.state}${code}` }
}

function rights(allowed: readonly string[]): Routes {
  return {
    [REVIEW]: ({ body }) => ({
      status: 201,
      body: {
        kind: 'SelfSubjectAccessReview',
        status: { allowed: allowed.includes(JSON.parse(body).spec.resourceAttributes.verb) },
      },
    }),
  }
}

test('predicts by a forced dry run of the authored object under its field manager', async (t) => {
  const { api, prediction } = await predicted(t, {
    [PATH]: ({ body }) => ({ body: JSON.parse(body) }),
  })
  assert.equal(prediction.state, 'predicted')
  const sent = api.server.requests.find(({ method }) => method === 'PATCH')
  assert.ok(sent !== undefined)
  assert.equal(sent.headers['content-type'], 'application/apply-patch+yaml')
  assert.deepEqual(
    ['dryRun', 'fieldManager', 'force', 'fieldValidation'].map((name) => query(sent, name)),
    ['All', 'kubectl', 'true', 'Ignore'],
  )
  assert.deepEqual(JSON.parse(sent.body), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', labels: { x: 'y' } },
    data: { a: '1' },
  })
})

test('sends an integer beyond 2^53 exactly', async (t) => {
  const { api } = await predicted(
    t,
    { [PATH]: () => ({ status: 400 }) },
    { ...resource(), object: { ...resource().object, data: { n: 9007199254740993n } } },
  )
  assert.match(
    api.server.requests.find(({ method }) => method === 'PATCH')?.body ?? '',
    /"n":9007199254740993\b/,
  )
})

const causes = [
  {
    reason: 'FieldValueDuplicate',
    message: 'Duplicate value: "http"',
    field: 'spec.ports[1].name',
  },
]

test('reports a 422 as rejected, with the causes from the server', async (t) => {
  const { verdict, prediction } = await predicted(t, {
    [PATH]: () => statusAnswer(422, 'Invalid', 'ConfigMap "c" is invalid', { causes }),
  })
  assert.equal(verdict, 'refused BP3011')
  assert.ok(prediction.state === 'refused')
  assert.equal(prediction.failure.why, 'Invalid (422): spec.ports[1].name: Duplicate value: "…"')
})

for (const code of [400, 409, 413]) {
  test(`reports a ${code} as rejected`, async (t) => {
    assert.equal(
      (await predicted(t, { [PATH]: () => statusAnswer(code, 'X', 'no') })).verdict,
      'refused BP3011',
    )
  })
}

test('a 403 for a missing patch permission proves nothing', async (t) => {
  const message =
    'configmaps "c" is forbidden: User "eve" cannot patch resource "configmaps" in API group "" in the namespace "shop"'
  const { verdict, prediction } = await predicted(t, {
    [PATH]: () => statusAnswer(403, 'Forbidden', message),
    ...rights([]),
  })
  assert.equal(verdict, 'unproven BP3003')
  assert.ok(prediction.state === 'unproven')
  assert.match(
    prediction.failure.remedy,
    /user "eve".*resources: \["configmaps"\], verbs: \["patch"\]/,
  )
})

test('reports a 403 despite full permissions as rejected by admission', async (t) => {
  const { verdict } = await predicted(t, {
    [PATH]: () => statusAnswer(403, 'Forbidden', 'admission webhook "w" denied the request: no'),
    ...rights(['patch', 'create']),
  })
  assert.equal(verdict, 'refused BP3011')
})

test('a 403 for creating a missing object names the create permission', async (t) => {
  const { verdict, prediction } = await predicted(t, {
    [PATH]: () => statusAnswer(403, 'Forbidden', 'no'),
    ...rights(['patch']),
    'GET /api/v1/namespaces/shop/configmaps': () => ({ body: listOf('ConfigMap', []) }),
  })
  assert.equal(verdict, 'unproven BP3003')
  assert.ok(prediction.state === 'unproven')
  assert.match(prediction.failure.remedy, /verbs: \["create"\]/)
})

test('a 403 for an existing object does not require the create permission', async (t) => {
  const { verdict } = await predicted(t, {
    [PATH]: () => statusAnswer(403, 'Forbidden', 'no'),
    ...rights(['patch']),
    'GET /api/v1/namespaces/shop/configmaps': () => ({ body: listOf('ConfigMap', ['c']) }),
  })
  assert.equal(verdict, 'refused BP3011')
})

test('a 403 proves nothing when own permissions cannot be checked', async (t) => {
  assert.equal(
    (await predicted(t, { [PATH]: () => statusAnswer(403, 'Forbidden', 'no') })).verdict,
    'unproven BP3003',
  )
})

test('a webhook without dry-run support proves nothing', async (t) => {
  const { verdict } = await predicted(t, {
    [PATH]: () =>
      statusAnswer(400, 'BadRequest', 'admission webhook "w.example.com" does not support dry run'),
  })
  assert.equal(verdict, 'unproven BP3005')
})

test('a webhook that cannot be called proves nothing', async (t) => {
  const { verdict } = await predicted(t, {
    [PATH]: () => statusAnswer(500, 'InternalError', 'failed calling webhook "w"'),
  })
  assert.equal(verdict, 'unproven BP3005')
})

test('reports a missing namespace as rejected, with its name', async (t) => {
  const { verdict, prediction } = await predicted(t, {
    [PATH]: () =>
      statusAnswer(404, 'NotFound', 'namespaces "shop" not found', {
        name: 'shop',
        kind: 'namespaces',
      }),
  })
  assert.equal(verdict, 'refused BP3011')
  assert.ok(prediction.state === 'refused')
  assert.equal(prediction.failure.why, 'namespace shop does not exist')
})

test('a path that is not found proves nothing', async (t) => {
  assert.equal((await predicted(t, {})).verdict, 'unproven BP3009')
})

test('an answer with a different object proves nothing', async (t) => {
  assert.equal(
    (await predicted(t, { [PATH]: () => ({ body: { kind: 'Status', status: 'Success' } }) }))
      .verdict,
    'unproven BP3008',
  )
})

test('a rejection reveals no value of a Secret', async (t) => {
  const message = `Secret "c" is invalid: data: Invalid value: "${SECRET_VALUE}"`
  const { prediction, verdict } = await predicted(
    t,
    {
      'PATCH /api/v1/namespaces/shop/secrets/c': () =>
        statusAnswer(422, 'Invalid', message, {
          causes: [
            {
              reason: 'FieldValueInvalid',
              message: `Invalid value: "${SECRET_VALUE}"`,
              field: 'data[password]',
            },
          ],
        }),
    },
    resource('Secret', { password: SECRET_VALUE }),
  )
  assert.equal(verdict, 'refused BP3011')
  assert.ok(prediction.state === 'refused')
  assert.equal(prediction.failure.why, 'Invalid (422): data[password]: FieldValueInvalid')
  assert.doesNotMatch(
    JSON.stringify(prediction.failure) + String(prediction.failure.stack),
    new RegExp(SECRET_VALUE),
  )
})
