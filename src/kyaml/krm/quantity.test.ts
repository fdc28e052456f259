import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { formatCanonicalQuantity, parseQuantity } from './quantity.ts'

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
    assert.equal(formatCanonicalQuantity(written), stored))
}

test('quantities of one size are equal, whatever their suffixes', () => {
  for (const [left, right] of [
    ['1', '1000m'],
    ['1Gi', '1024Mi'],
    ['1e3', '1k'],
    ['0.5', '500m'],
    ['.5', '0.50'],
    ['1.5Gi', '1536Mi'],
    ['-1', '-1000m'],
  ])
    assert.equal(parseQuantity(left), parseQuantity(right), `${left} and ${right}`)
  assert.equal(parseQuantity(2), parseQuantity('2'))
  assert.equal(parseQuantity(9007199254740993n), parseQuantity('9007199254740993'))
})

test('compares quantities by size, and an invalid quantity has no size', () => {
  const sizes = [
    '1n',
    '1u',
    '1m',
    '1',
    '1k',
    '1Ki',
    '1M',
    '1Mi',
    '1G',
    '1Gi',
    '1T',
    '1Ti',
    '1P',
    '1Pi',
    '1E',
    '1Ei',
  ].map((text) => parseQuantity(text) ?? 0n)
  assert.deepEqual(
    sizes,
    sizes.toSorted((left, right) => (left < right ? -1 : 1)),
  )
  for (const text of ['', 'x', '1 Gi', '1kb', 'Gi', '.', '1e', null, true, {}, []])
    assert.equal(parseQuantity(text), undefined)
})

test('the canonical form of a quantity has the same size', () => {
  const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e2', 'E3')
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(999), suffix, (whole, part, unit) => {
      const text = `${whole}.${String(part).padStart(3, '0')}${unit}`
      const written = formatCanonicalQuantity(text)
      return written === undefined || parseQuantity(written) === parseQuantity(text)
    }),
  )
})
