import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf } from '../../test/fakes/record-samples.ts'
import { Failure } from '../failure.ts'
import { isSelector, selectChanges } from './select-changes.ts'

const OTHER = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const CHANGES = [
  changeOf({ fingerprint: 'a', path: 'spec.replicas' }),
  changeOf({ fingerprint: 'b', path: 'metadata.annotations["example.com/owner"]' }),
  changeOf({ fingerprint: 'c', ref: OTHER, path: 'data.color' }),
  changeOf({ fingerprint: 'd', ref: { ...OTHER, namespace: 'other' }, path: 'data.color' }),
]

const ROWS: readonly (readonly [selectors: readonly string[], found: readonly string[] | undefined])[] = [
  [[], undefined],
  [['all'], undefined],
  [['1'], ['a']],
  [['1,3'], ['a', 'c']],
  [
    ['3', '1'],
    ['a', 'c'],
  ],
  [['1:metadata.annotations["example.com/owner"]'], ['b']],
  [['2:spec.replicas'], ['a']],
  [['deployment/web'], ['a', 'b']],
  [
    ['Deployment/web', '4'],
    ['a', 'b', 'd'],
  ],
  [['configmap/web'], ['c', 'd']],
]

for (const [selectors, found] of ROWS) {
  test(`${selectors.join(' ') || 'no selector'} selects ${found?.join(', ') ?? 'everything'}`, () => {
    assert.deepEqual(found, selectChanges(selectors, CHANGES) && [...(selectChanges(selectors, CHANGES) ?? [])].sort())
  })
}

for (const selector of ['0', '5', '1,9', '1:spec.paused', '1:spec..x', 'deployment/api', 'deployment', 'data.color']) {
  test(`${selector} names nothing, and that is said`, () => {
    assert.throws(
      () => selectChanges([selector], CHANGES),
      (thrown) => thrown instanceof Failure && thrown.code === 'BP1011',
    )
  })
}

test('a number and all are selectors, the path of a package is not', () => {
  assert.deepEqual(['1', '1,3', '2:spec.replicas', 'all', 'apps/web', 'web', '.', 'deployment/web'].map(isSelector), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})
