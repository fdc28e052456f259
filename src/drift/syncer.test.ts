import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appliedBy, editedBy, TEST_SCHEMA, withMetadata } from '../../test/fakes/live-object.ts'
import type { JsonObject } from '../krm/json.ts'
import { managedFieldsOf } from '../krm/managed-fields.ts'
import { findSyncer } from './syncer.ts'

const MANIFEST: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  data: { a: '1', b: '2', c: '3' },
}

/** An object with one entry per manager, each with its own part of the manifest. */
function livedWith(...parts: readonly (readonly [manager: string, part: JsonObject, operation?: 'Update'])[]): JsonObject {
  const entries = parts.map(([manager, part, operation]) => {
    const [entry] = managedFieldsOf(appliedBy(manager, part)).entries
    assert.ok(entry !== undefined)
    const list = appliedBy(manager, part)['metadata'] as { managedFields: JsonObject[] }
    return { ...list.managedFields[0], ...(operation === undefined ? {} : { operation }) }
  })
  return withMetadata(MANIFEST, { managedFields: entries as never })
}

function syncerOf(...lives: readonly JsonObject[]): string | undefined {
  return findSyncer(lives.map((live) => ({ desired: MANIFEST, live, schema: TEST_SCHEMA })))?.manager
}

const ONE_KEY: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { a: '1' } }

const FOUND: readonly (readonly [name: string, lives: readonly JsonObject[], syncer: string | undefined])[] = [
  ['the one that applied', [appliedBy('my-ci', MANIFEST)], 'my-ci'],
  ['kubectl, where nobody else applied', [appliedBy('kubectl', MANIFEST)], 'kubectl'],
  ['the one that owns most', [livedWith(['one-ci', ONE_KEY], ['my-ci', MANIFEST])], 'my-ci'],
  [
    'the GitOps tool, after somebody applied the whole manifest by hand',
    [livedWith(['kubectl', MANIFEST], ['kustomize-controller', MANIFEST])],
    'kustomize-controller',
  ],
  ['a CI, after somebody applied the whole manifest by hand', [livedWith(['kubectl', MANIFEST], ['my-ci', MANIFEST])], 'my-ci'],
  ['not a GitOps tool that owns next to nothing', [livedWith(['my-ci', MANIFEST], ['helm', ONE_KEY])], 'my-ci'],
  ['an applier before any client-side apply', [livedWith(['kubectl-client-side-apply', MANIFEST, 'Update'], ['my-ci', ONE_KEY])], 'my-ci'],
  [
    'the GitOps tool of which somebody took over everything that is declared',
    [
      livedWith(
        ['kustomize-controller', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', labels: { 'example.com/by': 'flux' } } }],
        ['kubectl-edit', MANIFEST, 'Update'],
      ),
    ],
    'kustomize-controller',
  ],
  [
    'client-side apply where there is nothing else',
    [livedWith(['kubectl-client-side-apply', MANIFEST, 'Update'])],
    'kubectl-client-side-apply',
  ],
  ['nobody where everybody only updated', [editedBy('kubectl-edit', withMetadata(MANIFEST, {}), 'data.a', '5')], undefined],
  ['nobody where nothing is there', [], undefined],
]

for (const [name, lives, syncer] of FOUND) {
  test(`the syncer is ${name}`, () => {
    assert.equal(syncerOf(...lives), syncer)
    assert.equal(
      syncerOf(
        ...lives.map((live) =>
          withMetadata(live, { managedFields: (live['metadata'] as { managedFields?: [] }).managedFields?.toReversed() ?? [] }),
        ),
      ),
      syncer,
    )
  })
}

test('a manager of the status alone is no applier', () => {
  const status = {
    ...MANIFEST,
    metadata: {
      ...(MANIFEST['metadata'] as JsonObject),
      managedFields: [{ manager: 'x', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:data': {} } }],
    },
  }
  assert.equal(syncerOf(status), undefined)
})
