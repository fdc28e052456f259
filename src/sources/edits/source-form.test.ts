import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { path } from '../../../test/fakes/live-object.ts'
import { proveEdit } from './prove-edit.ts'
import { createEdit, type ResolvedChange } from './resolution-edits.ts'
import { convertToSourceForm } from './source-form.ts'

const CORE = { group: '' }

test('a number in git stays a number when the server stores a quantity as a string', () => {
  assert.equal(convertToSourceForm(CORE, 10, '20'), 20)
  assert.deepEqual(
    convertToSourceForm(CORE, { pods: 10, cpu: '1' }, { pods: '20', cpu: '2', services: '3' }),
    {
      pods: 20,
      cpu: '2',
      services: '3',
    },
  )
  assert.deepEqual(
    convertToSourceForm({ group: 'batch' }, [{ cpu: 1 }], [{ cpu: '2' }, { cpu: '2' }]),
    [{ cpu: 2 }, { cpu: '2' }],
  )
})

test('writes a quantity that is not a whole number as the server has it', () => {
  for (const live of ['500m', '1Gi', '1e3', '-1', '08', '1234567890123456', ''])
    assert.equal(convertToSourceForm(CORE, 1, live), live)
})

test('writes values with the type of git, and values of custom types, unchanged', () => {
  assert.equal(convertToSourceForm(CORE, '10', '20'), '20')
  assert.equal(convertToSourceForm(CORE, undefined, '20'), '20')
  assert.equal(convertToSourceForm({ group: 'example.com' }, 10, '20'), '20')
  assert.equal(convertToSourceForm(CORE, 80, 'http'), 'http')
})

test('the manifest edit writes the number, and its verification accepts it', () => {
  const id = { group: '', kind: 'ResourceQuota', namespace: 'shop', name: 'web' }
  const at = (pods: number) => ({
    id,
    apiVersion: 'v1',
    object: { spec: { hard: { pods } } },
    location: { path: 'quota.yaml', document: 0, item: undefined, line: 1 },
  })
  const drift = driftOf('spec.hard.pods', { id, git: 10, live: '20' })
  const change: ResolvedChange = { drift, desired: at(10), resolution: 'Adopt' }
  assert.deepEqual(createEdit(change)?.edit, {
    document: 0,
    item: undefined,
    kind: 'set',
    path: path('spec.hard.pods'),
    value: 20,
  })
  proveEdit(new Map([['quota', at(10)]]), new Map([['quota', at(20)]]), [change])
})
