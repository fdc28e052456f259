import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type FieldSchema,
  findKindSchema,
  formatFieldPath,
  getManagedFields,
} from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import type { SyncerManager } from '../compare/drift.ts'
import {
  findWriterInOtherVersion,
  listHiddenLocations,
  listWritersInOtherVersions,
} from './other-version.ts'

const SYNCER: SyncerManager = { manager: 'ci', operation: 'Apply', subresource: '' }
const DOCUMENT: Json = {
  components: {
    schemas: {
      Scaler: {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'test', version: 'v1', kind: 'Scaler' }],
        properties: { spec: { type: 'object', properties: { most: { type: 'integer' } } } },
      },
    },
  },
}
const SCHEMA = findKindSchema(DOCUMENT, 'test/v1', 'Scaler') as FieldSchema

function entry(manager: string, apiVersion: string, fields: Json, time: string): Json {
  return {
    manager,
    operation: manager === 'ci' ? 'Apply' : 'Update',
    apiVersion,
    time: `2026-11-21T${time}:00Z`,
    fieldsV1: { 'f:spec': fields },
  }
}

const OWN = entry('ci', 'test/v1', { 'f:most': {} }, '08:00')
const THEIRS = entry(
  'kubectl-edit',
  'test/v2',
  { 'f:most': {}, 'f:behavior': { 'f:down': {} } },
  '09:00',
)

function managed(...entries: Json[]) {
  return getManagedFields({ metadata: { managedFields: entries } })
}

test('a later writer in another API version is the writer of fields that the syncer seems to own', () => {
  assert.equal(
    findWriterInOtherVersion(managed(OWN, THEIRS), 'test/v1', SYNCER)?.manager,
    'kubectl-edit',
  )
  assert.equal(
    findWriterInOtherVersion(
      managed(entry('ci', 'test/v1', {}, '10:00'), THEIRS),
      'test/v1',
      SYNCER,
    ),
    undefined,
  )
  assert.equal(
    findWriterInOtherVersion(
      managed(OWN, THEIRS, entry('other', 'test/v2', {}, '09:30')),
      'test/v1',
      SYNCER,
    ),
    undefined,
  )
  assert.equal(
    findWriterInOtherVersion(
      managed(OWN, entry('hand', 'test/v1', {}, '09:00')),
      'test/v1',
      SYNCER,
    ),
    undefined,
  )
})

test('reports the topmost field that the declared version does not have', () => {
  const writers = listWritersInOtherVersions(managed(OWN, THEIRS), 'test/v1', SYNCER)
  assert.deepEqual(
    listHiddenLocations(writers, SCHEMA).map(({ path }) => formatFieldPath(path)),
    ['spec.behavior'],
  )
})
