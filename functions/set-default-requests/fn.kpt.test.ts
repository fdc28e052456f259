import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const POD =
  'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n    - name: app # ours\n'

test('kpt runs it as a program: the request is in the file, and in the results', {
  skip: whyNoKpt(),
}, () => {
  withFolder({ 'web.yaml': POD }, (folder) => {
    const { ok, stderr } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--results-dir',
      'out',
      '--',
      'cpu=100m',
    )
    assert.ok(ok, stderr)
    assert.equal(
      readFileSync(join(folder, 'web.yaml'), 'utf8'),
      `${POD}      resources:\n        requests:\n          cpu: 100m\n`,
    )
    assert.match(
      readFileSync(join(folder, 'out', 'results.yaml'), 'utf8'),
      /message: set the request cpu=100m\n +severity: info/,
    )
  })
})

test('kpt fails on an invalid quantity', { skip: whyNoKpt() }, () => {
  withFolder({ 'web.yaml': POD }, (folder) => {
    const { ok, stdout, stderr } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--',
      'cpu=lots',
    )
    assert.ok(!ok)
    assert.match(stdout + stderr, /cpu of the config is not a quantity: lots/)
    assert.equal(readFileSync(join(folder, 'web.yaml'), 'utf8'), POD)
  })
})
