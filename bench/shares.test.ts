import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatShares } from './shares.ts'

test('kinds stand by their number, with the share that is proven and the reasons of the rest', () => {
  const table = formatShares([
    { kind: 'Deployment', objects: 4, reasons: new Map([['one', 1]]) },
    { kind: 'ConfigMap', objects: 12, reasons: new Map() },
  ])
  assert.deepEqual(table.trim().split('\n').slice(2), [
    '| ConfigMap | 12 | 12 | 100.0 % | none |',
    '| Deployment | 4 | 3 | 75.0 % | 1: one |',
    '| all | 16 | 15 | 93.8 % | 1: one |',
  ])
})
