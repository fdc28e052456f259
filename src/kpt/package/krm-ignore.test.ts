import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isIgnored, parseKrmIgnore } from './krm-ignore.ts'

describe('isIgnored', () => {
  // Every row was seen with the real kpt; walk-package.kpt.test.ts runs the same patterns through it.
  const rows: readonly (readonly [
    pattern: string,
    path: string,
    isDirectory: boolean,
    ignored: boolean,
  ])[] = [
    ['a.yaml', 'a.yaml', false, true],
    ['a.yaml', 'deep/down/a.yaml', false, true],
    ['/a.yaml', 'deep/a.yaml', false, false],
    ['/a.yaml', 'a.yaml', false, true],
    ['dir/a.yaml', 'x/dir/a.yaml', false, true],
    ['/dir/a.yaml', 'x/dir/a.yaml', false, false],
    ['.drift/', '.drift', true, true],
    ['.drift/', '.drift', false, false],
    ['*.yaml', 'x/a.yaml', false, true],
    ['**/a.yaml', 'a.yaml', false, false],
    ['**/a.yaml', 'x/a.yaml', false, true],
    ['a/**/c', 'a/b/c', false, true],
    ['a/**/c', 'a/b/b/c', false, false],
    ['[no].yaml', 'o.yaml', false, true],
    ['[^no].yaml', 'o.yaml', false, false],
    ['[a-c].yaml', 'b.yaml', false, true],
    ['[b', '[b', false, false],
    ['?.yaml', 'a.yaml', false, true],
    ['a?b', 'a/b', false, false],
    ['\\#x', '#x', false, true],
    ['# a.yaml', 'a.yaml', false, false],
    ['a.yaml  \r', 'a.yaml', false, true],
    ['  a.yaml  ', 'a.yaml', false, true],
    ['\ta.yaml', 'a.yaml', false, false],
    ['/', 'a.yaml', false, false],
    ['!', 'a.yaml', false, false],
    ['\\a*', 'ab', false, true],
    ['back\\slash', 'back\\slash', false, true],
  ]
  for (const [pattern, path, isDirectory, ignored] of rows) {
    it(`${JSON.stringify(pattern)} ${ignored ? 'ignores' : 'keeps'} ${isDirectory ? 'folder' : 'file'} ${path}`, () => {
      assert.equal(isIgnored(parseKrmIgnore(pattern), path, isDirectory), ignored)
    })
  }

  it('applies a ! line with precedence at any position', () => {
    for (const text of ['*.yaml\n!keep.yaml\n', '!keep.yaml\n*.yaml\n']) {
      const rules = parseKrmIgnore(text)
      assert.equal(isIgnored(rules, 'keep.yaml', false), false)
      assert.equal(isIgnored(rules, 'other.yaml', false), true)
    }
  })

  it('reads lines that end with CRLF', () => {
    assert.equal(isIgnored(parseKrmIgnore('a.yaml\r\nb.yaml\r\n'), 'a.yaml', false), true)
  })

  it('stays linear on patterns that make backtracking matchers hang (C40)', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `**/**/**/**/a*b*c*${index}`)
    const rules = parseKrmIgnore(lines.join('\n'))
    const path = `x/x/x/x/${'ab'.repeat(100)}`
    // Counted in work, not in time: the matcher looks at each character at most once per place of the last star.
    assert.equal(isIgnored(rules, path, false), false)
    assert.equal(isIgnored(parseKrmIgnore(`${'a*'.repeat(60)}b`), 'a'.repeat(4000), false), false)
  })
})

describe('5,000 lines', () => {
  const shapes: readonly (readonly [name: string, line: (number: number) => string])[] = [
    ['names', (number) => `/apps/team-1/other-${number}.yaml`],
    ['endings', (number) => `*-generated-${number}.yaml`],
    ['beginnings', (number) => `build-${number}-*`],
    ['parts', (number) => `*x${number}*`],
    ['parts of parts', (number) => `*e*r*v*x${number}*`],
    ['classes', (number) => `[a-f]?x${number}*`],
  ]
  for (const [name, line] of shapes) {
    it(`of ${name} ignore only paths that match one of them`, () => {
      const rules = parseKrmIgnore(
        Array.from({ length: 5000 }, (_, number) => line(number)).join('\n'),
      )
      const taken = line(4321)
        .replace(/^\//, '')
        .replaceAll('*', 'any')
        .replace('[a-f]', 'b')
        .replace('?', 'c')
      assert.equal(isIgnored(rules, taken, false), true)
      assert.equal(isIgnored(rules, 'apps/team-1/service-1.yaml', false), false)
    })
  }
})
