import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { path } from '../../test/fakes/live-object.ts'
import { UNKNOWN_ACTOR } from '../drift/attribute/actor.ts'
import type { Actor, Drift, ObjectVerdict } from '../drift/compare/drift.ts'
import { showChange } from './build-report.ts'
import { applyKnownActors } from './known-actors.ts'

const KEY = createRedactionKey(new Uint8Array(32))
const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const SEEN = '2026-11-21T10:00:00Z'
const EDITOR: Actor = {
  manager: 'kubectl-edit',
  operation: 'Update',
  subresource: '',
  class: 'human-tool',
  at: '2026-11-21T09:00:00Z',
  confidence: 'field-manager',
}
const ADA: Actor = { ...EDITOR, confidence: 'audit', user: 'ada', actingAs: 'admin' }

function drift(actor: Actor, more: Partial<Drift> = {}): Drift {
  return {
    ...{
      id: ID,
      apiVersion: 'v1',
      uid: 'u',
      change: 'modified',
      path: path('data.a'),
      git: '1',
      live: '2',
      liveUnread: false,
    },
    ...{ risk: 'medium', reason: 'APP-CONFIG', notes: [], actor },
    ...more,
  }
}

/** The actor now, where the ledger had `before` for the same change. */
function known(before: Drift, now: Drift): Actor | undefined {
  const change = showChange({ drift: before, resolution: 'Restore' }, KEY)
  const verdict: ObjectVerdict = {
    ...{
      id: ID,
      apiVersion: 'v1',
      desired: undefined,
      state: 'drifted',
      proof: 'dry-run',
      items: [now],
      setAside: [],
    },
    ...{ failure: undefined, reapplyFails: undefined },
  }
  return applyKnownActors(verdict, new Map([[change.fingerprint, change.actor]]), SEEN, KEY)
    .items[0]?.actor
}

test('the user stays when the audit log no longer has the request', () => {
  assert.deepEqual(known(drift(ADA), drift(EDITOR)), ADA)
  const gone = { change: 'missing', path: [], live: undefined } as const
  assert.equal(
    known(drift({ ...ADA, operation: undefined }, gone), drift(UNKNOWN_ACTOR, gone))?.user,
    'ada',
  )
})

test('does not attribute another value, another manager or a later write to the known user', () => {
  assert.equal(known(drift(ADA), drift(EDITOR, { live: '3' }))?.user, undefined)
  assert.equal(known(drift(ADA), drift({ ...EDITOR, manager: 'k9s' }))?.user, undefined)
  assert.equal(known(drift(ADA), drift({ ...EDITOR, at: '2026-11-21T10:00:01Z' }))?.user, undefined)
})

test('a user that the audit log has now replaces the known one', () => {
  assert.equal(known(drift(ADA), drift({ ...ADA, user: 'bob' }))?.user, 'bob')
})
