import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPlainPath, matchesFieldPattern } from './field-pattern.ts'
import { compileFilePattern } from './file-pattern.ts'

const FIELDS: readonly (readonly [
  pattern: string,
  fits: readonly string[],
  not: readonly string[],
])[] = [
  ['a.b', ['.a.b', 'a.b'], ['.a', '.a.b.c', '.a.b[0]', '']],
  ['a.*.c', ['.a.b.c', '.a.b[3].c'], ['.a.c', '.a.b.b.c']],
  ['a.**.c', ['.a.c', '.a.b.c', '.a.b[1].d.c'], ['.a.b', '.c', '.b.a.c']],
  ['**', ['.a', '.a.b', ''], []],
  ['**.a.**', ['.a', '.b.a.c'], ['.b']],
  ['a[1]', ['.a[1]'], ['.a', '.a[0]', '.b[1]']],
  ['a[*]', ['.a[0]', '.a[17]'], ['.a']],
  ['*[1]', ['.a[1]', '.b[1]'], ['.a[0]', '.a']],
  ['a[0]', ['.a[0][5]'], []],
  // A dot within a key splits it, in the place as in the pattern.
  ['annotations.example.com/x', ['.annotations.example.com/x'], []],
  ['annotations.*', [], ['.annotations.example.com/x']],
]

test('matches fields against path expressions', () => {
  for (const [pattern, fits, not] of FIELDS) {
    for (const location of fits)
      assert.ok(matchesFieldPattern(pattern, location), `${pattern} fits ${location}`)
    for (const position of not)
      assert.ok(!matchesFieldPattern(pattern, position), `${pattern} does not fit ${position}`)
  }
})

test('creates only a path of plain names', () => {
  assert.ok(isPlainPath('metadata.labels.app'))
  for (const path of ['', 'a..b', 'a.*', 'a.**.b', 'a[0]', 'a*'])
    assert.ok(!isPlainPath(path), path)
})

/** Held against doublestar 4.10.0, which the original uses. */
const FILES: readonly (readonly [
  pattern: string,
  fits: readonly string[],
  not: readonly string[],
])[] = [
  ['*.yaml', ['a.yaml', '.yaml'], ['d/a.yaml', 'a.yml']],
  ['**/a.yaml', ['a.yaml', 'd/a.yaml', 'd/e/a.yaml'], ['xa.yaml', 'd/xa.yaml']],
  ['d/**/a.yaml', ['d/a.yaml', 'd/e/f/a.yaml'], ['a.yaml', 'e/d/a.yaml']],
  ['d/**', ['d', 'd/a', 'd/e/a'], ['dd/a']],
  ['d/**.yaml', ['d/a.yaml'], ['d/e/a.yaml']],
  ['d/**/', ['d', 'd/e/'], ['d/e']],
  ['**', ['a', 'a/b'], []],
  ['d/?.yaml', ['d/a.yaml', 'd/é.yaml'], ['d/ab.yaml', 'd//.yaml']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[^a-c]x', ['dx', '/x'], ['ax']],
  ['[!ab]x', ['cx'], ['bx']],
  ['[a\\-c]x', ['-x', 'ax'], ['bx']],
  ['{a,b/{c,d}}.yaml', ['a.yaml', 'b/d.yaml'], ['b.yaml']],
  ['{a,}b', ['ab', 'b'], ['{a,}b']],
  ['\\{a\\}\\*', ['{a}*'], ['a*', '{a}b']],
  ['a.b+(c)', ['a.b+(c)'], ['aXb+(c)']],
]

test('matches files against file patterns', () => {
  for (const [pattern, fits, not] of FILES) {
    const matches = compileFilePattern(pattern)
    for (const path of fits) assert.equal(matches?.(path), true, `${pattern} fits ${path}`)
    for (const path of not) assert.equal(matches?.(path), false, `${pattern} does not fit ${path}`)
  }
})

test('rejects an invalid pattern, or one with too many alternatives', () => {
  for (const pattern of [
    '[a',
    '[]',
    '[^]',
    '{a',
    '{a,{b}',
    'a\\',
    '{a,b}'.repeat(20),
    'a'.repeat(5000),
  ]) {
    assert.equal(compileFilePattern(pattern), undefined, pattern.slice(0, 20))
  }
})
