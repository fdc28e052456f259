import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createFaultFailure,
  createResponseFailure,
  formatRbacRule,
  type RequestDescription,
  shorten,
} from './kubernetes-failure.ts'
import { type ApiResponse, convertToTransportFault } from './transport.ts'

const LIST: RequestDescription = {
  cluster: 'prod',
  verb: 'list',
  resource: {
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    namespace: 'shop',
    name: '',
  },
  path: '/apis/apps/v1/namespaces/shop/deployments',
}
const PATCH_SECRET: RequestDescription = {
  ...LIST,
  verb: 'patch',
  resource: { group: '', kind: 'Secret', plural: 'secrets', namespace: 'shop', name: 'db' },
}

function answer(status: number, body: unknown = ''): ApiResponse {
  return {
    status,
    headers: new Map(),
    body: typeof body === 'string' ? body : JSON.stringify({ kind: 'Status', ...(body as object) }),
  }
}

const table: readonly (readonly [number, string, 'backoff' | 'on-change'])[] = [
  [302, 'BP3008', 'on-change'],
  [400, 'BP3011', 'on-change'],
  [401, 'BP3002', 'on-change'],
  [403, 'BP3003', 'on-change'],
  [404, 'BP3009', 'on-change'],
  [405, 'BP3009', 'on-change'],
  [409, 'BP3011', 'on-change'],
  [410, 'BP3010', 'backoff'],
  [415, 'BP3009', 'on-change'],
  [422, 'BP3011', 'on-change'],
  [429, 'BP3004', 'backoff'],
  [500, 'BP3005', 'backoff'],
  [503, 'BP3005', 'backoff'],
  [504, 'BP3006', 'backoff'],
]
for (const [status, code, retry] of table) {
  test(`status ${status} is ${code}, retry ${retry}`, () => {
    const failure = createResponseFailure(answer(status), LIST)
    assert.deepEqual(
      [failure.code, failure.retry, failure.what, failure.where],
      [code, retry, 'cannot list deployments.apps in namespace shop', 'cluster prod'],
    )
  })
}

const faults: readonly (readonly [string, string])[] = [
  ['ECONNREFUSED', 'BP3001'],
  ['ENOTFOUND', 'BP3001'],
  ['ECONNRESET', 'BP3001'],
  ['EPIPE', 'BP3001'],
  ['ERR_HTTP2_STREAM_ERROR', 'BP3001'],
  ['UND_ERR_SOCKET', 'BP3001'],
  ['ETIMEDOUT', 'BP3006'],
  ['UND_ERR_CONNECT_TIMEOUT', 'BP3006'],
  ['CERT_HAS_EXPIRED', 'BP3007'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'BP3007'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'BP3007'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'BP3007'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'BP3002'],
  ['HPE_INVALID_CONSTANT', 'BP3008'],
]
for (const [code, expected] of faults) {
  test(`${code} is ${expected}, also inside another error`, () => {
    const error = Object.assign(new Error('text that is not read'), { code })
    for (const thrown of [
      error,
      new TypeError('outer', { cause: error }),
      new AggregateError([error]),
    ]) {
      assert.equal(createFaultFailure(convertToTransportFault(thrown), LIST).code, expected)
    }
  })
}

test('a 403 prints the missing RBAC rule, and its subject when the server names it', () => {
  const message =
    'deployments.apps is forbidden: User "system:serviceaccount:a:b" cannot list resource "deployments" in API group "apps"'
  assert.equal(
    createResponseFailure(answer(403, { message }), LIST).remedy,
    'bind user "system:serviceaccount:a:b" to a Role in namespace shop with apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]',
  )
  assert.match(
    createResponseFailure(answer(403, '<html>'), LIST).remedy,
    /^bind the account of the context to a Role/,
  )
  assert.match(
    formatRbacRule({ ...LIST, resource: undefined, path: '/version' }, undefined),
    /ClusterRole with nonResourceURLs: \["\/version"\]/,
  )
  const all = {
    ...LIST,
    resource: { group: '', kind: 'Node', plural: 'nodes', namespace: '', name: '' },
  }
  assert.match(
    formatRbacRule(all, undefined),
    /to a ClusterRole with apiGroups: \[""\], resources: \["nodes"\]/,
  )
})

test('a rejection shows the causes from the server on one line of limited length', () => {
  const causes = Array.from({ length: 9 }, (_, index) => ({
    field: `spec.f${index}`,
    message: `bad\n\u001b[31m${'x'.repeat(1000)}`,
  }))
  const { why } = createResponseFailure(
    answer(422, { reason: 'Invalid', details: { causes } }),
    LIST,
  )
  assert.doesNotMatch(why, /\p{Cc}/u)
  assert.ok(why.length < 2000)
  assert.match(why, /^Invalid \(422\): spec\.f0: bad/)
})

test('replaces messages about Secrets by their class for every status', () => {
  const value = 'aHVudGVyMg-CANARY'
  const body = {
    reason: 'Invalid',
    message: `is invalid: ${value}`,
    details: { causes: [{ reason: 'FieldValueInvalid', field: 'data[x]', message: value }] },
  }
  for (const status of [400, 403, 404, 409, 422, 500]) {
    const failure = createResponseFailure(answer(status, body), PATCH_SECRET)
    assert.doesNotMatch(JSON.stringify(failure) + String(failure.stack), /CANARY/, String(status))
  }
  assert.equal(
    createResponseFailure(answer(400, { reason: 'BadRequest', message: value }), PATCH_SECRET).why,
    'BadRequest (400)',
  )
})

test('omits a message that looks like a credential, for every kind', () => {
  const message = 'Invalid value: "-----BEGIN RSA PRIVATE KEY----- CANARY"'
  assert.equal(
    createResponseFailure(answer(422, { reason: 'Invalid', message }), LIST).why,
    'Invalid (422)',
  )
})

test('omits a field path that contains a credential', () => {
  const causes = [
    { reason: 'FieldValueInvalid', field: 'data[ghp_abcdefghijklmnopCANARY]', message: 'too long' },
  ]
  assert.equal(
    createResponseFailure(answer(422, { reason: 'Invalid', details: { causes } }), LIST).why,
    'Invalid (422): a hidden place: too long',
  )
})

test('reports a failing conversion webhook by name instead of a plain server error', () => {
  const message =
    'conversion webhook for example.com/v1, Kind=Widget failed: Post "https://x/convert": dial tcp: connection refused'
  const { code, why, remedy, retry } = createResponseFailure(answer(500, { message }), LIST)
  assert.deepEqual([code, retry], ['BP3005', 'backoff'])
  assert.match(why, /^ConversionFailed: /)
  assert.match(remedy, /spec\.conversion/)
})

const QUOTED: readonly (readonly [said: string, told: string])[] = [
  ['Invalid value: "hunter2 is mine": must be short', 'Invalid value: "…": must be short'],
  ['Invalid value: "a\\"hunter2": must be short', 'Invalid value: "…": must be short'],
  ['Invalid value: 471147: must be less than 5', 'Invalid value: …: must be less than 5'],
  [
    'Invalid value: {"pin":"hunter2","b":{"c":1}}: field is immutable',
    'Invalid value: …: field is immutable',
  ],
  [
    'Invalid value: v1.Spec{Pin: 471147, Other: true}: field is immutable',
    'Invalid value: …: field is immutable',
  ],
  [
    'Unsupported value: "hunter2": supported values: "A", "B"',
    'Unsupported value: "…": supported values: "…", "…"',
  ],
  ["the pin 'hunter2' isn't good, and that's all", "the pin '…' isn't good, and that's all"],
  ['the pin `hunter2` is no good', 'the pin `…` is no good'],
  ['cut within "hunter2 and', 'cut within "…"'],
  [
    'Deployment.apps "db" in "shop" is invalid: "hunter2"',
    'Deployment.apps "db" in "shop" is invalid: "…"',
  ],
]
for (const [text, reported] of QUOTED) {
  test(`redacts quoted values in a server message: ${text}`, () => {
    assert.equal(
      shorten(text, {
        resource: {
          group: 'apps',
          kind: 'Deployment',
          plural: 'deployments',
          namespace: 'shop',
          name: 'db',
        },
      }),
      reported,
    )
  })
}
