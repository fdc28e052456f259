import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import type { KptAnnotation } from './kpt-annotation.ts'
import {
  listPackageRevisions,
  type PorchListing,
  type PorchSources,
  selectRevisionRefs,
} from './package-revision.ts'

function commit(digit: string): ObjectId {
  return parseObjectId(digit.repeat(40))
}

function list(
  refs: { readonly [ref: string]: string },
  more: Partial<PorchSources> = {},
): PorchListing {
  return listPackageRevisions({
    repository: 'repo',
    branch: 'main',
    directory: '',
    refs: new Map(Object.entries(refs).map(([ref, digit]) => [ref, commit(digit)])),
    files: [],
    annotations: new Map(),
    hasPackage: () => true,
    ...more,
  })
}

function rows(listing: PorchListing): readonly string[] {
  return listing.revisions.map(
    ({ name, revision, lifecycle, latest }) =>
      `${name ?? ''} ${revision} ${lifecycle}${latest ? ' latest' : ''}`,
  )
}

function files(...paths: readonly string[]): Pick<PorchSources, 'files'> {
  return { files: paths.map((path) => ({ path, mode: '100644' })) }
}

function causes({ problems }: PorchListing): readonly string[] {
  return problems.map(({ cause, subject }) => `${cause} ${subject}`)
}

function annotated(
  digit: string,
  workspace: string,
  packagePath = 'apps/web',
): Partial<PorchSources> {
  const annotation: KptAnnotation = {
    packagePath,
    workspace,
    revision: '0',
    task: { type: 'edit', source: '' },
  }
  return { annotations: new Map([[commit(digit), [annotation]]]) }
}

// The experiment matrix that was run with Porch's real git adapter (docs/facts/porch-listing.md).
describe('listPackageRevisions', () => {
  it('lists a draft and a proposed branch by their last segment', () => {
    const listing = list({
      'refs/heads/drafts/apps/web/drift-1': '1',
      'refs/heads/proposed/apps/web/drift-2': '2',
    })
    assert.deepEqual(rows(listing), [
      'repo.apps.web.drift-2 0 Proposed',
      'repo.apps.web.drift-1 0 Draft',
    ])
    assert.deepEqual(listing.problems, [])
  })

  it('skips a branch or tag whose commit lacks the package, and names the branch', () => {
    const refs = {
      'refs/heads/drafts/apps/gone/w': '1',
      'refs/heads/proposed/apps/gone/x': '1',
      'refs/tags/apps/gone/v1': '1',
    }
    const listing = list(refs, { hasPackage: (_commit, path) => path !== 'apps/gone' })
    assert.deepEqual(rows(listing), [])
    assert.deepEqual(causes(listing), [
      'porch-skips-branch refs/heads/drafts/apps/gone/w',
      'porch-skips-branch refs/heads/proposed/apps/gone/x',
    ])
  })

  it('looks for the package of a ref only where Porch does: in the registered directory, below a package path', () => {
    const refs = [
      'drafts/apps/web/w',
      'drafts/infra/dns/w',
      'drafts/w',
      'main',
      'feature/apps/web/w',
      'deletionProposed/apps/web/v1',
    ]
    const tags = ['apps/web/v1', 'apps/v1', 'apps-b/web/v1', 'v1']
    const all = [
      ...refs.map((name) => `refs/heads/${name}`),
      ...tags.map((name) => `refs/tags/${name}`),
    ]
    const { candidates, unlistable } = selectRevisionRefs(
      new Map(all.map((ref) => [ref, commit('1')])),
      {
        branch: 'main',
        directory: 'apps',
      },
    )
    assert.deepEqual(
      candidates.map(({ ref, packagePath, suffix }) => [ref, packagePath, suffix]),
      [
        ['refs/heads/drafts/apps/web/w', 'apps/web', 'w'],
        ['refs/tags/apps/web/v1', 'apps/web', 'v1'],
        ['refs/tags/apps/v1', 'apps', 'v1'],
      ],
    )
    assert.deepEqual(unlistable, ['drafts/w'])
  })

  it('reports that one segment after drafts/ or proposed/ hides the whole repository', () => {
    for (const name of ['drafts/foo', 'proposed/bar']) {
      const { problems } = list({ [`refs/heads/${name}`]: '1' })
      assert.deepEqual(
        problems.map(({ cause, subject }) => [cause, subject]),
        [['porch-cannot-list', name]],
      )
      assert.match(problems[0]?.text ?? '', /lists nothing of this repository/)
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
    assert.deepEqual(
      rows(list({ 'refs/tags/apps/web/v1': '1' }, annotated('1', 'w', 'apps/api'))),
      ['repo.apps.web.v1 1 Published latest'],
    )
  })

  it('parses the number of a tag like Porch', () => {
    const refs = {
      'refs/tags/a/v007': '1',
      'refs/tags/a/8': '2',
      'refs/tags/a/rc1': '3',
      'refs/tags/a/v1.2.3': '4',
      'refs/tags/v5': '5',
    }
    assert.deepEqual(rows(list(refs)), [
      'repo.a.v7 7 Published',
      'repo.a.v8 8 Published latest',
      'repo.a.rc1 -1 Published',
      'repo.a.v1.2.3 -1 Published',
    ])
  })

  it('uses the kpt line of a tag only if its name is a number', () => {
    assert.deepEqual(rows(list({ 'refs/tags/apps/web/rc1': '1' }, annotated('1', 'w'))), [
      'repo.apps.web.rc1 -1 Published',
    ])
  })

  it('lists each package of the registered branch as a placeholder that is never the latest', () => {
    assert.deepEqual(
      rows(
        list(
          { 'refs/heads/main': '1', 'refs/heads/other': '2', 'refs/tags/apps/web/v1': '1' },
          files('apps/api/Kptfile', 'apps/web/Kptfile', 'apps/web/sub/Kptfile', 'infra/dns.yaml'),
        ),
      ),
      [
        'repo.apps.api.main -1 Published',
        'repo.apps.web.v1 1 Published latest',
        'repo.apps.web.main -1 Published',
      ],
    )
  })

  it('turns a published revision into DeletionProposed, which stays the latest', () => {
    const refs = {
      'refs/tags/apps/web/v1': '1',
      'refs/tags/apps/web/v2': '2',
      'refs/heads/deletionProposed/apps/web/v2': '2',
    }
    assert.deepEqual(rows(list(refs)), [
      'repo.apps.web.v1 1 Published',
      'repo.apps.web.v2 2 DeletionProposed latest',
    ])
  })

  it('identifies a deletion by revision number, or by workspace when there is none', () => {
    const refs = { 'refs/heads/main': '1', 'refs/tags/a/v007': '1', 'refs/tags/a/rc1': '1' }
    const deleted = ['a/v7', 'a/rc1', 'a/main', 'a/v007'].map((name) => [
      `refs/heads/deletionProposed/${name}`,
      '1',
    ])
    assert.deepEqual(rows(list({ ...refs, ...Object.fromEntries(deleted) }, files('a/Kptfile'))), [
      'repo.a.v7 7 DeletionProposed latest',
      'repo.a.main -1 DeletionProposed',
      'repo.a.rc1 -1 DeletionProposed',
    ])
    assert.deepEqual(
      rows(list({ 'refs/tags/a/v007': '1', 'refs/heads/deletionProposed/a/v007': '1' })),
      ['repo.a.v7 7 Published latest'],
    )
    const named = (deletion: string) =>
      rows(
        list(
          { 'refs/tags/a/v1': '2', [`refs/heads/deletionProposed/a/${deletion}`]: '2' },
          annotated('2', 'w', 'a'),
        ),
      )
    assert.deepEqual(
      [...named('v1'), ...named('w')],
      ['repo.a.w 1 DeletionProposed latest', 'repo.a.w 1 Published latest'],
    )
  })

  it('removes the registered directory from names and omits packages outside it', () => {
    const refs = {
      'refs/heads/main': '1',
      'refs/heads/drafts/apps/web/w': '1',
      'refs/tags/infra/dns/v1': '1',
    }
    const here = files('Kptfile', 'apps/web/Kptfile', 'infra/dns/Kptfile', 'apps-b/x/Kptfile')
    assert.deepEqual(rows(list(refs, { directory: 'apps', ...here })), [
      'repo.web.main -1 Published',
      'repo.web.w 0 Draft',
    ])
  })

  it('lists what only Porch considers a package: one whose Kptfile is a link', () => {
    const link = { files: [{ path: 'a/Kptfile', mode: '120000' as const }] }
    assert.deepEqual(rows(list({ 'refs/heads/main': '1' }, link)), ['repo.a.main -1 Published'])
    assert.deepEqual(
      rows(list({ 'refs/heads/main': '1' }, { files: [{ path: 'a/Kptfile', mode: '160000' }] })),
      [],
    )
  })

  it('treats a registered branch with a numeric name as that revision', () => {
    assert.deepEqual(
      rows(list({ 'refs/heads/v2': '1' }, { branch: 'v2', ...files('a/Kptfile') })),
      ['repo.a.v2 2 Published latest'],
    )
  })

  it('reports two revisions that Porch cannot distinguish', () => {
    for (const listing of [
      list({ 'refs/heads/drafts/a/w': '1', 'refs/heads/proposed/a/w': '2' }),
      list({ 'refs/heads/drafts/a/w': '1', 'refs/tags/a/v1': '2' }, annotated('2', 'w', 'a')),
    ])
      assert.deepEqual(
        listing.problems.map(({ cause }) => cause),
        ['porch-name-twice'],
      )
  })

  it('lists a name that is not a DNS label, with the problem that Porch cannot use it', () => {
    const listing = list({ 'refs/heads/drafts/a/Drift.2026_11': '1' })
    assert.deepEqual(rows(listing), ['repo.a.Drift.2026_11 0 Draft'])
    assert.match(listing.problems[0]?.text ?? '', /not a DNS label/)
  })

  it('lists a root package without a name, and tags of packages below it with their names', () => {
    const listing = list(
      { 'refs/heads/main': '1', 'refs/tags/apps/web/v1': '1' },
      files('Kptfile', 'apps/web/Kptfile'),
    )
    assert.deepEqual(rows(listing), [' -1 Published', 'repo.apps.web.v1 1 Published latest'])
    assert.deepEqual(causes(listing), ['package-is-repository refs/heads/main'])
    assert.match(
      listing.problems[0]?.text ?? '',
      /one package without a name, which Porch lists and cannot use/,
    )
    const inDirectory = list(
      { 'refs/heads/main': '1' },
      { directory: 'apps', ...files('apps/Kptfile', 'apps/web/Kptfile') },
    )
    assert.deepEqual(rows(inDirectory), [' -1 Published'])
  })

  it('ignores refs that are neither branches nor tags', () => {
    assert.deepEqual(
      rows(
        list({
          HEAD: '1',
          'refs/pull/1/head': '1',
          'refs/heads/drift-ledger': '1',
          'refs/heads/feature/x': '2',
        }),
      ),
      [],
    )
  })
})
