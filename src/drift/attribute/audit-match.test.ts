import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { type AuditSample, answered, auditedWrite } from '../../../test/fakes/audit-samples.ts'
import { path } from '../../../test/fakes/live-object.ts'
import type { ChangeKind, Drift } from '../compare/drift.ts'
import { type AuditMatch, findAuditMatch, hasRemovalAt } from './audit-match.ts'

const T1 = '2026-11-21T08:00:00Z'
const T2 = '2026-11-21T09:00:00Z'
const T3 = '2026-11-21T10:00:00Z'
const SYNCER = { manager: 'ci', operation: 'Apply', subresource: '' } as const

function drift(
  change: ChangeKind,
  field: string,
  live: Json | undefined,
  actor: Partial<Drift['actor']> = {},
): Drift {
  return {
    id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
    apiVersion: 'v1',
    uid: 'u1',
    change,
    path: field === '' ? [] : path(field),
    git: change === 'added' ? undefined : '30',
    live,
    liveUnread: false,
    actor: {
      manager: 'kubectl-edit',
      operation: 'Update',
      subresource: '',
      class: 'human-tool',
      at: T2,
      confidence: 'field-manager',
      ...actor,
    },
    risk: 'medium',
    reason: 'APP-CONFIG',
    notes: [],
  }
}

function auditMatch(of: Drift, samples: readonly AuditSample[]): string {
  const found: AuditMatch | undefined = findAuditMatch(of, samples.map(auditedWrite), SYNCER)
  return found === undefined ? 'nobody' : `${found.write.user} ${found.proof}`
}

const SYNC: AuditSample = {
  user: 'ci-bot',
  manager: 'ci',
  at: T1,
  response: answered(
    '1',
    { timeout: '30', theme: 'light' },
    { ci: { at: T1, keys: ['timeout', 'theme'] } },
  ),
}
const ADA: AuditSample = {
  user: 'ada',
  manager: 'kubectl-edit',
  at: T2,
  response: answered(
    '2',
    { timeout: '60', theme: 'light' },
    { ci: { at: T1, keys: ['theme'] }, 'kubectl-edit': { at: T2, keys: ['timeout'] } },
  ),
}
/** Another person with the same program, another field. */
const BOB: AuditSample = {
  user: 'bob',
  manager: 'kubectl-edit',
  at: T3,
  response: answered(
    '3',
    { timeout: '60', theme: 'dark' },
    { 'kubectl-edit': { at: T3, keys: ['timeout', 'theme'] } },
  ),
}

test('attributes each field to its own user when two people use one program', () => {
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60', { at: T3 }), [SYNC, ADA, BOB]),
    'ada proven',
  )
  assert.equal(
    auditMatch(drift('modified', 'data.theme', 'dark', { at: T3 }), [SYNC, ADA, BOB]),
    'bob proven',
  )
})

test('without bodies, names the user by manager and time, and nobody when two match', () => {
  const bare = ({ response: _response, ...rest }: AuditSample): AuditSample => rest
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60', { at: T2 }), [SYNC, ADA, BOB].map(bare)),
    'ada by-time',
  )
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60', { at: T1 }), [SYNC, ADA, BOB].map(bare)),
    'nobody',
  )
  assert.equal(
    auditMatch(
      drift('modified', 'data.timeout', '60', { manager: 'k9s' }),
      [SYNC, ADA, BOB].map(bare),
    ),
    'nobody',
  )
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60'), [bare(ADA), bare({ ...BOB, at: T2 })]),
    'nobody',
  )
})

test('does not blame a later writer for a write that the log lacks', () => {
  const controller: AuditSample = {
    user: 'system:serviceaccount:x:labeller',
    manager: 'labeller',
    at: T3,
    response: answered(
      '9',
      { timeout: '60' },
      { 'kubectl-edit': { at: T2, keys: ['timeout'] }, labeller: { at: T3, keys: ['other'] } },
    ),
  }
  assert.equal(auditMatch(drift('modified', 'data.timeout', '60'), [SYNC, controller]), 'nobody')
  // Nor is the same program, when its time is that of another write.
  const later = { ...controller, user: 'bob', manager: 'kubectl-edit' }
  assert.equal(auditMatch(drift('modified', 'data.timeout', '60'), [SYNC, later]), 'nobody')
})

test('attributes a value that was set again to its last writer', () => {
  const back = { ...SYNC, at: '2026-11-21T09:20:00Z' }
  const again: AuditSample = {
    user: 'bob',
    manager: 'kubectl-edit',
    at: T3,
    response: answered('5', { timeout: '60' }, { 'kubectl-edit': { at: T3, keys: ['timeout'] } }),
  }
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60', { at: T3 }), [SYNC, ADA, back, again]),
    'bob proven',
  )
})

test('a write through another version of the kind, or to the scale, does not explain another field', () => {
  const other: AuditSample = { ...BOB, response: { ...answered('3', {}), apiVersion: 'v2' } }
  const scale: AuditSample = {
    ...BOB,
    subresource: 'scale',
    response: { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 } },
  }
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60'), [SYNC, ADA, other, scale]),
    'ada proven',
  )
})

test('takes the time of a scale from its request, since the object has none', () => {
  const scale = (user: string, replicas: number): AuditSample => ({
    user,
    manager: 'kubectl',
    subresource: 'scale',
    response: { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {}, spec: { replicas } },
  })
  const scaled = drift('modified', 'spec.replicas', 5, {
    manager: 'kubectl',
    subresource: 'scale',
    at: undefined,
  })
  assert.equal(
    auditMatch(scaled, [scale('ada', 4), scale('bob', 5), scale('carl', 5)]),
    'bob proven',
  )
  const { response: _response, ...bare } = scale('ada', 5)
  assert.equal(auditMatch(scaled, [bare]), 'ada by-time')
})

const WITHOUT_THEME = answered('2', { timeout: '30' }, { ci: { at: T1, keys: ['timeout'] } })
const removed = drift('removed', 'data.theme', undefined, {
  manager: 'unknown',
  confidence: 'none',
  at: undefined,
})

test('responses and the request prove who removed a field', () => {
  const patch: AuditSample = {
    user: 'ada',
    at: T2,
    request: { data: { theme: null } },
    response: WITHOUT_THEME,
  }
  assert.equal(auditMatch(removed, [SYNC, patch]), 'ada proven')
  const touched: AuditSample = {
    user: 'bob',
    at: T3,
    request: { metadata: { labels: { a: 'b' } } },
    response: WITHOUT_THEME,
  }
  assert.equal(auditMatch(removed, [SYNC, patch, touched]), 'ada proven')
  // The log has a gap: whoever wrote next is perhaps not the one.
  assert.equal(auditMatch(removed, [SYNC, touched]), 'bob perhaps')
  const put: AuditSample = {
    user: 'ada',
    verb: 'update',
    at: T2,
    resourceVersion: '1',
    request: WITHOUT_THEME,
    response: WITHOUT_THEME,
  }
  assert.equal(auditMatch(removed, [SYNC, put]), 'ada proven')
  assert.equal(auditMatch(removed, [SYNC, { ...put, resourceVersion: '7' }]), 'ada perhaps')
})

test('without bodies, attributes a removal to the only user since the last sync, never with certainty', () => {
  const bare = (user: string, at: string, manager = 'kubectl-edit'): AuditSample => ({
    user,
    at,
    manager,
  })
  assert.equal(
    auditMatch(removed, [bare('bob', T1), bare('ci-bot', T2, 'ci'), bare('ada', T3)]),
    'ada perhaps',
  )
  assert.equal(
    auditMatch(removed, [bare('ci-bot', T1, 'ci'), bare('bob', T2), bare('ada', T3)]),
    'nobody',
  )
  assert.equal(
    auditMatch(removed, [
      bare('ci-bot', T1, 'ci'),
      bare('system:node:n1', T2, 'kubelet'),
      bare('ada', T3),
    ]),
    'ada perhaps',
  )
})

test('the last delete request proves who deleted an object', () => {
  const missing = drift('missing', '', undefined, {
    manager: 'unknown',
    confidence: 'none',
    at: undefined,
  })
  const gone = (user: string, at: string, more: AuditSample = {}): AuditSample => ({
    verb: 'delete',
    user,
    at,
    ...more,
  })
  assert.equal(auditMatch(missing, [SYNC, gone('bob', T1), gone('ada', T2)]), 'ada proven')
  assert.equal(auditMatch(missing, [SYNC, gone('ada', T2, { name: 'other' })]), 'nobody')
  assert.equal(
    auditMatch(missing, [gone('ada', T1), { verb: 'create', user: 'ci-bot', at: T2, code: 201 }]),
    'nobody',
    'made again since',
  )
  const collection = gone('ada', T2, { verb: 'deletecollection', name: '' })
  assert.equal(auditMatch(missing, [SYNC, collection]), 'ada perhaps')
  assert.equal(
    auditMatch(missing, [
      SYNC,
      { ...collection, response: { items: [{ metadata: { name: 'web' } }] } },
    ]),
    'ada proven',
  )
  assert.equal(auditMatch(missing, [SYNC, { ...collection, resource: 'secrets' }]), 'nobody')
  const namespace = gone('ada', T1, { resource: 'namespaces', name: 'shop' })
  const cleaner = gone('system:serviceaccount:kube-system:namespace-controller', T2, {
    verb: 'deletecollection',
    name: '',
  })
  assert.equal(auditMatch(missing, [namespace, cleaner]), 'ada perhaps')
})

test('the uid proves who created an object', () => {
  const unexpected = drift('unexpected', '', { metadata: { uid: 'u1', creationTimestamp: T2 } })
  const created = (user: string, uid: string): AuditSample => ({
    verb: 'create',
    code: 201,
    user,
    at: T2,
    response: { kind: 'ConfigMap', metadata: { uid } },
  })
  assert.equal(auditMatch(unexpected, [created('ada', 'u1'), created('bob', 'u2')]), 'ada proven')
  assert.equal(
    auditMatch(unexpected, [{ verb: 'create', code: 201, user: 'ada', at: T2 }]),
    'ada by-time',
  )
  assert.equal(
    auditMatch(unexpected, [{ verb: 'create', code: 201, user: 'ada', at: T3 }]),
    'nobody',
  )
})

test('does not judge a recreated object by writes to its predecessor', () => {
  const fresh: AuditSample = { ...SYNC, code: 201, at: T3 }
  assert.equal(
    auditMatch(drift('modified', 'data.timeout', '60'), [
      SYNC,
      ADA,
      { verb: 'delete', user: 'bob', at: '2026-11-21T09:10:00Z' },
      fresh,
    ]),
    'nobody',
  )
})

const PATCHES: readonly (readonly [patch: Json, field: string, removes: boolean])[] = [
  [{ data: { theme: null } }, 'data.theme', true],
  [{ data: null }, 'data.theme', true],
  [{ data: { other: null } }, 'data.theme', false],
  [{ data: { theme: 'x' } }, 'data.theme', false],
  [[{ op: 'remove', path: '/data/theme' }], 'data.theme', true],
  [
    [{ op: 'remove', path: '/metadata/annotations/example.com~1a' }],
    'metadata.annotations["example.com/a"]',
    true,
  ],
  [[{ op: 'add', path: '/data/theme', value: 'x' }], 'data.theme', false],
  [[{ op: 'remove', path: '/data' }], 'data.theme', true],
  [[{ op: 'remove', path: '/spec/containers/0/env' }], 'spec.containers[name=app].env', true],
  [
    { spec: { containers: [{ name: 'app', env: [{ name: 'A', $patch: 'delete' }] }] } },
    'spec.containers[name=app].env[name=A]',
    true,
  ],
  [
    { spec: { containers: [{ name: 'app', image: 'x' }] } },
    'spec.containers[name=app].env[name=A]',
    false,
  ],
  [
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
    'metadata.finalizers[="a"]',
    true,
  ],
  [{ spec: { args: ['b'] } }, 'spec.args[1]', true],
  [{ apiVersion: 'v1', kind: 'ConfigMap', data: {} }, 'data.theme', false],
]

for (const [patch, field, expected] of PATCHES) {
  test(`${JSON.stringify(patch)} ${expected ? 'removes' : 'does not remove'} ${field}`, () => {
    assert.equal(hasRemovalAt(patch, path(field)), expected)
  })
}
