import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  assertPushable,
  computeNextRevision,
  findDefaultBaseBranch,
  formatRevisionTag,
  formatWorkspaceBranch,
  isWellFormedRefName,
  parseOwnedRef,
  parseRevisionTag,
  parseWorkspaceBranch,
} from './ref-name.ts'

const SOME_ID = '1'.repeat(40)
const refused = (action: () => unknown) =>
  assert.throws(action, (error: unknown) => error instanceof Failure && error.code === 'BP4004')

const segment = fc
  .stringMatching(/^[a-zA-Z0-9_-]{1,12}(\.[a-z]{1,3})?$/)
  .filter((text) => !text.endsWith('.lock'))
const packagePath = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join('/'))
const workspace = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)

test('a workspace branch reads back as written', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('drafts' as const, 'proposed' as const),
      packagePath,
      workspace,
      (state, path, name) => {
        const branch = { state, packagePath: path, workspace: name }
        const text = formatWorkspaceBranch(branch)
        assert.deepEqual(parseWorkspaceBranch(text), branch)
        assert.deepEqual(parseOwnedRef(`refs/heads/${text}`), { kind: 'workspace', ...branch })
      },
    ),
  )
})

test('a revision tag reads back as written', () => {
  fc.assert(
    fc.property(packagePath, fc.nat(), (path, revision) => {
      const tag = { packagePath: path, revision }
      const text = formatRevisionTag(tag)
      assert.deepEqual(parseRevisionTag(text), tag)
      assert.deepEqual(parseOwnedRef(`refs/tags/${text}`), { kind: 'revision', ...tag })
    }),
  )
})

test('prints names like Porch does', () => {
  assert.equal(
    formatWorkspaceBranch({
      state: 'proposed',
      packagePath: 'apps/web',
      workspace: 'drift-1a2b3c4d',
    }),
    'proposed/apps/web/drift-1a2b3c4d',
  )
  assert.equal(formatRevisionTag({ packagePath: 'apps/web', revision: 3 }), 'apps/web/v3')
})

test('rejects a branch with fewer than two segments after the state', () => {
  refused(() => formatWorkspaceBranch({ state: 'drafts', packagePath: '', workspace: 'foo' }))
  assert.equal(parseWorkspaceBranch('drafts/foo'), undefined)
  for (const ref of [
    'refs/heads/drafts/foo',
    'refs/heads/proposed/bar',
    'refs/heads/drafts',
    'refs/heads/drafts//x',
    'refs/heads/drafts/a/',
  ]) {
    refused(() => assertPushable({ ref, to: SOME_ID }))
  }
})

test('rejects a workspace that is not a DNS label', () => {
  for (const name of ['Drift', 'a_b', '-a', 'a-', 'a.b', '', 'x'.repeat(64), 'a\n']) {
    refused(() =>
      formatWorkspaceBranch({ state: 'drafts', packagePath: 'apps/web', workspace: name }),
    )
    refused(() => assertPushable({ ref: `refs/heads/drafts/apps/web/${name}`, to: SOME_ID }))
  }
})

test('rejects a package path that git does not allow in a ref', () => {
  for (const path of [
    'my app',
    'a..b',
    '.hidden',
    'a/.b',
    'a.lock',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a@{1}',
    '/a',
    'a/',
    'a\u0001',
  ]) {
    refused(() => formatWorkspaceBranch({ state: 'drafts', packagePath: path, workspace: 'w' }))
    refused(() => formatRevisionTag({ packagePath: path, revision: 1 }))
  }
})

test('applies the rules of git check-ref-format', () => {
  const awkward = fc.constantFrom(
    'a',
    'b',
    '/',
    '.',
    '..',
    '@',
    '{',
    '@{',
    '.lock',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
    '\\',
    ' ',
    '-',
    'é',
    '\u007f',
    '\u0001',
  )
  const names = fc.sample(
    fc.array(awkward, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
    { numRuns: 250 },
  )
  const refs = [...names, '@', 'a/@', 'a.lock/b', 'a.', 'a/b.', 'HEAD', '-x'].map(
    (name) => `refs/heads/${name}`,
  )
  // A shell starts git in far less time than Node does.
  const script = 'for ref do git check-ref-format "$ref"; echo "$?"; done'
  const { stdout } = spawnSync('sh', ['-c', script, 'sh', ...refs], { encoding: 'utf8' })
  const allowed = stdout.split('\n').map((status) => status === '0')
  for (const [index, ref] of refs.entries())
    assert.equal(isWellFormedRefName(ref), allowed[index], JSON.stringify(ref))
  assert.equal(isWellFormedRefName('@'), false)
  assert.equal(isWellFormedRefName(''), false)
})

test('allows pushes only to its own refs and the named base branch', () => {
  for (const ref of [
    'refs/heads/drafts/apps/web/drift-1',
    'refs/heads/proposed/web/d',
    'refs/heads/drift-ledger',
    'refs/heads/drift/configure',
    'refs/tags/apps/web/v12',
  ]) {
    assertPushable({ ref, to: SOME_ID })
    assertPushable({ ref, to: null })
  }
  assertPushable({ ref: 'refs/heads/main', to: SOME_ID }, 'main')
  refused(() => assertPushable({ ref: 'refs/heads/main', to: null }, 'main'))
  for (const ref of [
    'refs/heads/main',
    'main',
    'HEAD',
    'refs/heads/feature/x/y',
    'refs/heads/drift-ledger/x',
    'refs/heads/drift/configure/x',
    'refs/heads/drift/other',
    'refs/tags/v1',
    'refs/tags/apps/web/rc1',
    'refs/tags/apps/web/v1.2.3',
    'refs/tags/apps/web/v007',
    'refs/tags/apps/web/3',
    'refs/pull/1/head',
    'refs/heads/../x',
    'refs/notes/commits',
    '--upload-pack=x',
  ]) {
    refused(() => assertPushable({ ref, to: SOME_ID }))
  }
})

test('the next revision is one more than the highest number among the tags of the package', () => {
  const tags = [
    'apps/web/v1',
    'refs/tags/apps/web/v007',
    'apps/web/9x',
    'apps/web/rc99',
    'apps/web/v1.2.3',
    'apps/api/v40',
    'apps/web/sub/v50',
    'v60',
  ]
  assert.equal(computeNextRevision(tags, 'apps/web'), 8)
  assert.equal(computeNextRevision([...tags, 'apps/web/12'], 'apps/web'), 13)
  assert.equal(computeNextRevision([], 'apps/web'), 1)
  assert.equal(computeNextRevision(['apps/web/v99999999999999999999'], 'apps/web'), 1)
})

test('a policy proposal has its own branch, and only a branch of that form is one', () => {
  for (const verb of ['ignore', 'unignore']) {
    assert.deepEqual(parseOwnedRef(`refs/heads/drift/${verb}-0a1b2c3d`), { kind: 'policy' })
    assertPushable({ ref: `refs/heads/drift/${verb}-0a1b2c3d`, to: SOME_ID })
  }
  for (const name of [
    'ignore',
    'ignore-',
    'ignore-0a1b2c3',
    'ignore-0a1b2c3d/x',
    'ignore-0A1B2C3D',
    'other-0a1b2c3d',
  ])
    refused(() => assertPushable({ ref: `refs/heads/drift/${name}`, to: SOME_ID }))
})

test('uses main, or else master, as base branch when HEAD names a branch of Porch or Backporch', () => {
  const base = (head: string | undefined, ...branches: readonly string[]) =>
    findDefaultBaseBranch(head, (name) => branches.includes(name))
  for (const head of [
    'drafts/a/w',
    'drafts/w',
    'proposed/a/w',
    'deletionProposed/a/v1',
    'drift-ledger',
    'drift/configure',
  ]) {
    assert.equal(base(head, head, 'main', 'master'), 'main')
    assert.equal(base(head, head, 'master'), 'master')
    assert.equal(base(head, head, 'trunk'), undefined)
  }
  for (const head of ['trunk', 'feature/drafts/x', 'drafts', 'drift-ledger-2'])
    assert.equal(base(head, head, 'main'), head)
  assert.equal(base(undefined, 'main'), undefined)
})
