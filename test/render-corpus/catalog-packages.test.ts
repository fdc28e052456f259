import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatFailure } from '@backporch/kyaml/failure'
import { CATALOG_PACKAGES, readCatalogPackage } from './catalog-packages.ts'
import { renderOurs } from './our-render.ts'
import { CATALOG_FUNCTIONS } from './run-kpt-render.ts'

const FUNCTIONS = /krm-functions-catalog\/([a-z-]+):v\d+\.\d+\.\d+$/gm

/** They are given a drift report or records, which a package to start from has none of. */
const OWN = ['adopt-drift', 'gate-drift', 'set-default-requests', 'verify-drift-records']

/** Of blueprints for Google Cloud, and the predecessor of set-labels: a new package has no use for them, and two of them write every object anew. */
const OF_OLD_BLUEPRINTS = ['enable-gcp-services', 'generate-folders', 'set-label']

describe('the packages of the catalog', () => {
  for (const name of CATALOG_PACKAGES) {
    it(`${name} is kept rendered, and the built-in functions reproduce it`, () => {
      const given = readCatalogPackage(name)
      const ours = renderOurs(given)
      assert.equal(ours.failures.map(formatFailure).join('\n'), '')
      assert.deepEqual(ours.files, given)
    })

    it(`${name} documents how to fetch, render and apply it`, () => {
      const { 'README.md': readme = '' } = readCatalogPackage(name)
      for (const wanted of [
        `# ${name}\n`,
        '\n## Description\n',
        '\n## Usage\n',
        'kpt pkg get ',
        'kpt fn render ',
        'kpt live apply ',
      ])
        assert.ok(readme.includes(wanted), `${wanted.trim()} is not in README.md`)
    })
  }

  it('use the function written with the kpt SDK', () => {
    assert.match(
      readCatalogPackage('default-requests')['Kptfile'] ?? '',
      /exec: set-default-requests$/m,
    )
  })

  it('name every built-in catalog function that a new package uses', () => {
    const kptfile = readCatalogPackage('every-function')['Kptfile'] ?? ''
    const named = [...kptfile.matchAll(FUNCTIONS)].map(([, name]) => name ?? '').sort()
    assert.deepEqual(
      named,
      CATALOG_FUNCTIONS.filter((name) => !OWN.includes(name) && !OF_OLD_BLUEPRINTS.includes(name)),
    )
  })
})
