import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf } from '../../../test/fakes/record-samples.ts'
import type { Change } from '../../record/documents/change.ts'
import { changeTable } from './change-table.ts'

/** Pixels of a comment on GitHub (docs/facts/github-comment-width.md). */
const PAGE = 850
const [LETTER, CODE_LETTER, CODE_PADDING, CELL] = [8, 7.2, 9.6, 27]

/** Pixels that a table needs at least: the longest piece of each column that no browser breaks. */
function narrowest(lines: readonly string[]): number {
  const rows = lines
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
  const columns = rows[0]?.map((_head, index) => rows.map((row) => row[index] ?? '')) ?? []
  return columns.reduce((sum, cells) => sum + CELL + Math.max(...cells.flatMap(pieces)), 0)
}

function pieces(cell: string): readonly number[] {
  const shown = cell.replace(/\]\([^)]*\)/g, '').replace(/[[*]/g, '')
  const code = [...shown.matchAll(/`([^`]*)`/g)].flatMap(([, text = '']) =>
    text.split(/(?<=[\s/-])/),
  )
  return [
    ...code.map((text) => text.length * CODE_LETTER + CODE_PADDING),
    ...shown
      .replace(/`[^`]*`/g, ' ')
      .split(' ')
      .map((word) => word.length * LETTER),
  ]
}

function tableOf(...changes: readonly Partial<Change>[]): string[] {
  return changeTable(
    changes.map((change, index) => ({
      change: changeOf({ fingerprint: `${index}`, ...change }),
      number: index + 1,
    })),
    undefined,
  )
}

const WIDE: readonly (readonly [what: string, change: Partial<Change>])[] = [
  ['long values', { git: 'x'.repeat(90), live: 'y'.repeat(90) }],
  [
    'a long field',
    { path: `spec.${'abcdefgh'.repeat(9)}`, git: 'x'.repeat(90), live: 'y'.repeat(90) },
  ],
  [
    'long steps in a field path',
    {
      path: 'spec.template.spec.containers[name=application].resources.limits.memory',
      git: 'x'.repeat(90),
      live: 'z',
    },
  ],
  ['multi-line values', { git: `a\n${'x'.repeat(90)}\n`, live: `a\n${'y'.repeat(90)}\n` }],
  [
    'lists',
    {
      git: [{ apiGroups: [''], resources: ['configmaps'] }],
      live: [{ apiGroups: ['*'], resources: ['*'] }],
    },
  ],
  [
    'a long risk and a long plan',
    { git: 'x'.repeat(90), live: 'y'.repeat(90), risk: 'critical', resolution: 'Release' },
  ],
]

for (const [what, change] of WIDE) {
  test(`a table with ${what} fits the page of a pull request`, () => {
    const width = narrowest(tableOf({}, change))
    assert.ok(width <= PAGE, `${Math.round(width)} pixels:\n${tableOf({}, change).join('\n')}`)
  })
}

test('a long path is shortened by whole steps', () => {
  const [, , row = ''] = tableOf({
    path: 'spec.template.metadata.annotations["example.com/debug"]',
  })
  assert.match(row, / `\.\.\.annotations\["example\.com\/debug"\]` /)
})

test('the plan is the second column, for one change too', () => {
  assert.match(
    tableOf({ resolution: 'Adopt' }).join('\n'),
    /^\| # \| Plan \|.*\n.*\n\| 1 \| Adopt \|/,
  )
})

test('a value is truncated only where no browser can break it', () => {
  const [, , row = ''] = tableOf({
    git: 'registry.example/shop/check-out:v1',
    live: 'registry.example/shop/check-out:v2',
  })
  assert.match(row, /check-out:v1.*check-out:v2/)
})
