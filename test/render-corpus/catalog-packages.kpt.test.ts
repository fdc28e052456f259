import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { formatFailure } from '@backporch/kyaml/failure'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { CATALOG_PACKAGES, readCatalogPackage, withPrograms } from './catalog-packages.ts'
import { renderOurs } from './our-render.ts'
import {
  buildFunctionPrograms,
  type FunctionPrograms,
  runKptLiveInit,
  runKptRender,
} from './run-kpt-render.ts'

describe('kpt over the packages of the catalog', { skip: whyNoKpt() }, () => {
  let programs: FunctionPrograms
  before(async () => {
    programs = await buildFunctionPrograms()
  })
  after(() => programs.remove())

  for (const name of CATALOG_PACKAGES) {
    it(`changes no byte of ${name}`, async () => {
      const given = withPrograms(readCatalogPackage(name))
      const render = await runKptRender(given, programs)
      assert.ok(render.ok, render.text)
      assert.deepEqual(render.files, given)
    })

    it(`changes no byte of ${name} after kpt live init, nor of the inventory, and neither does Backporch`, async () => {
      const given = await runKptLiveInit(withPrograms(readCatalogPackage(name)))
      assert.match(
        given['resourcegroup.yaml'] ?? '',
        /kind: ResourceGroup\nmetadata:\n {2}name: inventory-one\n/,
      )
      const render = await runKptRender(given, programs)
      assert.ok(render.ok, render.text)
      assert.deepEqual(render.files, given)
      const ours = renderOurs(given)
      assert.equal(ours.failures.map(formatFailure).join('\n'), '')
      assert.deepEqual(ours.files, given)
    })
  }
})
