import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getResourceKey } from '@backporch/kyaml/resource'
import { type AuditSample, answered, auditedWrite } from '../../../test/fakes/audit-samples.ts'
import { path } from '../../../test/fakes/live-object.ts'
import type { Actor, Drift, ObjectVerdict } from '../compare/drift.ts'
import { UNKNOWN_ACTOR } from './actor.ts'
import { type Attribution, attribute } from './attribution.ts'

const SYNCER = { manager: 'ci', operation: 'Apply', subresource: '' } as const
const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const AT = '2026-11-21T09:00:00Z'
const EDITOR: Actor = {
  manager: 'kubectl-edit',
  operation: 'Update',
  subresource: '',
  class: 'human-tool',
  at: AT,
  confidence: 'field-manager',
}
const EDITED = answered(
  '2',
  { timeout: '60' },
  { ci: { at: AT, keys: [] }, 'kubectl-edit': { at: AT, keys: ['timeout'] } },
)

function verdict(actor: Actor, more: Partial<Drift> = {}, live = EDITED): ObjectVerdict {
  const item: Drift = {
    id: ID,
    apiVersion: 'v1',
    uid: 'u1',
    change: 'modified',
    path: path('data.timeout'),
    git: '30',
    live: '60',
    liveUnread: false,
    actor,
    risk: 'medium',
    reason: 'APP-CONFIG',
    notes: [],
    ...more,
  }
  const base = {
    id: ID,
    apiVersion: 'v1',
    desired: undefined,
    proof: 'dry-run',
    setAside: [],
    failure: undefined,
    reapplyFails: undefined,
  } as const
  return { ...base, state: 'drifted', items: [item], live }
}

function actorOf(
  of: ObjectVerdict,
  by: Partial<Attribution>,
  samples: readonly AuditSample[] = [],
): Actor | undefined {
  const writes = new Map([[getResourceKey(ID), samples.map(auditedWrite)]])
  return attribute(of, { syncer: SYNCER, rules: [], writes, ...by }).items[0]?.actor
}

test('changes nothing without an audit log and without rules', () => {
  assert.deepEqual(actorOf(verdict(EDITOR), {}), EDITOR)
  assert.deepEqual(
    actorOf(verdict(UNKNOWN_ACTOR, { change: 'removed', live: undefined }), {}),
    UNKNOWN_ACTOR,
  )
})

test('lists every other owner of the field except the syncer, latest first', () => {
  const owners = {
    ci: { at: AT, keys: ['timeout'] },
    'kubectl-edit': { at: AT, keys: ['timeout'] },
    a: { at: '2026-11-21T07:00:00Z', keys: ['timeout'] },
  }
  const live = answered(
    '2',
    { timeout: '60' },
    {
      ...owners,
      b: { at: '2026-11-21T08:00:00Z', keys: ['timeout'] },
      c: { at: AT, keys: ['other'] },
    },
  )
  assert.deepEqual(
    actorOf(verdict(EDITOR, {}, live), {})?.others?.map(({ manager }) => manager),
    ['b', 'a'],
  )
})

test('a policy rule sets the class by manager, operation, subresource and user', () => {
  const rules = [
    { where: 'p:1', manager: 'kubectl-*', operation: 'Apply', class: 'gitops' },
    { where: 'p:2', manager: 'kubectl-*', subresource: 'scale', class: 'webhook' },
    { where: 'p:3', user: 'robot-*', class: 'gitops' },
    {
      where: 'p:4',
      manager: 'kubectl-*',
      operation: 'Update',
      subresource: '',
      class: 'controller',
    },
  ] as const
  assert.equal(actorOf(verdict(EDITOR), { rules })?.class, 'controller')
  assert.equal(actorOf(verdict({ ...EDITOR, operation: 'Apply' }), { rules })?.class, 'gitops')
  assert.equal(actorOf(verdict({ ...EDITOR, subresource: 'scale' }), { rules })?.class, 'webhook')
  const robot = { user: 'robot-7', manager: 'kubectl-edit', at: AT, response: EDITED }
  assert.equal(actorOf(verdict(EDITOR), { rules }, [robot])?.class, 'gitops')
})

const write = (user: string, more: AuditSample = {}): AuditSample => ({
  user,
  manager: 'kubectl-edit',
  at: AT,
  response: EDITED,
  ...more,
})

test('names the user of the exact request, and whom they impersonated', () => {
  const actor = actorOf(verdict(EDITOR), {}, [write('ada', { actingAs: 'admin' })])
  assert.deepEqual(actor, { ...EDITOR, confidence: 'audit', user: 'ada', actingAs: 'admin' })
})

test('a write by the syncer account under another manager is not a person', () => {
  const account = 'system:serviceaccount:ops:deployer'
  assert.equal(actorOf(verdict(EDITOR), {}, [write(account)])?.class, 'human-tool')
  const sync = write(account, {
    manager: 'ci',
    at: '2026-11-21T08:00:00Z',
    response: answered('1', { timeout: '30' }),
  })
  assert.equal(actorOf(verdict(EDITOR), {}, [sync, write(account)])?.class, 'gitops')
  assert.equal(
    actorOf(verdict(EDITOR), {}, [sync, write('system:serviceaccount:other:x')])?.class,
    'human-tool',
  )
  assert.equal(
    actorOf(verdict(EDITOR), {}, [write('system:serviceaccount:flux-system:kustomize-controller')])
      ?.class,
    'gitops',
  )
})

test('a console with its own account acts as a person, who stays a person', () => {
  const account = 'system:serviceaccount:argocd:argocd-server'
  assert.equal(actorOf(verdict(EDITOR), {}, [write(account)])?.class, 'gitops')
  assert.equal(
    actorOf(verdict(EDITOR), {}, [write(account, { actingAs: 'ada' })])?.class,
    'human-tool',
  )
})

test('a deletion, which leaves no trace in the cluster, gets its user, program and time', () => {
  const gone = { change: 'missing', path: [], live: undefined } as const
  const actor = actorOf(verdict(UNKNOWN_ACTOR, gone), {}, [
    { verb: 'delete', user: 'ada', at: '2026-11-21T09:30:00.999Z' },
  ])
  assert.deepEqual(actor, {
    manager: 'kubectl',
    operation: undefined,
    subresource: '',
    class: 'human-tool',
    at: '2026-11-21T09:30:00Z',
    confidence: 'audit',
    user: 'ada',
  })
})

test('marks a guess as a guess', () => {
  const removed = { change: 'removed', live: undefined } as const
  assert.equal(
    actorOf(verdict(UNKNOWN_ACTOR, removed), {}, [{ user: 'ada', at: AT }])?.confidence,
    'last-writer',
  )
})
