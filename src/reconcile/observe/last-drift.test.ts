import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { LastDrift } from './last-drift.ts'

function verdictOf(name: string, live: Json, resourceVersion = '1'): ObjectVerdict {
  const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name }
  const item: Drift = {
    id,
    apiVersion: 'v1',
    uid: 'u',
    change: 'modified',
    path: [{ kind: 'field', name: 'data' }],
    git: 'blue',
    live,
    liveUnread: false,
    actor: {
      manager: 'kubectl',
      operation: 'Update',
      subresource: '',
      class: 'human-tool',
      at: '',
      confidence: 'field-manager',
    },
    risk: 'low',
    reason: 'X',
    notes: [],
  }
  const rest = {
    state: 'drifted',
    proof: 'dry-run',
    setAside: [],
    failure: undefined,
    reapplyFails: undefined,
  } as const
  return {
    id,
    apiVersion: 'v1',
    desired: undefined,
    items: [item],
    live: { metadata: { resourceVersion } },
    ...rest,
  }
}

test('an unchanged difference keeps its object identity when the live object was rewritten', () => {
  const last = new LastDrift()
  const [before] = last.retainUnchanged('prod/apps/web', [verdictOf('a', { deep: [1, 'x', 10n] })])
  const [now] = last.retainUnchanged('prod/apps/web', [
    verdictOf('a', { deep: [1, 'x', 10n] }, '2'),
  ])
  assert.equal(now?.items[0], before?.items[0])
  assert.deepEqual(now?.live, { metadata: { resourceVersion: '2' } })
})

for (const [name, live] of [
  ['another value', { deep: [1, 'y', 10n] }],
  ['a number instead of a bigint', { deep: [1, 'x', 10] }],
  ['an additional key', { deep: [1, 'x', 10n], more: null }],
  ['a list instead of a map', [1, 'x', 10n]],
  ['nothing', null],
] as const) {
  test(`a difference with ${name} replaces the cached one`, () => {
    const last = new LastDrift()
    last.retainUnchanged('prod/apps/web', [verdictOf('a', { deep: [1, 'x', 10n] })])
    const changed = verdictOf('a', live)
    assert.equal(last.retainUnchanged('prod/apps/web', [changed])[0], changed)
    assert.equal(
      last.retainUnchanged('prod/apps/web', [verdictOf('a', live)])[0]?.items[0],
      changed.items[0],
    )
  })
}

test('differences are kept per unit and object', () => {
  const last = new LastDrift()
  const [before] = last.retainUnchanged('prod/apps/web', [verdictOf('a', 'red')])
  const other = last.retainUnchanged('prod/apps/db', [verdictOf('a', 'red')])
  assert.notEqual(other[0]?.items[0], before?.items[0])
  assert.notEqual(
    last.retainUnchanged('prod/apps/web', [verdictOf('b', 'red')])[0]?.items[0],
    before?.items[0],
  )
})

test('the cache stays within its limit and evicts the least recently used units', () => {
  const last = new LastDrift(4)
  const two = (): ObjectVerdict[] => [verdictOf('a', 'red'), verdictOf('b', 'red')]
  const first = last.retainUnchanged('one', two())
  for (const unit of ['two', 'one', 'three']) last.retainUnchanged(unit, two())
  assert.equal(last.held, 4)
  assert.equal(
    last.retainUnchanged('one', two())[0]?.items[0],
    first[0]?.items[0],
    'two went before it',
  )
  last.retainUnchanged(
    'many',
    ['a', 'b', 'c', 'd', 'e'].map((name) => verdictOf(name, 'red')),
  )
  assert.equal(last.held, 4, 'a unit that is larger than the limit is not held')
  last.retainUnchanged('one', [])
  last.retainUnchanged('three', [])
  assert.equal(last.held, 0, 'what is over is not held')
})
