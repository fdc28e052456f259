import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../text/json.ts'
import { resolveKptScalar } from './go-scalar.ts'

/** As kpt 1.0.0-beta.56 sent them (docs/facts/kpt-live-scalars.md). */
const ROWS: readonly (readonly [text: string, value: Json])[] = [
  ['yes', 'yes'],
  ['No', 'No'],
  ['on', 'on'],
  ['y', 'y'],
  ['true', true],
  ['True', true],
  ['2001-01-02', '2001-01-02T00:00:00Z'],
  ['2001-1-2', '2001-01-02T00:00:00Z'],
  ['2001-01-02T03:04:05Z', '2001-01-02T03:04:05Z'],
  ['2001-01-02T03:04:05.5+02:00', '2001-01-02T03:04:05.5+02:00'],
  ['2001-01-02 03:04:05', '2001-01-02T03:04:05Z'],
  ['0755', 493],
  ['0o755', 493],
  ['0xff', 255],
  ['0b11', 3],
  ['1_000', 1000],
  ['9007199254740993', 9007199254740992],
  ['18446744073709551615', 18446744073709552000],
  ['1.50', 1.5],
  ['1e3', 1000],
  ['12:30', '12:30'],
  ['~', null],
  ['.5', 0.5],
  ['+5', 5],
]

test('formats scalars like kpt live', () => {
  for (const [text, value] of ROWS)
    assert.deepEqual(resolveKptScalar(text, true), { is: 'value', value }, text)
})

test('does not accept an out-of-range date or quoted text as a time', () => {
  for (const text of [
    '2001-13-01',
    '2001-02-29',
    '2001-01-02 24:00:00',
    '01-01-2001',
    '2001-01',
    '2001-01-02x',
  ])
    assert.deepEqual(resolveKptScalar(text, true), { is: 'value', value: text })
  assert.deepEqual(resolveKptScalar('2000-02-29', true), {
    is: 'value',
    value: '2000-02-29T00:00:00Z',
  })
  assert.deepEqual(resolveKptScalar('2001-01-02', false), { is: 'value', value: '2001-01-02' })
  assert.deepEqual(resolveKptScalar('2001-01-02', false, 'tag:yaml.org,2002:str'), {
    is: 'value',
    value: '2001-01-02',
  })
})

test('a fraction has at most nine digits without trailing zeros, and a zero offset is Z', () => {
  const read = (text: string): unknown => resolveKptScalar(text, true)
  assert.deepEqual(read('2001-01-02t3:4:5.1234567899000Z'), {
    is: 'value',
    value: '2001-01-02T03:04:05.123456789Z',
  })
  assert.deepEqual(read('2001-01-02T03:04:05.100+00:00'), {
    is: 'value',
    value: '2001-01-02T03:04:05.1Z',
  })
})
