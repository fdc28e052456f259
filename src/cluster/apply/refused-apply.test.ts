/** Rows A14 to A19 of the failure table: what a server's refusal of a dry run means, and what is asked again. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Resource } from '@backporch/kyaml/resource'
import { type Routes, scriptedApi, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import type { ScriptedAnswer } from '../../../test/apiserver/scripted-server.ts'

const signal = new AbortController().signal

function resource(kind = 'ConfigMap', name = 'c'): Resource {
  return {
    apiVersion: 'v1',
    id: { group: '', kind, namespace: 'shop', name },
    object: { apiVersion: 'v1', kind, metadata: { name } },
  }
}

async function predictedBy(t: TestContext, answer: () => ScriptedAnswer, of = resource()) {
  const plural = `${of.id.kind.toLowerCase()}s`
  const api = await scriptedApi(t, {
    [`PATCH /api/v1/namespaces/shop/${plural}/${of.id.name}`]: answer,
  })
  const prediction = await api.cluster.predict(of, 'ci', signal)
  assert.ok(prediction.state !== 'predicted')
  const { code, why, remedy, retry } = prediction.failure
  return {
    state: prediction.state,
    reason: prediction.state === 'refused' ? prediction.reason : undefined,
    code,
    why,
    remedy,
    retry,
    requested: api.requested(),
  }
}

const denial =
  "ValidatingAdmissionPolicy 'replicas' with binding 'all' denied request: at most four replicas"

test('quotes the policy that denies the object, without checking permissions', async (t) => {
  const answer = statusAnswer(422, 'Invalid', `configmaps "c" is forbidden: ${denial}`, {
    causes: [{ message: denial }],
  })
  const { state, reason, why, remedy, requested } = await predictedBy(t, () => answer)
  assert.deepEqual(
    [state, reason, why],
    ['refused', 'Denied', 'the policy replicas denies it: at most four replicas'],
  )
  assert.equal(remedy, 'change the object in git so that it is allowed, or the policy')
  assert.equal(requested.length, 1)
})

for (const status of [400, 403, 422]) {
  test(`quotes the admission webhook that denies the object with a ${status}`, async (t) => {
    const { reason, why, requested } = await predictedBy(t, () =>
      statusAnswer(
        status,
        'Forbidden',
        'admission webhook "w.example.com" denied the request: no latest\u001b[2Jtags',
      ),
    )
    assert.deepEqual(
      [reason, why],
      ['Denied', 'the admission webhook w.example.com denies it: no latest\\u{1b}[2Jtags'],
    )
    assert.equal(requested.length, 1)
  })
}

test('does not repeat what a policy says about a Secret', async (t) => {
  const message = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: password hunter2 is too short`
  const { why } = await predictedBy(
    t,
    () => statusAnswer(422, 'Invalid', message),
    resource('Secret'),
  )
  assert.equal(why, 'the policy p denies it')
})

test('reports a terminating namespace as blocking the apply', async (t) => {
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: 'namespace shop is being terminated',
      field: 'metadata.namespace',
    },
  ]
  const { state, reason, why, remedy, requested } = await predictedBy(t, () =>
    statusAnswer(403, 'Forbidden', 'forbidden', { causes }),
  )
  assert.deepEqual(
    [state, reason, why],
    ['refused', 'NamespaceTerminating', 'NamespaceTerminating: namespace shop is being deleted'],
  )
  assert.match(remedy, /finalizers/)
  assert.equal(requested.length, 1)
})

test('reports a missing namespace', async (t) => {
  const { state, reason, remedy } = await predictedBy(t, () =>
    statusAnswer(404, 'NotFound', 'namespaces "shop" not found', {
      kind: 'namespaces',
      name: 'shop',
    }),
  )
  assert.deepEqual(
    [state, reason, remedy],
    ['refused', 'NamespaceMissing', 'create namespace shop first'],
  )
})

test('reports an immutable field without the value that the server quotes', async (t) => {
  const message = `Invalid value: {"Containers":[${'x'.repeat(5_000)}]}: field is immutable`
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'spec.template' }]
  const { reason, why } = await predictedBy(t, () =>
    statusAnswer(422, 'Invalid', 'Job is invalid', { causes }),
  )
  assert.deepEqual([reason, why], ['Immutable', 'Immutable: spec.template: field is immutable'])
})

test('reports an unknown field as rejected despite the 500, after a single request', async (t) => {
  const message =
    'failed to create typed patch object (shop/c; v1, Kind=ConfigMap): errors:\n  .spec.replica: field not declared in schema\n  .spec.x: field not declared in schema'
  const { state, reason, code, why, requested } = await predictedBy(t, () =>
    statusAnswer(500, '', message),
  )
  assert.deepEqual(
    [state, reason, code, why],
    ['refused', 'UnknownField', 'BP3011', 'the server does not know spec.replica, spec.x'],
  )
  assert.equal(requested.length, 1)
})

test('lists all duplicate list items in a stable order', async (t) => {
  const place = '.spec.template.spec.containers[name="app"]'
  const lines = [
    `  ${place}.ports: duplicate entries for key [containerPort=93,protocol="TCP"]`,
    `  ${place}.env: duplicate entries for key [name="A"]`,
  ]
  lines.push(`  ${place}.env: duplicate entries for key [name="B"]`)
  for (const order of [lines, [...lines].reverse()]) {
    const message = `failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): errors:\n${order.join('\n')}`
    const { reason, code, why, remedy } = await predictedBy(t, () => statusAnswer(500, '', message))
    const at = 'spec.template.spec.containers[name="…"]'
    assert.deepEqual([reason, code], ['TwoOfOneKey', 'BP3011'])
    assert.equal(
      why,
      `${at}.env, ${at}.ports have two items with one key, which a server-side apply refuses`,
    )
    assert.equal(remedy, 'remove one of the two items of each list from git')
  }
})

test('lists unknown and immutable fields in a stable order', async (t) => {
  const unknown = (fields: readonly string[]): string =>
    `failed to create typed patch object (shop/c; v1, Kind=ConfigMap): errors:\n${fields.map((field) => `  .spec.${field}: field not declared in schema`).join('\n')}`
  for (const order of [
    ['b', 'a'],
    ['a', 'b'],
  ]) {
    const { why } = await predictedBy(t, () => statusAnswer(500, '', unknown(order)))
    assert.equal(why, 'the server does not know spec.a, spec.b')
    const causes = order.map((field) => ({
      reason: 'FieldValueInvalid',
      message: 'field is immutable',
      field: `spec.${field}`,
    }))
    const fixed = await predictedBy(t, () =>
      statusAnswer(422, 'Invalid', 'Job is invalid', { causes }),
    )
    assert.equal(fixed.why, 'Immutable: spec.a: field is immutable; spec.b: field is immutable')
  }
})

test('reports a value of the wrong type as rejected despite the 500', async (t) => {
  const message =
    "failed to convert new object (shop/web; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to apps/v1, Kind=Deployment: quantities must match the regular expression '^x$'"
  const { state, reason, code, why, requested } = await predictedBy(t, () =>
    statusAnswer(500, '', message),
  )
  assert.deepEqual([state, reason, code], ['refused', 'Malformed', 'BP3011'])
  assert.equal(
    why,
    "a value does not fit its type: quantities must match the regular expression '…'",
  )
  assert.equal(requested.length, 1)
})

test('retries another server error once, then reports the prediction as unproven', async (t) => {
  const { state, code, retry, requested } = await predictedBy(t, () =>
    statusAnswer(500, 'InternalError', 'etcdserver: leader changed'),
  )
  assert.deepEqual([state, code, retry], ['unproven', 'BP3005', 'backoff'])
  assert.equal(requested.length, 2)
})

test('distinguishes an exceeded quota, a too large object and a conflict', async (t) => {
  const quota = await predictedBy(t, () =>
    statusAnswer(
      403,
      'Forbidden',
      'configmaps "c" is forbidden: exceeded quota: team, requested: count=1',
    ),
  )
  assert.equal(quota.reason, 'QuotaExceeded')
  assert.equal(
    (await predictedBy(t, () => statusAnswer(413, 'RequestEntityTooLarge', 'too large'))).reason,
    'TooLarge',
  )
  assert.equal(
    (await predictedBy(t, () => statusAnswer(409, 'Conflict', 'was modified'))).reason,
    'Conflict',
  )
})

test('names the webhook without dry-run support and says that only ownership is compared', async (t) => {
  const { state, code, why } = await predictedBy(t, () =>
    statusAnswer(400, 'BadRequest', 'admission webhook "w.example.com" does not support dry run'),
  )
  assert.deepEqual([state, code], ['unproven', 'BP3005'])
  assert.equal(
    why,
    'DryRunUnsupported: the admission webhook w.example.com does not support dry runs, so the result shows ownership only',
  )
})

test('calls a failing webhook once per kind and namespace and again after ten seconds, without affecting other kinds', async (t) => {
  const down = statusAnswer(
    500,
    'InternalError',
    'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://x"',
  )
  const routes: Routes = {
    'PATCH /api/v1/namespaces/shop/configmaps/a': () => down,
    'PATCH /api/v1/namespaces/shop/configmaps/b': () => down,
    'PATCH /api/v1/namespaces/shop/services/s': ({ body }) => ({ body: JSON.parse(body) }),
  }
  const api = await scriptedApi(t, routes)
  const ask = async (kind: string, name: string): Promise<string> => {
    const prediction = await api.cluster.predict(resource(kind, name), 'ci', signal)
    return prediction.state === 'predicted'
      ? 'predicted'
      : `${prediction.state} ${prediction.failure.what}: ${prediction.failure.why}`
  }
  const why = 'AdmissionUnavailable: the admission webhook w.example.com does not answer'
  assert.equal(
    await ask('ConfigMap', 'a'),
    `unproven cannot patch configmaps "a" in namespace shop: ${why}`,
  )
  assert.equal(
    await ask('ConfigMap', 'b'),
    `unproven cannot patch configmaps "b" in namespace shop: ${why}`,
  )
  assert.equal(await ask('Service', 's'), 'predicted')
  assert.equal(api.requested().filter((line) => line.includes('/configmaps/')).length, 1)
  api.clock.advance(11_000)
  await ask('ConfigMap', 'b')
  assert.equal(api.requested().filter((line) => line.includes('/configmaps/')).length, 2)
  // Somebody sets the clock back.
  api.clock.advance(-3_600_000)
  await ask('ConfigMap', 'b')
  assert.equal(api.requested().filter((line) => line.includes('/configmaps/')).length, 3)
})
