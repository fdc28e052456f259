import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import { HOSTILE_TEXTS } from '../../../test/fakes/record-samples.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { type Column, checkColumns, formatTable, measureTextWidth } from './table.ts'

interface Row {
  readonly name: string
  readonly state: string
}
const COLUMNS: readonly Column<Row>[] = [
  { name: 'NAME', value: ({ name }) => name },
  { name: 'STATE', value: ({ state }) => state },
  { name: 'MORE', wide: true, value: () => 'more' },
]
const ROWS: readonly Row[] = [
  { name: 'apps/web', state: 'InSync' },
  { name: 'a', state: '' },
]
const PLAIN = { headers: true, wide: false, columns: undefined }

test('a table has headers, three spaces between columns and no trailing spaces', () => {
  assert.equal(
    formatTable(ROWS, COLUMNS, PLAIN),
    'NAME       STATE\napps/web   InSync\na          -\n',
  )
})

test('headers can be omitted, and columns added or chosen in any order', () => {
  assert.equal(
    formatTable(ROWS, COLUMNS, { ...PLAIN, headers: false }),
    'apps/web   InSync\na          -\n',
  )
  assert.equal(
    formatTable(ROWS.slice(1), COLUMNS, { ...PLAIN, wide: true }),
    'NAME   STATE   MORE\na      -       more\n',
  )
  assert.equal(
    formatTable(ROWS.slice(1), COLUMNS, { ...PLAIN, columns: ['state', 'NAME'] }),
    'STATE   NAME\n-       a\n',
  )
})

test('without rows the table has only headers, or nothing', () => {
  assert.equal(formatTable([], COLUMNS, PLAIN), 'NAME   STATE\n')
  assert.equal(formatTable([], COLUMNS, { ...PLAIN, headers: false }), '')
})

test('external text adds no line, colour or column', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary' })),
      (name) => {
        const lines = formatTable([{ name, state: 'x' }], COLUMNS, PLAIN).split('\n')
        assert.equal(lines.length, 3)
        assert.doesNotMatch(
          lines.join(''),
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
          /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        )
        assert.ok(lines.every((line) => line === line.trimEnd()))
      },
    ),
  )
})

test('colour codes take no width', () => {
  assert.equal(measureTextWidth('\u001b[31;1mred\u001b[0m'), 3)
  assert.equal(measureTextWidth('→ ••••'), 6)
  assert.equal(measureTextWidth('🎌'), 1)
})

test('an unknown column is rejected with the list of columns', () => {
  assert.equal(checkColumns(undefined, COLUMNS), undefined)
  assert.deepEqual(checkColumns(['name', 'More'], COLUMNS), ['name', 'More'])
  assert.throws(
    () => checkColumns(['nmae'], COLUMNS),
    (thrown) => thrown instanceof InvalidArgumentError && /name, state, more/.test(thrown.message),
  )
})
