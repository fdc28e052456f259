import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalQuantity } from './quantity.ts'

const STORED: readonly (readonly [written: string, stored: string | undefined])[] = [
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['0.5', '500m'],
  ['1', '1'],
  ['1000', '1k'],
  ['1024Mi', '1Gi'],
  ['0.5Gi', '512Mi'],
  ['1.5Ki', '1536'],
  ['0.1Gi', '107374182400m'],
  ['512Ki', '512Ki'],
  ['0', '0'],
  ['0Mi', '0'],
  ['1000M', '1G'],
  // Rounded, capped, or in a form of which the server's answer depends on the place.
  ['0.0000000001', undefined],
  ['100E', undefined],
  ['1e3', undefined],
  ['01', undefined],
  ['5.', undefined],
  ['-1', undefined],
  ['', undefined],
  ['1 Gi', undefined],
]

for (const [written, stored] of STORED) {
  test(`${JSON.stringify(written)} is stored as ${stored ?? 'the server alone knows'}`, () =>
    assert.equal(canonicalQuantity(written), stored))
}
