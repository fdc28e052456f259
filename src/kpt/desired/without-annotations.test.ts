import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeAnnotations } from './without-annotations.ts'

const NAMES: ReadonlySet<string> = new Set(['tool/a', 'tool/b'])

test('removes the named annotations and keeps the others', () => {
  const object = {
    kind: 'Service',
    metadata: { name: 'web', annotations: { 'tool/a': '1', team: 'shop' } },
    spec: {},
  }
  assert.deepEqual(removeAnnotations(object, NAMES), {
    kind: 'Service',
    metadata: { name: 'web', annotations: { team: 'shop' } },
    spec: {},
  })
})

test('removes maps that become empty', () => {
  const named = {
    kind: 'Service',
    metadata: { name: 'web', annotations: { 'tool/a': '1', 'tool/b': '2' } },
  }
  assert.deepEqual(removeAnnotations(named, NAMES), { kind: 'Service', metadata: { name: 'web' } })
  assert.deepEqual(
    removeAnnotations({ kind: 'List', metadata: { annotations: { 'tool/a': '1' } } }, NAMES),
    { kind: 'List' },
  )
})

test('keeps other values unchanged', () => {
  for (const value of [
    null,
    'text',
    {},
    { metadata: null },
    { metadata: { annotations: 'none' } },
  ]) {
    assert.equal(removeAnnotations(value, NAMES), value)
  }
})
