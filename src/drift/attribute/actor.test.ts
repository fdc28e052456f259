import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createFieldStep,
  type FieldSet,
  type ManagedFieldsEntry,
  parseFieldsV1,
} from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import {
  classifyManager,
  deriveCreator,
  deriveRemover,
  findForeignOwner,
  listOwners,
  UNKNOWN_ACTOR,
} from './actor.ts'

const EMPTY_FIELD_SET: FieldSet = { owned: false, children: new Map() }

const CLASSES: readonly (readonly [manager: string, found: string])[] = [
  ['kubectl', 'human-tool'],
  ['kubectl-client-side-apply', 'human-tool'],
  ['kubectl-edit', 'human-tool'],
  ['k9s', 'human-tool'],
  ['argocd-controller', 'gitops'],
  ['kustomize-controller', 'gitops'],
  ['helm', 'gitops'],
  ['backporch.dev/0123456789ab', 'gitops'],
  ['cert-manager-cainjector', 'webhook'],
  ['kube-controller-manager', 'controller'],
  ['vpa-recommender', 'controller'],
  ['my-operator', 'controller'],
  ['my-ci', 'unknown'],
  ['', 'unknown'],
]

for (const [manager, found] of CLASSES)
  test(`${manager || 'no name'} is ${found}`, () => assert.equal(classifyManager(manager), found))

function entry(manager: string, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Update',
    subresource: '',
    apiVersion: 'v1',
    time: '2026-11-21T08:00:00Z',
    fields: EMPTY_FIELD_SET,
    ...more,
  }
}

const SYNCER = entry('flux', { operation: 'Apply' })

const REMOVERS: readonly (readonly [
  name: string,
  entries: readonly ManagedFieldsEntry[],
  manager: string,
])[] = [
  ['the only other writer', [SYNCER, entry('kubectl-edit')], 'kubectl-edit'],
  ['nobody when there are two writers', [SYNCER, entry('kubectl-edit'), entry('k9s')], 'unknown'],
  ['nobody when there is no writer', [SYNCER], 'unknown'],
  ['not the control plane', [SYNCER, entry('kube-controller-manager'), entry('k9s')], 'k9s'],
  ['not a status writer', [SYNCER, entry('k9s', { subresource: 'status' })], 'unknown'],
]

for (const [name, entries, manager] of REMOVERS) {
  test(`attributes a removal to ${name}, never with certainty`, () => {
    const actor = deriveRemover({ entries, unreadable: [] }, SYNCER)
    assert.equal(actor.manager, manager)
    assert.notEqual(actor.confidence, 'field-manager')
  })
}

test('the first writer of an object is its creator', () => {
  const entries = [entry('late', { time: '2026-11-21T09:00:00Z' }), entry('first')]
  assert.equal(deriveCreator({ entries, unreadable: [] }).manager, 'first')
  assert.equal(deriveCreator({ entries: entries.toReversed(), unreadable: [] }).manager, 'first')
  assert.equal(deriveCreator({ entries: [], unreadable: [] }), UNKNOWN_ACTOR)
})

test('an owner of an emptied map does not own the entries of others; an owner of an atomic map does', () => {
  const fieldsOf = (labels: Json) =>
    parseFieldsV1({ 'f:metadata': { 'f:labels': labels } }) ?? EMPTY_FIELD_SET
  const path = [createFieldStep('metadata'), createFieldStep('labels'), createFieldStep('app')]
  const owners = (...entries: readonly ManagedFieldsEntry[]) =>
    listOwners({ entries, unreadable: [] }, path).map(({ manager }) => manager)
  const syncer = entry('kubectl-client-side-apply', { fields: fieldsOf({}) })
  assert.deepEqual(owners(syncer), ['kubectl-client-side-apply'])
  assert.deepEqual(owners(syncer, entry('kubectl-label', { fields: fieldsOf({ 'f:app': {} }) })), [
    'kubectl-label',
  ])
  assert.deepEqual(
    owners(syncer, entry('kubectl-label', { fields: fieldsOf({ 'f:other': {} }) })),
    [],
  )
  assert.deepEqual(owners(syncer, entry('kubectl-label', { fields: fieldsOf({}) })), [
    'kubectl-client-side-apply',
    'kubectl-label',
  ])
})

test('owners of a field include those of the object and its scale, latest first, but not of its status', () => {
  const fields = parseFieldsV1({ 'f:spec': { 'f:replicas': {} } }) ?? EMPTY_FIELD_SET
  const entries = [
    entry('flux', { operation: 'Apply', fields }),
    entry('kubectl-scale', { subresource: 'scale', fields, time: '2026-11-21T09:00:00Z' }),
    entry('status-writer', { subresource: 'status', fields, time: '2026-11-21T10:00:00Z' }),
    entry('other', { time: '2026-11-21T11:00:00Z' }),
  ]
  const path = [createFieldStep('spec'), createFieldStep('replicas')]
  const managed = { entries, unreadable: [] }
  assert.deepEqual(
    listOwners(managed, path).map(({ manager }) => manager),
    ['kubectl-scale', 'flux'],
  )
  assert.equal(findForeignOwner(managed, path, SYNCER)?.manager, 'kubectl-scale')
  assert.equal(
    findForeignOwner({ entries: entries.slice(0, 1), unreadable: [] }, path, SYNCER),
    undefined,
  )
})
