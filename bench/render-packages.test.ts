import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls } from '@backporch/kpt/function'
import { builtInFunctions } from '../functions/built-in-functions.ts'
import { renderPackage } from '../src/sources/kpt/render/render-package.ts'
import { OBJECTS_PER_PACKAGE, renderPackages } from './render-packages.ts'

test('packages are the same for the same seed, no two of them are alike, and each renders to its objects', () => {
  const packages = renderPackages(30, 1)
  assert.deepEqual(packages, renderPackages(30, 1))
  assert.notDeepEqual(packages, renderPackages(30, 2))
  assert.equal(new Set(packages.map(({ files }) => files['deployment.yaml'])).size, 30)
  for (const { name, files } of packages) {
    const given = Object.entries(files).map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    const rendering = answerCalls(renderPackage(name, given), builtInFunctions)
    assert.ok('desired' in rendering, JSON.stringify(rendering))
    assert.equal(rendering.desired.resources.length, OBJECTS_PER_PACKAGE)
    assert.equal(rendering.desired.pipeline, 'run')
  }
})
