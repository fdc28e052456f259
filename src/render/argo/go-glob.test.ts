import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesGoGlob } from './go-glob.ts'

// The answers are those of github.com/gobwas/glob 0.2.3.
for (const [pattern, matching, other] of [
  ['*.yaml', ['a.yaml', 'sub/a.yaml', '.yaml'], ['a.yml', 'a.yaml.bak']],
  ['sub/*', ['sub/a', 'sub/deep/a'], ['a', 'other/sub/a']],
  ['**/test-?.yaml', ['a/test-1.yaml', 'a/b/test-x.yaml'], ['test-1.yaml', 'a/test-10.yaml']],
  ['{config.json,env-usw2/*}', ['config.json', 'env-usw2/a.yaml'], ['env-use2/a.yaml', 'config.jsonx']],
  ['{*.yml,{a,b}/x}', ['c.yml', 'a/x', 'b/x'], ['c/x']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[!abc]x', ['dx'], ['ax', 'x']],
  ['a\\*', ['a*'], ['ab']],
  ['a,b', ['a,b'], ['a']],
  ['{a,b', ['a'], ['{a,b']],
  ['[ab', [], ['a', '[ab']],
] as const)
  test(`the pattern ${pattern} matches what Go's glob matches`, () => {
    assert.deepEqual(
      [...matching, ...other].filter((text) => matchesGoGlob(pattern, text)),
      matching,
    )
  })

test('a pattern with many stars takes no time', () => {
  assert.equal(matchesGoGlob('*a'.repeat(200), `${'a'.repeat(199)}b`), false)
})
