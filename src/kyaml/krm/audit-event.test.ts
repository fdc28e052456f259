import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditSample, auditEvent, auditedWrite } from '../../../test/fakes/audit-samples.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { Json } from '../text/json.ts'
import { deriveManager, deriveResourceName, isWriteTo, readAuditedWrite } from './audit-event.ts'

test('a write has its user, the impersonated user, and the manager that the server derived', () => {
  const write = auditedWrite({
    user: 'system:serviceaccount:cattle-system:rancher',
    actingAs: 'u-ada',
    manager: 'kubectl-edit',
  })
  assert.equal(write.user, 'system:serviceaccount:cattle-system:rancher')
  assert.equal(write.actingAs, 'u-ada')
  assert.equal(write.manager, 'kubectl-edit')
  assert.equal(auditedWrite({ userAgent: 'Mozilla/5.0 (X11)' }).manager, 'Mozilla')
  assert.equal(write.answeredAt - write.receivedAt, 10)
})

const NO_WRITES: readonly (readonly [why: string, sample: AuditSample])[] = [
  ['was rejected', { code: 409 }],
  ['only reads', { verb: 'get' }],
  ['is not complete', { stage: 'RequestReceived' }],
  ['is a dry run', { query: 'dryRun=All' }],
  [
    'is a dry run according to its body',
    { verb: 'delete', request: { kind: 'DeleteOptions', dryRun: ['All'] } },
  ],
  ['writes the status', { subresource: 'status' }],
  ['requests a token', { verb: 'create', resource: 'serviceaccounts', subresource: 'token' }],
]

for (const [why, sample] of NO_WRITES) {
  test(`ignores an event that ${why}`, () =>
    assert.equal(readAuditedWrite(auditEvent(sample)), undefined))
}

test('ignores any value that is not an event', () => {
  for (const value of [
    undefined,
    null,
    1,
    'x',
    [],
    {},
    { stage: 'ResponseComplete', verb: 'patch' },
  ] as (Json | undefined)[])
    assert.equal(readAuditedWrite(value), undefined)
  fc.assert(fc.property(fc.jsonValue(), (value) => readAuditedWrite(value as Json) === undefined))
})

test('keeps only the key names of a Secret, present or removed, and no content', () => {
  const secret = { resource: 'secrets', name: 'login' }
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"c3dvcmRmaXNo"}}',
  }
  const write = auditedWrite({
    ...secret,
    request: { data: { password: 'c3dvcmRmaXNo', gone: null }, stringData: { x: 'swordfish' } },
    response: {
      kind: 'Secret',
      metadata: { name: 'login', resourceVersion: '7', annotations },
      data: { password: 'c3dvcmRmaXNo' },
    },
  })
  assert.doesNotMatch(JSON.stringify(write), /c3dvcmRmaXNo|swordfish/)
  assert.deepEqual(write.request, { data: { password: '', gone: null }, stringData: { x: '' } })
  assert.deepEqual(write.response?.['data'], { password: '' })
  const operations = [{ op: 'replace', path: '/data/password', value: 'c3dvcmRmaXNo' }]
  assert.deepEqual(auditedWrite({ ...secret, request: operations }).request, [
    { op: 'replace', path: '/data/password' },
  ])
})

test('the manager of a User-Agent is the part before the slash, printable, at most 128 bytes', () => {
  assert.equal(deriveManager('kubectl/v1.32.4 (linux/amd64)'), 'kubectl')
  assert.equal(deriveManager('a\u0007b\u200bc'), 'abc')
  assert.equal(deriveManager(''), '')
  assert.equal(deriveManager('é'.repeat(100)).length, 64)
})

const RESOURCES = {
  ConfigMap: 'configmaps',
  NetworkPolicy: 'networkpolicies',
  Ingress: 'ingresses',
  Endpoints: 'endpoints',
  Gateway: 'gateways',
  StorageClass: 'storageclasses',
  PodDisruptionBudget: 'poddisruptionbudgets',
}

test('derives the plural of a kind like the API machinery, unless a response body gives the kind', () => {
  for (const [kind, resource] of Object.entries(RESOURCES))
    assert.equal(deriveResourceName(kind), resource)
  const id = { group: 'acme.example.com', kind: 'Mouse', namespace: 'shop', name: 'web' }
  const mice = { group: 'acme.example.com', resource: 'mice' }
  assert.equal(isWriteTo(auditedWrite(mice).object, id), false)
  assert.equal(
    isWriteTo(auditedWrite({ ...mice, response: { kind: 'Mouse', metadata: {} } }).object, id),
    true,
  )
  assert.equal(
    isWriteTo(auditedWrite({ resource: 'configmaps' }).object, {
      group: '',
      kind: 'ConfigMap',
      namespace: 'other',
      name: 'web',
    }),
    false,
  )
})

test('a Namespace request has its name twice, and the object has no namespace', () => {
  const { object } = auditedWrite({
    verb: 'delete',
    resource: 'namespaces',
    namespace: 'shop',
    name: 'shop',
  })
  assert.equal(
    isWriteTo(object, { group: '', kind: 'Namespace', namespace: '', name: 'shop' }),
    true,
  )
})
