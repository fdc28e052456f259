import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../test/seeds/fast-check.ts'
import { listCodeOwners } from './code-owners.ts'

// The patterns of GitHub's own documentation, with what it says about them.
const RULES: readonly (readonly [pattern: string, path: string, matches: boolean])[] = [
  ['*', 'apps/web/Kptfile', true],
  ['*.js', 'a/b/c.js', true],
  ['*.js', 'a/b/c.json', false],
  ['/build/logs/', 'build/logs/a/b.log', true],
  ['/build/logs/', 'x/build/logs/a.log', false],
  ['docs/*', 'docs/getting-started.md', true],
  ['docs/*', 'docs/build-app/troubleshooting.md', false],
  ['apps/', 'apps/web/a.yaml', true],
  ['apps/', 'x/apps/web/a.yaml', true],
  ['apps/', 'apps', false],
  ['/docs/', 'docs/a', true],
  ['/docs/', 'x/docs/a', false],
  ['/scripts/', 'scripts/deep/er/x.sh', true],
  ['**/logs', 'build/logs/x', true],
  ['**/logs', 'logs/x', true],
  ['**/logs', 'deeply/nested/logs', true],
  ['/apps/github', 'apps/github/x', true],
  ['/apps/**', 'apps/a/b/c', true],
  ['/apps/**', 'apps', false],
  ['apps/**/Kptfile', 'apps/Kptfile', true],
  ['apps/**/Kptfile', 'apps/a/b/Kptfile', true],
  ['apps/**/Kptfile', 'xapps/a/Kptfile', false],
  ['/*', 'README.md', true],
  ['/apps/w?b/', 'apps/web/x', true],
  ['/apps/w?b/', 'apps/wb/x', false],
  ['/APPS/', 'apps/web/x', false],
  ['Kptfile', 'apps/web/Kptfile', true],
  ['file\\ name', 'a/file name', true],
]

for (const [pattern, path, matches] of RULES) {
  test(`CODEOWNERS pattern ${pattern} ${matches ? 'matches' : 'does not match'} ${path}`, () => {
    assert.deepEqual(listCodeOwners(`${pattern} @ann`, path), matches ? ['@ann'] : [])
  })
}

test('the last matching line wins, even when it names no owner', () => {
  const text = '* @everybody\n/apps/ @org/apps bob@example.com # who runs them\r\n/apps/free/\n'
  assert.deepEqual(listCodeOwners(text, 'README.md'), ['@everybody'])
  assert.deepEqual(listCodeOwners(text, 'apps/web/Kptfile'), ['@org/apps', 'bob@example.com'])
  assert.deepEqual(listCodeOwners(text, 'apps/free/Kptfile'), [])
})

test('comments, blank lines and lines that GitHub rejects name no owners', () => {
  const text = '* @ann\n\n# /apps/ @bob\n!/apps/ @bob\n/[ab]pps/ @bob\n/apps/ bob\n/apps/ @bob! \n'
  assert.deepEqual(listCodeOwners(text, 'apps/web/Kptfile'), ['@ann'])
  assert.deepEqual(listCodeOwners('', 'apps/web/Kptfile'), [])
})

test('any text parses, and the result contains only owners from the text', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('*', '/', 'a', '?', ' ', '@', '\n', '#', '\\', '.'),
        maxLength: 300,
      }),
      (text) => {
        for (const owner of listCodeOwners(text, 'a/a/a/a/a/a/a/a')) assert.ok(text.includes(owner))
      },
    ),
  )
  listCodeOwners(
    `${'*a'.repeat(2_000)} @ann\n${'**/'.repeat(2_000)}b @ann`,
    `${'a'.repeat(2_000)}/${'a/'.repeat(500)}x`,
  )
})
