import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasSureBraces, matchesGoGlob } from './go-glob.ts'

// The answers are those of github.com/gobwas/glob 0.2.3.
for (const [pattern, matching, other] of [
  ['*.yaml', ['a.yaml', 'sub/a.yaml', '.yaml'], ['a.yml', 'a.yaml.bak']],
  ['sub/*', ['sub/a', 'sub/deep/a'], ['a', 'other/sub/a']],
  ['**/test-?.yaml', ['a/test-1.yaml', 'a/b/test-x.yaml'], ['test-1.yaml', 'a/test-10.yaml']],
  [
    '{config.json,env-usw2/*}',
    ['config.json', 'env-usw2/a.yaml'],
    ['env-use2/a.yaml', 'config.jsonx'],
  ],
  ['{*.yml,{a,b}/x}', ['c.yml', 'a/x', 'b/x'], ['c/x']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[!abc]x', ['dx'], ['ax', 'x']],
  ['a\\*', ['a*'], ['ab']],
  ['a,b', ['a,b'], ['a']],
  ['{a,b', ['a'], ['{a,b']],
  ['[ab', [], ['a', '[ab']],
  ['sub/*/a.yaml', ['sub/a.yaml', 'sub/deep/a.yaml'], ['sub/b.yaml']],
  ['{a/*/b,c}', ['a/b', 'a/x/b', 'c'], ['ab']],
] as const)
  test(`the pattern ${pattern} matches like Go's glob`, () => {
    assert.deepEqual(
      [...matching, ...other].filter((text) => matchesGoGlob(pattern, text)),
      matching,
    )
  })

test('a pattern with many stars takes no noticeable time', () => {
  assert.equal(matchesGoGlob('*a'.repeat(200), `${'a'.repeat(199)}b`), false)
})

test('braces are reliable only when the library matches them as they look', () => {
  const sure = [
    '{a.yaml,config-*.yaml}',
    '{*.yaml,*.yml}',
    '*.{yaml,yml}',
    '**/{a,b}.yaml',
    '{values.yaml,old/*}',
    '{a,b',
    'a*',
    'a\\{b',
  ]
  // Of {config-*,values}.yaml it takes the first for as long as the second; a{ ends its process.
  const unsure = [
    '{config-*,values}.yaml',
    '{a,{b,c}}.yaml',
    '{,a}b.yaml',
    'a{',
    'x{a*}',
    '{a*b,b}',
  ]
  assert.deepEqual([...sure, ...unsure].filter(hasSureBraces), sure)
})
