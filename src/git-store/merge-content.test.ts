/** `git merge-file` is the reference: its text, and whether there is a conflict. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as fc from '../../test/seeds/fast-check.ts'
import { mergeContent } from './merge-content.ts'

const folder = mkdtempSync(join(tmpdir(), 'merge-content-'))
after(() => rmSync(folder, { recursive: true }))

type Sides = readonly [base: string, ours: string, theirs: string]

/** Undefined where git has a conflict. */
function byGit([base, ours, theirs]: Sides): string | undefined {
  const files = { ours, base, theirs }
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text, 'latin1')
    return join(folder, name)
  })
  const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...paths])
  return status === 0 ? stdout.toString('latin1') : undefined
}

function byUs(sides: Sides): string | undefined {
  const [base, ours, theirs] = sides.map((text) => Buffer.from(text, 'latin1')) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  const merged = mergeContent({ base, ours, theirs })
  return merged === null ? undefined : Buffer.from(merged).toString('latin1')
}

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at}\n`)
/** With lines of it replaced. */
const ten = (lines: Readonly<Record<number, string>>): string =>
  TEN.map((line, at) => lines[at] ?? line).join('')
const BLOCK = '- name: a\n  value: x\n'

const CASES: readonly (readonly [name: string, sides: Sides, isMerged: boolean])[] = [
  ['lines far from each other', [ten({}), ten({ 1: 'A\n' }), ten({ 8: 'B\n' })], true],
  ['changes with one line between them', [ten({}), ten({ 1: 'A\n' }), ten({ 3: 'B\n' })], true],
  ['adjacent lines', [ten({}), ten({ 1: 'A\n' }), ten({ 2: 'B\n' })], false],
  ['one line', [ten({}), ten({ 1: 'A\n' }), ten({ 1: 'B\n' })], false],
  ['the same change of one line', [ten({}), ten({ 1: 'A\n' }), ten({ 1: 'A\n' })], true],
  [
    'the same change of one line, and another change',
    [ten({}), ten({ 1: 'A\n' }), ten({ 1: 'A\n', 7: 'B\n' })],
    true,
  ],
  ['lines removed on one side', [ten({}), ten({ 1: '', 2: '' }), ten({ 6: 'B\n' })], true],
  [
    'a line removed on one side and changed on the other',
    [ten({}), ten({ 1: '' }), ten({ 1: 'B\n' })],
    false,
  ],
  [
    'lines inserted at one position on both sides',
    [ten({}), ten({ 4: 'x\nline 4\n' }), ten({ 4: 'y\nline 4\n' })],
    false,
  ],
  ['lines at both ends', [ten({}), `first\n${ten({})}`, `${ten({})}last\n`], true],
  [
    'a repeated block',
    [
      `${BLOCK.repeat(4)}end\n`,
      `start\n${BLOCK.repeat(4)}end\n`,
      `${BLOCK}${BLOCK.replace('x', 'z')}${BLOCK.repeat(2)}end\n`,
    ],
    true,
  ],
  ['no line break at the end', ['a\nb\nc\nd', 'A\nb\nc\nd', 'a\nb\nc\nD'], true],
  ['a final line break added on one side', ['a\nb\nc\nd', 'A\nb\nc\nd', 'a\nb\nc\nd\n'], true],
  ['CRLF', ['a\r\nb\r\nc\r\n', 'A\r\nb\r\nc\r\n', 'a\r\nb\r\nC\r\n'], true],
  [
    'a carriage return within a line',
    ['a\rx\nb\nc\nd\n', 'a\rx\nB\nc\nd\n', 'a\rx\nb\nc\nD\n'],
    true,
  ],
  ['invalid UTF-8', ['\xff\nb\nc\n', '\xff\nb\nC\n', '\xfe\nb\nc\n'], true],
  [
    'U+2028 in a line',
    ['\xe2\x80\xa8x\nb\nc\n', '\xe2\x80\xa8x\nb\nC\n', '\xe2\x80\xa8y\nb\nc\n'],
    true,
  ],
  ['an initially empty file', ['', 'a\n', 'b\n'], false],
  ['a file emptied on one side', ['a\nb\n', '', 'a\nB\n'], false],
  ['a binary file', ['\x00a\nb\nc\n', '\x00A\nb\nc\n', '\x00a\nb\nC\n'], false],
]

for (const [name, sides, isMerged] of CASES)
  test(`merges like git: ${name}`, () => {
    const merged = byUs(sides)
    assert.equal(merged, byGit(sides))
    assert.equal(merged !== undefined, isMerged)
  })

test('does not merge when a side lacks the file', () => {
  const content = Buffer.from('a\n')
  assert.equal(mergeContent({ base: null, ours: content, theirs: content }), null)
  assert.equal(mergeContent({ base: content, ours: null, theirs: content }), null)
})

test('does not merge when a side has another file type', () => {
  const of = (word: string) =>
    Buffer.from(Array.from({ length: 1500 }, (_, at) => `${word} ${at}\n`).join(''))
  const base = of('line')
  assert.equal(mergeContent({ base, ours: Buffer.concat([base, of('x')]), theirs: of('y') }), null)
})

/** Removed lines, and lines that are put before one, by place. */
const edits = fc.array(
  fc.tuple(fc.nat(19), fc.boolean(), fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 })),
  { maxLength: 4 },
)

function edited(
  lines: readonly string[],
  changes: readonly (readonly [number, boolean, string[]])[],
) {
  const byPlace = new Map(changes.map((change) => [change[0], change]))
  return lines
    .flatMap((line, at) => {
      const [, isRemoved = false, added = []] = byPlace.get(at) ?? []
      return [...added, ...(isRemoved ? [] : [line])]
    })
    .map((line) => `${line}\n`)
    .join('')
}

test('merges any edits of a file with distinct lines like git', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`)
  fc.assert(
    fc.property(edits, edits, (mine, other) => {
      const sides: Sides = [edited(lines, []), edited(lines, mine), edited(lines, other)]
      assert.equal(byUs(sides), byGit(sides))
    }),
  )
})
