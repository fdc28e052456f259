import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { CATALOG_PACKAGES, readCatalogPackage, withPrograms } from './catalog-packages.ts'
import { buildFunctionPrograms, type FunctionPrograms, runKptRender } from './run-kpt-render.ts'

describe('kpt over the packages of the catalog', { skip: whyNoKpt() }, () => {
  let programs: FunctionPrograms
  before(async () => {
    programs = await buildFunctionPrograms()
  })
  after(() => programs.remove())

  for (const name of CATALOG_PACKAGES)
    it(`changes no byte of ${name}`, async () => {
      const given = withPrograms(readCatalogPackage(name))
      const render = await runKptRender(given, programs)
      assert.ok(render.ok, render.said)
      assert.deepEqual(render.files, given)
    })
})
