import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upstreamRefProblem, upstreamRepositoryProblem } from './upstream-address.ts'

const GOOD = [
  'https://github.com/example/packages.git',
  'http://git.example.com/packages',
  'ssh://git@git.example.com:2222/packages.git',
  'git://git.example.com/packages',
  'git@github.com:example/packages.git',
  '/srv/git/packages',
  '../packages',
  './-packages',
  'packages',
]
const BAD = [
  '-x',
  '--upload-pack=x',
  'ext::sh -c x',
  '::x',
  'file::/srv/git/packages',
  'file:///etc',
  'file://ada:hunter2@example.com/r',
  '-oProxyCommand=x',
  '-packages',
  'https://ada@example.com/r',
  'https://ada:hunter2@example.com/r',
  'ssh://git:hunter2@example.com/r',
  'ssh://-oProxyCommand=x/r',
  'git@-oProxyCommand=x:r',
  'git@example.com:-x',
  'git@-oProxyCommand=x:r\nx',
  'ftp://example.com/r',
]

test('valid addresses of repositories', () => {
  for (const address of GOOD) assert.equal(upstreamRepositoryProblem(address), undefined, address)
})

test('refused addresses: git would run a program, or they contain a password', () => {
  for (const address of BAD) {
    const why = upstreamRepositoryProblem(address)
    assert.ok(why !== undefined, address)
    assert.doesNotMatch(why, /hunter2|ada/)
  }
})

test('refs', () => {
  for (const ref of ['main', 'v1.2', 'apps/web/v3', 'refs/tags/v1', 'a'.repeat(40)]) assert.equal(upstreamRefProblem(ref), undefined, ref)
  for (const ref of ['-x', '--upload-pack=x', 'refs/heads/../x', '@{-1}', 'a b', 'a~1', 'a^', 'a:b', 'a\nb'])
    assert.ok(upstreamRefProblem(ref), ref)
})
