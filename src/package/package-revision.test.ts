import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KptAnnotation } from './kpt-annotation.ts'
import { type ObjectId, objectId } from './object-id.ts'
import { listPackageRevisions, type PorchListing, type PorchSources } from './package-revision.ts'

function commit(digit: string): ObjectId {
  return objectId(digit.repeat(40))
}

function list(refs: { readonly [ref: string]: string }, more: Partial<PorchSources> = {}): PorchListing {
  return listPackageRevisions({
    repository: 'repo',
    branch: 'main',
    directory: '',
    refs: new Map(Object.entries(refs).map(([ref, digit]) => [ref, commit(digit)])),
    packages: [],
    annotations: new Map(),
    ...more,
  })
}

function rows(listing: PorchListing): readonly string[] {
  return listing.revisions.map(({ name, revision, lifecycle, latest }) => `${name} ${revision} ${lifecycle}${latest ? ' latest' : ''}`)
}

function annotated(digit: string, workspace: string, packagePath = 'apps/web'): Partial<PorchSources> {
  const annotation: KptAnnotation = { packagePath, workspace, revision: '0', task: { type: 'edit', source: '' } }
  return { annotations: new Map([[commit(digit), [annotation]]]) }
}

// The experiment matrix that was run with Porch's real git adapter (docs/facts/porch-listing.md).
describe('listPackageRevisions', () => {
  it('lists a draft and a proposed branch by their last segment', () => {
    const listing = list({ 'refs/heads/drafts/apps/web/drift-1': '1', 'refs/heads/proposed/apps/web/drift-2': '2' })
    assert.deepEqual(rows(listing), ['repo.apps.web.drift-2 0 Proposed', 'repo.apps.web.drift-1 0 Draft'])
    assert.deepEqual(listing.problems, [])
    assert.equal(listing.unlistable, undefined)
  })

  it('skips a branch whose package folder is absent', () => {
    assert.deepEqual(rows(list({ 'refs/heads/drafts/apps/gone/w': '1' }, { hasPackage: (_commit, path) => path !== 'apps/gone' })), [])
  })

  it('reports that one segment after drafts/ or proposed/ hides the whole repository', () => {
    for (const ref of ['refs/heads/drafts/foo', 'refs/heads/proposed/bar']) {
      assert.match(list({ [ref]: '1' }).unlistable ?? '', /hides the whole repository/)
    }
  })

  it('lists a merged tag under the workspace of its kpt line, and under vN without one', () => {
    const refs = { 'refs/tags/apps/web/v9': '1', 'refs/tags/apps/web/v10': '2' }
    assert.deepEqual(rows(list(refs, annotated('1', 'restore-1'))), [
      'repo.apps.web.restore-1 9 Published',
      'repo.apps.web.v10 10 Published latest',
    ])
  })

  it('ignores a kpt line of another package', () => {
    assert.deepEqual(rows(list({ 'refs/tags/apps/web/v1': '1' }, annotated('1', 'w', 'apps/api'))), ['repo.apps.web.v1 1 Published latest'])
  })

  it('reads the number of a tag as Porch does', () => {
    const refs = { 'refs/tags/a/v007': '1', 'refs/tags/a/8': '2', 'refs/tags/a/rc1': '3', 'refs/tags/a/v1.2.3': '4', 'refs/tags/v5': '5' }
    assert.deepEqual(rows(list(refs)), [
      'repo.a.v007 7 Published',
      'repo.a.8 8 Published latest',
      'repo.a.rc1 -1 Published',
      'repo.a.v1.2.3 -1 Published',
    ])
  })

  it('lists each package of the registered branch as a placeholder that is never the latest', () => {
    assert.deepEqual(
      rows(list({ 'refs/heads/main': '1', 'refs/heads/other': '2', 'refs/tags/apps/web/v1': '1' }, { packages: ['apps/api', 'apps/web'] })),
      ['repo.apps.api.main -1 Published', 'repo.apps.web.v1 1 Published latest', 'repo.apps.web.main -1 Published'],
    )
  })

  it('turns a published revision into DeletionProposed, which still is the latest', () => {
    const refs = { 'refs/tags/apps/web/v1': '1', 'refs/tags/apps/web/v2': '2', 'refs/heads/deletionProposed/apps/web/v2': '2' }
    assert.deepEqual(rows(list(refs)), ['repo.apps.web.v1 1 Published', 'repo.apps.web.v2 2 DeletionProposed latest'])
  })

  it('removes the registered directory from names and omits packages outside of it', () => {
    const refs = { 'refs/heads/drafts/apps/web/w': '1', 'refs/tags/infra/dns/v1': '1' }
    assert.deepEqual(rows(list(refs, { directory: 'apps' })), ['repo.web.w 0 Draft'])
  })

  it('names two revisions that are one to Porch', () => {
    assert.equal(list({ 'refs/heads/drafts/a/w': '1', 'refs/heads/proposed/a/w': '2' }).problems.length, 1)
    assert.equal(list({ 'refs/heads/drafts/a/w': '1', 'refs/tags/a/v1': '2' }, annotated('2', 'w', 'a')).problems.length, 1)
  })

  it('lists a name that is no DNS label, with the problem that Porch cannot use it', () => {
    const listing = list({ 'refs/heads/drafts/a/Drift.2026_11': '1' })
    assert.deepEqual(rows(listing), ['repo.a.Drift.2026_11 0 Draft'])
    assert.match(listing.problems[0]?.text ?? '', /no DNS label/)
  })

  it('reports that a package at the root has no name in Porch', () => {
    assert.match(
      list({ 'refs/heads/main': '1' }, { packages: [''] })
        .problems.map(({ text }) => text)
        .join(),
      /has no name in Porch/,
    )
  })

  it('ignores refs that are neither branches nor tags', () => {
    assert.deepEqual(rows(list({ HEAD: '1', 'refs/pull/1/head': '1', 'refs/heads/drift-ledger': '1', 'refs/heads/feature/x': '2' })), [])
  })
})
