import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  appliedBy,
  editedBy,
  removedFrom,
  TEST_SCHEMA,
  withMetadata,
} from '../../../test/fakes/live-object.ts'
import { explainUnprovenOwnership, type ProofSubject } from './ownership-proof.ts'

const MANIFEST: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', labels: { app: 'web' } },
  data: { a: '1', b: '2' },
}
const LIVE = appliedBy('flux', MANIFEST)

function whyNot(live: JsonObject, more: Partial<ProofSubject> = {}): string | undefined {
  const syncer = { manager: 'flux', operation: 'Apply', subresource: '' } as const
  return explainUnprovenOwnership({
    apiVersion: 'v1',
    desired: MANIFEST,
    live,
    managed: getManagedFields(live),
    schema: TEST_SCHEMA,
    syncer,
    ...more,
  })
}

test('ownership proves an object that is unchanged since its apply', () =>
  assert.equal(whyNot(LIVE), undefined))
test('additions by others do not invalidate the proof', () =>
  assert.equal(whyNot(editedBy('x', LIVE, 'data.c', '3')), undefined))

const UNPROVEN: readonly (readonly [name: string, why: string | undefined, pattern: RegExp])[] = [
  ['a value differs', whyNot({ ...LIVE, data: { a: '1', b: '5' } }), /not written as in git/],
  [
    'another manager took over a field',
    whyNot(editedBy('x', LIVE, 'data.b', '2')),
    /does not own exactly/,
  ],
  ['a field is gone', whyNot(removedFrom(LIVE, 'data.b')), /does not own exactly/],
  [
    'git declares one more field',
    whyNot(LIVE, { desired: { ...MANIFEST, data: { a: '1', b: '2', c: '3' } } }),
    /does not own exactly/,
  ],
  [
    'git declares one field less',
    whyNot(LIVE, { desired: { ...MANIFEST, data: { a: '1' } } }),
    /does not own exactly/,
  ],
  ['another version was applied', whyNot(LIVE, { apiVersion: 'v2' }), /applied v1, git has v2/],
  ['no applier is known', whyNot(LIVE, { syncer: undefined }), /not known/],
  [
    'the syncer only updates',
    whyNot(LIVE, { syncer: { manager: 'flux', operation: 'Update', subresource: '' } }),
    /server-side apply/,
  ],
  [
    'the syncer never applied it',
    whyNot(LIVE, { syncer: { manager: 'argo', operation: 'Apply', subresource: '' } }),
    /argo never applied/,
  ],
  ['an entry is unreadable', whyNot(withMetadata(LIVE, { managedFields: 'x' })), /is not a list/],
]

for (const [name, why, pattern] of UNPROVEN)
  test(`ownership proves nothing where ${name}`, () => assert.match(why ?? '', pattern))
