import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFieldStep, getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { LAST_APPLIED } from '../../syncers/kubectl.ts'
import { findLastAppliedByTool } from '../compare/last-applied.ts'
import { isLostWhenReleased } from './object-comparison.ts'

const CLIENT = {
  manager: 'kubectl-client-side-apply',
  operation: 'Update',
  subresource: '',
} as const
const SERVER = { manager: 'flux', operation: 'Apply', subresource: '' } as const
const REPLICAS = [createFieldStep('spec'), createFieldStep('replicas')]
const OWNS = { 'f:spec': { 'f:replicas': {} } }

function live(owners: readonly JsonObject[], applied?: JsonObject): JsonObject {
  const annotations = applied === undefined ? {} : { [LAST_APPLIED]: JSON.stringify(applied) }
  return {
    metadata: {
      annotations,
      managedFields: owners.map((owner) => ({ ...owner, apiVersion: 'apps/v1' })),
    },
    spec: { replicas: 6 },
  }
}

const scaled = { manager: 'kubectl', operation: 'Update', subresource: 'scale', fieldsV1: OWNS }
const CASES: readonly (readonly [
  name: string,
  object: JsonObject,
  syncer: typeof CLIENT | typeof SERVER | undefined,
  lost: boolean,
])[] = [
  [
    'the last-applied annotation of a client-side apply has it, whoever scaled since',
    live([scaled], { spec: { replicas: 3 } }),
    CLIENT,
    true,
  ],
  [
    'the last-applied annotation of a client-side apply lacks it',
    live([scaled], { spec: { paused: false } }),
    CLIENT,
    false,
  ],
  ['a client-side apply left no annotation', live([scaled]), CLIENT, false],
  ['the server-side apply is its only owner', live([{ ...SERVER, fieldsV1: OWNS }]), SERVER, true],
  ['another manager owns it too', live([{ ...SERVER, fieldsV1: OWNS }, scaled]), SERVER, false],
  [
    'only another manager owns it, and the annotation is from another tool',
    live([scaled], { spec: { replicas: 3 } }),
    SERVER,
    false,
  ],
  ['no applier is known', live([], { spec: { replicas: 3 } }), undefined, false],
]

for (const [name, object, syncer, lost] of CASES)
  test(`a released field ${lost ? 'is removed' : 'stays'} when ${name}`, () => {
    assert.equal(
      isLostWhenReleased(
        REPLICAS,
        findLastAppliedByTool({ desired: { apiVersion: 'apps/v1' } }, object, syncer),
        getManagedFields(object),
        syncer,
      ),
      lost,
    )
  })
