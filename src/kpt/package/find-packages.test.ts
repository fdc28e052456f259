import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { FileMode } from '@backporch/kyaml/files'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  derivePackageSlug,
  deriveRootPackageName,
  findPackages,
  selectPackages,
} from './find-packages.ts'

function tree(...paths: readonly string[]) {
  return paths.map((path) => ({ path, mode: '100644' as FileMode }))
}

const REPOSITORY = findPackages(
  tree(
    'README.md',
    'apps/web/Kptfile',
    'apps/web/db/Kptfile',
    'apps/api/Kptfile',
    'infra/dns/Kptfile',
    'infra/dns/zone.yaml',
  ),
)

describe('findPackages', () => {
  it('finds a folder with a Kptfile as a package with everything below it', () => {
    assert.deepEqual(REPOSITORY, [
      { path: 'apps/api', rootPackage: false, subpackages: [], source: 'kpt' },
      { path: 'apps/web', rootPackage: false, subpackages: ['apps/web/db'], source: 'kpt' },
      { path: 'infra/dns', rootPackage: false, subpackages: [], source: 'kpt' },
    ])
  })

  it('names the root package after the last label of its Kptfile name', () => {
    assert.deepEqual(['web', 'apps/web', 'my--web', undefined].map(deriveRootPackageName), [
      'web',
      'web',
      'my--web',
      'root',
    ])
  })

  it('names the root package by a DNS label, for any name in its Kptfile', () => {
    const names = [
      'Policy Blog Resources',
      'basens-AA',
      'Foo_Bar',
      'apps/',
      '../..',
      'a\n -b',
      '-web-',
      'é',
      `${'a'.repeat(62)} b`,
    ]
    const wanted = [
      'policy-blog-resources',
      'basens-aa',
      'foo-bar',
      'root',
      'root',
      'a--b',
      'web',
      'root',
      'a'.repeat(62),
    ]
    assert.deepEqual(names.map(deriveRootPackageName), wanted)
    fc.assert(
      fc.property(fc.string(), (name) =>
        /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(deriveRootPackageName(name)),
      ),
    )
  })

  it('returns the whole repository as one package when a Kptfile is at its root', () => {
    assert.deepEqual(findPackages(tree('Kptfile', 'apps/web/Kptfile')), [
      { path: '', rootPackage: true, subpackages: ['apps/web'], source: 'kpt' },
    ])
  })

  it('finds no package in Backporch records, in .git, or where the Kptfile is not a regular file', () => {
    assert.deepEqual(
      findPackages(tree('.drift/records/Kptfile', 'a/.git/Kptfile', 'kptfile', 'a/Kptfile.yaml')),
      [],
    )
    assert.deepEqual(
      findPackages([
        { path: 'a/Kptfile', mode: '120000' },
        { path: 'b/Kptfile', mode: '160000' },
      ]),
      [],
    )
    assert.equal(findPackages([{ path: 'a/Kptfile', mode: '100755' }]).length, 1)
  })

  it('does not attribute a folder to another one whose name is a prefix', () => {
    assert.deepEqual(
      findPackages(tree('web/Kptfile', 'web-api/Kptfile')).map(({ path }) => path),
      ['web', 'web-api'],
    )
  })
})

function failureOf(names: readonly string[], packages = REPOSITORY): Failure {
  try {
    selectPackages(packages, names)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  return assert.fail('nothing was thrown')
}

describe('selectPackages', () => {
  const paths = (...names: readonly string[]) =>
    selectPackages(REPOSITORY, names).map(({ path }) => path)

  it('selects a path in any spelling, once, in the order of the packages', () => {
    assert.deepEqual(paths('infra/dns', './apps/web/', 'apps//web', 'apps/web'), [
      'apps/web',
      'infra/dns',
    ])
  })

  it('selects the owning package for a subpackage or any path inside', () => {
    assert.deepEqual(paths('apps/web/db'), ['apps/web'])
    assert.deepEqual(paths('infra/dns/zone.yaml'), ['infra/dns'])
    assert.deepEqual(
      selectPackages(findPackages(tree('Kptfile')), ['.']).map(({ path }) => path),
      [''],
    )
  })

  it('selects all packages when no names are given', () => {
    assert.equal(paths().length, 3)
  })

  it('suggests the nearest packages for an unknown name', () => {
    const near = failureOf(['apps/wbe'])
    assert.deepEqual([near.code, near.remedy], ['BP1004', 'name one of: apps/web'])
    assert.equal(failureOf(['web']).remedy, 'name one of: apps/web')
    assert.equal(failureOf(['../apps/web']).code, 'BP1004')
    assert.equal(failureOf(['/apps/web']).code, 'BP1004')
  })

  it('for an unknown name, lists the only package, or how many there are', () => {
    assert.equal(
      failureOf(['elsewhere'], findPackages(tree('apps/web/Kptfile'))).remedy,
      'name the only package, apps/web',
    )
    assert.equal(
      failureOf(['elsewhere']).remedy,
      'name one of the 3 packages; "backporch get packages" lists them',
    )
  })

  it('selects every package below a folder, also where a package is above the folder', () => {
    assert.deepEqual(paths('apps/'), ['apps/api', 'apps/web'])
    assert.equal(paths('.').length, 3)
    const units = findPackages(tree('Kptfile'), ['k/radarr/app', 'k/radarr/db', 'k'])
    assert.deepEqual(units.length, 1, 'the root package owns them')
    const named = findPackages(tree('k/radarr/app/a.yaml', 'k/radarr/db/a.yaml'), [
      'k',
      'k/radarr/app',
      'k/radarr/db',
    ])
    assert.deepEqual(
      selectPackages(named, ['k/radarr']).map(({ path }) => path),
      ['k/radarr/app', 'k/radarr/db'],
    )
  })

  it('fails when the repository has no package', () => {
    assert.equal(failureOf([], []).code, 'BP1004')
  })
})

describe('derivePackageSlug', () => {
  it('joins the path, and uses the name of the root package', () => {
    assert.equal(derivePackageSlug('apps/web', 'web'), 'apps--web')
    assert.equal(derivePackageSlug('web', 'other'), 'web')
    assert.equal(derivePackageSlug('', 'shop'), 'shop')
  })

  it('never gives two packages the same slug', () => {
    const segment = fc.stringMatching(/^[ab-]{1,3}$/)
    const path = fc
      .array(segment, { minLength: 1, maxLength: 3 })
      .map((segments) => segments.join('/'))
    fc.assert(
      fc.property(
        path,
        path,
        (one, other) =>
          (derivePackageSlug(one, '') === derivePackageSlug(other, '')) === (one === other),
      ),
      { numRuns: 2000 },
    )
  })
})

describe('findPackages of named folders', () => {
  const tree = ['apps/web/Kptfile', 'apps/web/a.yaml', 'plain/a.yaml', 'plain/below/Kptfile'].map(
    (path) => ({
      path,
      mode: '100644' as const,
    }),
  )
  const found = (...named: string[]) =>
    findPackages(tree, named).map(({ path, source, subpackages }) => [path, source, subpackages])

  it('returns them beside the packages, without packages below them', () => {
    assert.deepEqual(found('plain'), [
      ['apps/web', 'kpt', []],
      ['plain', 'folder', ['plain/below']],
      ['plain/below', 'kpt', []],
    ])
  })

  it('ignores a named folder that is a package or inside one', () => {
    assert.deepEqual(found('apps/web', 'apps/web'), found())
    assert.deepEqual(findPackages(tree, ['plain/below']).length, 2)
  })

  it('selects the innermost package for a path in both', () => {
    const packages = findPackages(tree, ['plain'])
    assert.deepEqual(
      ['plain', 'plain/below', 'plain/a.yaml'].map((name) =>
        selectPackages(packages, [name]).map(({ path }) => path),
      ),
      [['plain'], ['plain/below'], ['plain']],
    )
  })
})
